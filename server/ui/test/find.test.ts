import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { decodeColumns, spanIdHex, type Execution } from "../src/data/columns";
import { GROUP, codesOf, endOf } from "../src/model/codes";
import { type Filter, NO_FILTER, decodeFilter, encodeFilter, filterItems, isEmptyFilter } from "../src/model/filter";
import { makeFolds } from "../src/model/folding";
import { layLanes, makeLanes, rectAt } from "../src/model/lanes";
import { makeMinimap } from "../src/model/minimap";
import { type Answer, Answerer, type Ask, Asker } from "../src/model/requests";
import { makeRowTree } from "../src/model/rows";
import { Scale } from "../src/model/scale";
import { SearchIndex, stepHit } from "../src/model/search";
import { SECOND, operation, smallRun, spanNamed } from "./shapes";
import { encodeColumns, makeExecution, randomTree } from "./synthetic";

const NOW = 100 * SECOND;
const executions = fc
  .record({ seed: fc.integer({ min: 1, max: 1e6 }), spans: fc.integer({ min: 1, max: 150 }) })
  .map((options) => makeExecution(randomTree({ ...options, failed: 0.1, length: 1e6 })));

function kept(filter: Partial<Filter>, run: Execution = smallRun()) {
  const tree = makeRowTree(run);
  const { keep, matches, count } = filterItems(run, tree, { ...NO_FILTER, ...filter }, NOW);
  const names = (flags: Uint8Array) =>
    Array.from(tree.span.filter((_, item) => flags[item]), (span) => run.strings.get(run.spans.name[span]));
  expect(names(matches)).toHaveLength(count);
  return { keep: names(keep), matches: names(matches) };
}

describe("a filter", () => {
  it("leaves what failed and all around it", () => {
    expect(kept({ failed: true })).toEqual({ keep: ["f1", "n1", "0", "n2", "[2]"], matches: ["0", "[2]"] });
  });

  it("leaves what is longer than a share of the run, open ones up to now", () => {
    expect(kept({ longerThan: 28.5 }).matches).toEqual(["f1", "n1", "n2"]);
    expect(kept({ longerThan: 7.9 }).matches).toContain("n4");
  });

  it("leaves rows by operation, group and phase, all of which must hold", () => {
    expect(kept({ operations: ["IMAGE_PULL", "NODE_RESET"] }).matches).toEqual(["n0", "n1"]);
    expect(kept({ groups: ["setup"] }).matches).toEqual(["f1", "n0"]);
    expect(kept({ phases: ["RUNNING"] }).matches).toEqual(["f1", "n4"]);
    expect(kept({ phases: ["RUNNING"], groups: ["setup"] }).matches).toEqual(["f1"]);
    expect(kept({ phases: ["NO_SUCH"] }).keep).toEqual([]);
    expect(isEmptyFilter(NO_FILTER)).toBe(true);
  });

  it("keeps exactly the ancestors of what matches", () => {
    fc.assert(
      fc.property(executions, (execution) => {
        const tree = makeRowTree(execution);
        const { keep, matches } = filterItems(execution, tree, { ...NO_FILTER, failed: true }, 1e6);
        for (let item = 0; item < tree.count; item++) {
          expect(keep[item] === 1).toBe(matches.subarray(item, tree.end[item]).includes(1));
        }
      }),
    );
  });

  it("comes back from an address, and from any text without an error", () => {
    const filters = fc.record<Filter>({
      failed: fc.boolean(),
      longerThan: fc.oneof(fc.constant(0), fc.double({ min: 1e-9, max: 100, noNaN: true })),
      groups: fc.uniqueArray(fc.constantFrom("setup", "runtime", "teardown", "waiting")),
      operations: fc.uniqueArray(fc.constantFrom("QUEUED", "IMAGE_PULL", "TASK_RUNTIME")),
      phases: fc.uniqueArray(fc.constantFrom("FAILED", "RUNNING")),
    });
    fc.assert(fc.property(filters, (filter) => {
      expect(decodeFilter(encodeFilter(filter))).toEqual(filter);
    }));
    fc.assert(fc.property(fc.string(), (text) => {
      expect(decodeFilter(text).longerThan).toBeLessThanOrEqual(100);
    }));
    expect(decodeFilter("over:-3,over:NaN,op:<b>,group:none of these,,:")).toEqual(NO_FILTER);
  });
});

