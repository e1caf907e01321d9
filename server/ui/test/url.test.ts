import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { Collapse } from "../src/model/collapse";
import { DEFAULT_STATE, type ExecutionState, type Route, VIEWS, formatHash, parseHash } from "../src/model/url";

const text = fc.string({ unit: "grapheme" });
const part = fc.string({ unit: "grapheme", minLength: 1 });
const path = fc.record({ project: text, domain: text, name: part });
const hex = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }).map((id) => id.toString(16).padStart(16, "0"));
const bound = fc.double({ min: -1e17, max: 1e17, noNaN: true }).map((value) => value + 0); // no -0
const range = fc.oneof(
  fc.constant([NaN, NaN] as const),
  fc.tuple(bound, bound).filter(([t0, t1]) => t0 < t1),
);
const own = ["view", "t0", "t1", "zero", "sel", "q", "f", "cp", "open", "mode", "fold", "tz", "panel", "with"];
const state: fc.Arbitrary<ExecutionState> = fc
  .record({
    view: fc.constantFrom(...VIEWS),
    range,
    zero: fc.option(fc.bigInt({ min: 0n, max: 2n ** 62n })),
    sel: fc.oneof(fc.constant(""), hex),
    q: text,
    filter: fc.record({
      failed: fc.boolean(),
      longerThan: fc.constantFrom(0, 0.5, 5, 100),
      groups: fc.uniqueArray(fc.constantFrom("setup" as const, "waiting" as const)),
      operations: fc.uniqueArray(fc.constantFrom("QUEUED", "IMAGE_PULL")),
      phases: fc.uniqueArray(fc.constantFrom("FAILED", "RUNNING")),
    }),
    cp: fc.boolean(),
    collapse: fc
      .tuple(fc.constantFrom("default" as const, "open" as const, "shut" as const), fc.uniqueArray(hex))
      .map(([ground, ids]) => new Collapse(ground, new Set(ids))),
    mode: fc.constantFrom("tree" as const, "packed" as const),
    fold: fc.boolean(),
    tz: fc.constantFrom("local" as const, "utc" as const),
    panel: fc.boolean(),
    with: fc.option(path),
    more: fc.dictionary(part.filter((name) => !own.includes(name) && name !== "__proto__"), text),
  })
  .map(({ range: [t0, t1], zero, ...rest }) => ({ ...rest, t0, t1, zero: t0 < t1 ? zero : null }));

describe("the address", () => {
  it("brings every state back exactly", () => {
    fc.assert(
      fc.property(path, state, (execution, some) => {
        const route: Route = { page: "execution", path: execution, state: some };
        expect(parseHash(formatHash(route))).toEqual(route);
      }),
    );
  });

  it("brings every list back", () => {
    fc.assert(
      fc.property(fc.dictionary(part.filter((name) => name !== "__proto__"), text), (parameters) => {
        expect(parseHash(formatHash({ page: "list", parameters }))).toEqual({ page: "list", parameters });
      }),
    );
  });

  it("holds nothing but what differs from the default", () => {
    const route: Route = { page: "execution", path: { project: "p", domain: "d", name: "a/b" }, state: DEFAULT_STATE };
    expect(formatHash(route)).toBe("#/e/p/d/a%2Fb");
    const moved = { ...DEFAULT_STATE, t0: 1.5, t1: 2e9, zero: 1_767_225_600_000_000_001n, cp: false, tz: "utc" as const, sel: "00000000000000ff" };
    expect(formatHash({ ...route, state: moved })).toBe("#/e/p/d/a%2Fb?t0=1.5&t1=2000000000&zero=1767225600000000001&sel=00000000000000ff&cp=0&tz=utc");
    expect(formatHash({ page: "list", parameters: {} })).toBe("#/");
  });

  it("is read from any text without an error, to something that can be written", () => {
    const keys = fc.constantFrom(...own, "x", "__proto__", "constructor");
    const hostile = fc
      .tuple(fc.constantFrom("#/e/p/d/n?", "#/e/%/d/n?", "#/e/p/d?", "#/?", "e/", "#"), fc.array(fc.tuple(keys, fc.string({ unit: "binary" }))))
      .map(([start, pairs]) => start + pairs.map(([key, value]) => `${key}=${value}`).join("&"));
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ unit: "binary" })), (hash) => {
        const route = parseHash(hash);
        expect(parseHash(formatHash(route))).toEqual(route);
      }),
      { numRuns: 1000 },
    );
  });

  it("leaves out what is no range, no id, no view", () => {
    const read = (query: string) => parseHash(`#/e/p/d/n?${query}`);
    const usual = { page: "execution", path: { project: "p", domain: "d", name: "n" }, state: DEFAULT_STATE };
    for (const query of ["t0=5", "t0=5&t1=5", "t0=9&t1=1", "t0=NaN&t1=Infinity", "t0=1e999&t1=2e999", "sel=xyz", "view=<b>", "cp=2", "with=a", "with=%25/b/c"]) {
      expect(read(query), query).toEqual(usual);
    }
  });

  it("goes to the list where the name of an execution is broken", () => {
    for (const hash of ["", "#", "#/", "#/e/p/d", "#/e/p/d/", "#/e///", "#/e/p/d/%zz", "#/e/p/d/n/more"]) {
      expect(parseHash(hash).page, hash).toBe("list");
    }
  });
});
