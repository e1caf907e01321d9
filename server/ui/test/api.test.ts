import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";

afterEach(() => vi.unstubAllGlobals());

/** The module with a page around it: it looks where it was loaded from. */
async function loadApi(): Promise<typeof import("../src/data/api")> {
  vi.stubGlobal("document", { baseURI: "http://localhost/" });
  return import("../src/data/api");
}

describe("requests for a span", () => {
  it("name the moment of the columns to the nanosecond", async () => {
    const { fetchSpan } = await loadApi();
    const asked: URL[] = [];
    vi.stubGlobal("fetch", async (url: string) => {
      asked.push(new URL(url));
      return new Response(JSON.stringify({ spans: [{ name: "n0" }] }));
    });
    const span = await fetchSpan({ project: "p", domain: "d", name: "n" }, "af7922434ff75228", 1_774_740_600_000_000_004n);
    expect(span.name).toBe("n0");
    expect(asked[0].searchParams.get("as_of")).toBe("2026-03-28T23:30:00.000000004Z");
  });

  it("write times that are the same when they are read back", async () => {
    const { rfc3339 } = await loadApi();
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 4_000_000_000_000_000_000n }), (ns) => {
        const [second, digits] = rfc3339(ns).slice(0, -1).split(".");
        expect(BigInt(Date.parse(`${second}Z`)) * 1_000_000n + BigInt(digits)).toBe(ns);
      }),
    );
  });
});