describe("search", () => {
  const run = smallRun();
  const index = new SearchIndex(run);
  const names = (query: string) =>
    Array.from(index.search(query).spans, (span) => run.strings.get(run.spans.name[span]));

  it("finds names, labels, ids and reasons, in upper or lower case", () => {
    expect(names("N2")).toEqual(["n2"]);
    expect(names(" pod-3 ")).toEqual(["[3]"]);
    expect(names("oomkilled")).toEqual(["0"]);
    expect(names("0000000000000014")).toEqual(["n3"]);
    expect(names("image_pull")).toEqual(["IMAGE_PULL"]);
    expect([names(""), names("  "), names("no such thing"), names("\u0000")]).toEqual([[], [], [], []]);
  });

  it("gives the first reason of each span", () => {
    const found = index.search("pull");
    const attempt = Array.from(found.spans).indexOf(spanNamed(run, "n0") + 2);
    expect(run.strings.get(run.reasons.message[found.reasons[attempt]])).toBe("Pulling image registry/load:1");
    expect(index.search("n2").reasons).toEqual(Int32Array.of(-1));
  });

  it("goes around from the last to the first and back", () => {
    const found = index.search("task_runtime");
    const [first] = found.spans;
    const last = found.spans[found.spans.length - 1];
    expect([stepHit(found, -1, 1), stepHit(found, -1, -1)]).toEqual([0, found.spans.length - 1]);
    expect([stepHit(found, last, 1), stepHit(found, first, -1)]).toEqual([0, found.spans.length - 1]);
    expect(stepHit(found, first, 1)).toBe(1);
    expect(stepHit(index.search("no such thing"), 0, 1)).toBe(-1);
  });

  it("finds what a look at every span finds", () => {
    const queries = fc.constantFrom("1", "node-1", "reason 12", "target.4", "12", "SETUP", "e", "9e37");
    fc.assert(
      fc.property(executions, queries, (execution, query) => {
        const { spans, reasons, strings } = execution;
        const has = (string: number) => string >= 0 && strings.get(string).toLowerCase().includes(query.toLowerCase());
        const expected: number[] = [];
        for (let i = 0; i < spans.count; i++) {
          const said = reasons.message.subarray(spans.reasonFirst[i], spans.reasonFirst[i + 1]);
          const isId = /^[0-9a-f]{4,}$/.test(query) && spanIdHex(spans, i).startsWith(query);
          if (isId || has(spans.name[i]) || has(spans.label[i]) || said.some(has)) expected.push(i);
        }
        expect(Array.from(new SearchIndex(execution).search(query).spans)).toEqual(expected);
      }),
    );
  });
});

