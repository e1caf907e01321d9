import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { apiParameters, formatQuery, isFiltered, PAGE_SIZE, parseQuery, questionOf, RANGES } from "../src/views/list/query";
import { mergeRows, rowOf, tookNs } from "../src/views/list/rows";

const NOW = Date.parse("2026-01-02T00:00:00Z");
const row = (name: string, phase = "PHASE_RUNNING") =>
  rowOf({ executionId: { project: "p", domain: "d", name }, phase, startTime: "2026-01-01T00:00:00Z" });

describe("what the list is asked for", () => {
  it("survives the address", () => {
    const name = fc.string({ minLength: 1 });
    fc.assert(
      fc.property(
        fc.record({
          project: fc.string(),
          domain: fc.string(),
          phase: fc.constantFrom("", "RUNNING", "TIMED_OUT"),
          range: fc.constantFrom(...RANGES),
          after: fc.constantFrom("", "2026-01-01T00:00:00.000Z"),
          before: fc.constantFrom("", "2026-01-01T10:00:00.000Z"),
          slower: fc.boolean(),
          search: fc.string(),
          page: fc.string({ minLength: 1 }),
          at: fc.nat().map(String),
          picked: fc.array(fc.record({ project: name, domain: name, name }), { maxLength: 2 }),
        }),
        (query) => {
          const isCustom = query.range === "custom";
          const kept = { ...query, after: isCustom ? query.after : "", before: isCustom ? query.before : "" };
          expect(parseQuery(formatQuery(query))).toEqual(kept);
        },
      ),
    );
  });

  it("leaves out what nobody can mean", () => {
    const query = parseQuery({ phase: "<b>", range: "1y", after: "soon", at: "x", pick: "a/b p/d/n p/d/m p/d/o" });
    expect(query).toMatchObject({ phase: "", range: "", after: "" });
    expect(query.at).toBe("");
    expect(query.picked.map(({ name }) => name)).toEqual(["n", "m"]);
    expect(isFiltered(query)).toBe(false);
  });

  it("counts a relative range back from now, and from one moment while pages are turned", () => {
    expect(apiParameters(parseQuery({ range: "1h" }), NOW)).toMatchObject({
      started_after: "2026-01-01T23:00:00.000Z",
      page_size: String(PAGE_SIZE),
    });
    const paged = parseQuery({ range: "1h", page: "t", at: String(NOW - 60_000) });
    expect(apiParameters(paged, NOW).started_after).toBe("2026-01-01T22:59:00.000Z");
  });

  it("is the same question whatever is picked", () => {
    expect(questionOf(parseQuery({ pick: "p/d/n" }))).toBe(questionOf(parseQuery({})));
    expect(questionOf(parseQuery({ slower: "1" }))).not.toBe(questionOf(parseQuery({})));
  });
});

describe("lines of the list", () => {
  it("take what is new without moving", () => {
    const { rows, newer } = mergeRows([row("b"), row("a")], [row("d"), row("c"), row("b", "PHASE_FAILED")]);
    expect(rows.map(({ path, phase }) => [path.name, phase])).toEqual([["b", "FAILED"], ["a", "RUNNING"]]);
    expect(newer.map(({ path }) => path.name)).toEqual(["d", "c"]);
  });

  it("do not take for new what only moved up into the page from behind", () => {
    expect(mergeRows([row("b")], [row("b"), row("a")]).newer).toEqual([]);
  });

  it("last until now while they are open", () => {
    expect(tookNs(row("a"), BigInt(NOW) * 1_000_000n)).toBe(24 * 3600e9);
    expect(tookNs(rowOf({}), 0n)).toBeNaN();
  });
});
