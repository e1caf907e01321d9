import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { formatPlace, parsePlace, placeKey, readName } from "../src/model/place";

describe("a place", () => {
  it("is the list where the address is empty, and unknown where it names nothing", () => {
    expect(parsePlace("")).toEqual({ page: "list", parameters: {} });
    expect(parsePlace("#/?phase=FAILED")).toEqual({ page: "list", parameters: { phase: "FAILED" } });
    expect(parsePlace("#/x/y")).toEqual({ page: "unknown", address: "/x/y" });
    expect(parsePlace("#/e/p/d").page).toBe("unknown");
    expect(parsePlace("#/e/p/d/%").page).toBe("unknown");
  });

  it("is another page only where another execution is", () => {
    const key = (hash: string) => placeKey(parsePlace(hash));
    expect(key("#/e/p/d/n?view=reasons")).toBe(key("#/e/p/d/n?sel=00000000000000aa"));
    expect(key("#/e/p/d/n")).not.toBe(key("#/e/p/d/m"));
    expect(key("#/?phase=FAILED")).toBe(key("#/"));
  });

  it("survives being written and read, whatever address it came from", () => {
    fc.assert(
      fc.property(fc.webFragments(), (fragment) => {
        const place = parsePlace(`#${fragment}`);
        expect(parsePlace(formatPlace(place))).toEqual(place);
      }),
    );
  });
});

describe("the name of an execution", () => {
  it("is read as people write it, and from addresses of this page and of Flyte's console", () => {
    const path = { project: "p", domain: "d", name: "n" };
    expect(readName(" p/d/n ")).toEqual(path);
    expect(readName("http://127.0.0.1:8088/#/e/p/d/n?view=reasons")).toEqual(path);
    expect(readName("https://flyte.example.com/console/projects/p/domains/d/executions/n/nodes")).toEqual(path);
    expect(readName("p/d/a/b")).toEqual({ ...path, name: "a/b" });
    expect(readName("http://h/#/e///n")).toEqual({ project: "", domain: "", name: "n" });
    expect(readName("http://h/#/e/p/d/a%2Fb")).toEqual({ ...path, name: "a/b" });
  });

  it("is not in what is only part of one", () => {
    for (const text of ["", "n", "p/d", "p/d/", "/d/n", "p//n", "https://example.com/a/b"]) expect(readName(text), text).toBeNull();
  });
});