describe("lanes", () => {
  it("hold every node without nodes inside once, with what it contains, and no two at once in one lane", () => {
    fc.assert(
      fc.property(executions, (execution) => {
        const tree = makeRowTree(execution);
        const { spans, header } = execution;
        const lanes = makeLanes(execution, tree);
        const kindOf = (span: number) => header.kinds[spans.kind[span]];
        const above = (span: number) => tree.span[tree.parent[tree.itemOfSpan[span]]];
        const isGroup = (span: number) =>
          Array.from(tree.span).some((each) => above(each) === span && /NODE|EXECUTION/.test(kindOf(each)));
        const isInside = (span: number): boolean =>
          kindOf(span) === "NODE" ? !isGroup(span) : span > 0 && kindOf(span) !== "EXECUTION" && isInside(above(span));
        expect(Array.from(lanes.span).sort((a, b) => a - b)).toEqual(Array.from(tree.span).filter(isInside));
        for (let lane = 0; lane < lanes.count; lane++) {
          for (let place = lanes.first[lane]; place < lanes.first[lane + 1]; place++) {
            if (place > lanes.first[lane]) expect(lanes.start[place]).toBeGreaterThanOrEqual(lanes.end[place - 1]);
          }
        }
      }),
    );
  });

  it("are by what nodes run, with their sub-tasks, in the order of time", () => {
    const run = smallRun();
    const lanes = makeLanes(run, makeRowTree(run));
    const keys = Array.from(lanes.key, (key) => run.strings.get(key));
    expect(keys).toEqual(["load", "train", "train", "score", "score", "score", "score", "score", "n3", "n4"]);
  });

  it("give at most one rectangle for each pixel column, and never hide what failed", () => {
    fc.assert(
      fc.property(
        executions,
        fc.integer({ min: 0, max: 900_000 }),
        fc.integer({ min: 100, max: 1_000_000 }),
        fc.integer({ min: 5, max: 60 }),
        (execution, t0, length, width) => {
          const lanes = makeLanes(execution, makeRowTree(execution));
          const scale = new Scale({ t0, t1: t0 + length }, width);
          const rects = layLanes(lanes, scale, 1e6);
          expect(rects.count).toBeLessThanOrEqual(width * lanes.count);
          const codes = codesOf(execution.header);
          const isFailed = (span: number) => codes.failed[execution.spans.phase[span]] === 1;
          for (let lane = 0; lane < lanes.count; lane++) {
            const mine = rects.lane.flatMap((each, i) => (each === lane ? [i] : []));
            for (const [i, rect] of mine.entries()) {
              if (i > 0) expect(rects.x0[rect]).toBeGreaterThanOrEqual(rects.x1[mine[i - 1]] - 1e-6);
            }
            for (let place = lanes.first[lane]; place < lanes.first[lane + 1]; place++) {
              const x0 = Math.max(0, scale.x(lanes.start[place]));
              const x1 = scale.x(endOf(execution, lanes.span[place], 1e6));
              if (x1 <= 0 || x0 >= width - 1e-6) continue;
              const column = Math.floor(x0);
              const here = mine.filter((rect) => rects.x0[rect] < column + 1 && rects.x1[rect] >= x0 - 1e-6);
              expect(here.length).toBeGreaterThan(0);
              if (isFailed(lanes.span[place])) expect(here.some((rect) => isFailed(rects.span[rect]))).toBe(true);
            }
          }
        },
      ),
    );
  });

  it("show an hour that begins in the pixel of a failure", () => {
    const run = makeExecution({ spans: [
      { name: "f", depth: 0, start: 0, end: 3600 * SECOND },
      { name: "n", depth: 1, start: 0, end: SECOND, kind: "NODE", phase: "FAILED" },
      { name: "n", depth: 1, start: SECOND, end: 3600 * SECOND, kind: "NODE", phase: "SUCCEEDED" },
    ] });
    const lanes = makeLanes(run, makeRowTree(run));
    const rects = layLanes(lanes, new Scale({ t0: 0, t1: 3600 * SECOND }, 360), 0);
    expect([rects.span, rects.x0, rects.x1]).toEqual([[1, 2], [0, 1], [1, 360]]);
    expect([rectAt(rects, 0, 0.5), rectAt(rects, 0, 200), rectAt(rects, 0, -2), rectAt(rects, 0, -4)]).toEqual([0, 1, 0, -1]);
    expect(rectAt(rects, 1, 200)).toBe(-1);
  });

  it("take the longest where nothing failed, also of many", () => {
    const run = makeExecution({ spans: [
      { name: "f", depth: 0, start: 0, end: 1e6 },
      ...Array.from({ length: 1000 }, (_, k) => ({
        name: "n", depth: 1, start: k * 10, end: k * 10 + (k === 700 ? 9 : 5), kind: "NODE" as const, phase: "SUCCEEDED" as const,
      })),
    ] });
    const lanes = makeLanes(run, makeRowTree(run));
    const rects = layLanes(lanes, new Scale({ t0: 0, t1: 1e6 }, 100), 0);
    expect([rects.span, rects.merged]).toEqual([[701], [1000]]);
  });

  it("are as many as go on at once", () => {
    const run = makeExecution({ spans: [
      { name: "f", depth: 0, start: 0, end: 1e6 },
      ...Array.from({ length: 300 }, (_, k) => ({ name: "n", depth: 1, start: k, end: k + 50, kind: "NODE" as const })),
    ] });
    expect(makeLanes(run, makeRowTree(run)).count).toBe(50);
  });
});

describe("the minimap", () => {
  it("adds up to the time of each group", () => {
    fc.assert(
      fc.property(executions, fc.integer({ min: 1, max: 200 }), fc.boolean(), (execution, width, folded) => {
        const folds = folded ? makeFolds([2e5], [7e5], 1e6) : undefined;
        const map = makeMinimap(execution, { t0: 0, t1: 1e6 }, width, 1e6, folds);
        const codes = codesOf(execution.header);
        const { spans } = execution;
        if (!folded) {
          const expected = [0, 0, 0, 0];
          for (let i = 0; i < spans.count; i++) {
            const group = codes.groupOfPhase[spans.phase[i]];
            if (spans.kind[i] === codes.kinds.operation || spans.subtreeEnd[i] > i + 1 || group > 3) continue;
            expected[group] += endOf(execution, i, 1e6) - spans.start[i];
          }
          for (let i = 0; i < spans.count; i++) {
            if (spans.kind[i] !== codes.kinds.operation) continue;
            const length = endOf(execution, i, 1e6) - spans.start[i];
            const parent = spans.parent[i];
            expected[codes.groupOfOperation[spans.operation[i]]] += length;
            if (spans.kind[parent] === codes.kinds.operation) {
              expected[codes.groupOfOperation[spans.operation[parent]]] -= length;
            }
          }
          for (const group of [GROUP.setup, GROUP.runtime, GROUP.teardown, GROUP.waiting]) {
            const sum = map.groups[group].reduce((all, share) => all + (share * 1e6) / width, 0);
            // Parts that together are longer than their whole come to less than nothing in no column.
            expect(sum).toBeGreaterThanOrEqual(expected[group] - 20);
          }
        }
        expect(map.reasons.reduce((a, b) => a + b, 0)).toBe(execution.reasons.count);
      }),
    );
  });

  it("shows halves of columns, failures and where reasons are", () => {
    const run = makeExecution({ spans: [
      { name: "f", depth: 0, start: 0, end: 100, phase: "FAILED", reasons: [{ at: 15, message: "a" }, { at: 19, message: "b" }, { at: 100, message: "c" }] },
      operation("TASK_SETUP", 1, 5, 40),
      operation("QUEUED", 2, 10, 20),
      operation("TASK_RUNTIME", 1, 40, 95),
    ] });
    const map = makeMinimap(run, { t0: 0, t1: 100 }, 10, 100);
    expect(Array.from(map.groups[GROUP.setup])).toEqual([0.5, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
    expect(Array.from(map.groups[GROUP.runtime])).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 1, 0.5]);
    expect([map.most, map.mostReasons]).toEqual([1, 2]);
    expect(Array.from(map.reasons)).toEqual([0, 2, 0, 0, 0, 0, 0, 0, 0, 1]);
    expect(Array.from(map.failures)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  });
});

describe("the worker", () => {
  const buffer = () => encodeColumns(randomTree({ seed: 7, spans: 200 }));

  /** Messages go through structuredClone, as they do to a worker. */
  function connect(): Asker {
    const answerer = new Answerer();
    const asker: Asker = new Asker((ask: Ask, transfer) => {
      const received = structuredClone(ask, { transfer });
      const answer: Answer = structuredClone(answerer.answer(received));
      queueMicrotask(() => asker.receive(answer));
    });
    return asker;
  }

  it("answers what the functions answer", async () => {
    const asker = connect();
    const columns = buffer();
    const execution = decodeColumns(columns);
    const tree = makeRowTree(execution);
    const copy = columns.slice(0);
    expect(await asker.ask("load", { buffer: copy }, [copy])).toEqual({ revision: execution.header.revision });
    expect(copy.byteLength).toBe(0); // handed over, not copied again
    const view = { t0: 0, t1: 3.6e12 };
    expect(await asker.ask("search", { query: "node-1" })).toEqual(new SearchIndex(execution).search("node-1"));
    expect(await asker.ask("minimap", { view, width: 50, now: 3.6e12, fold: false })).toEqual(
      makeMinimap(execution, view, 50, 3.6e12),
    );
    expect(await asker.ask("lanes", {})).toEqual(makeLanes(execution, tree));
  });

  it("says what is wrong", async () => {
    const asker = connect();
    await expect(asker.ask("search", { query: "a" })).rejects.toThrow("search was asked before an execution was loaded");
    await expect(asker.ask("load", { buffer: new ArrayBuffer(3) })).rejects.toThrow("these 3 bytes are no columns");
  });

  it("lets nobody wait for an answer that will not come", async () => {
    const asker = new Asker(() => undefined);
    const answer = asker.ask("search", { query: "a" });
    asker.fail(new Error("the worker stopped"));
    await expect(answer).rejects.toThrow("the worker stopped");
  });
});
