import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Execution } from "../src/data/columns";
import { type Bar, Bars, SEVERAL, layRuns, makeRuns, reachOf, segmentAt } from "../src/model/bars";
import { GROUP, codesOf } from "../src/model/codes";
import { hitRow, rowAt, rowsInView } from "../src/model/hit";
import { makeRowTree } from "../src/model/rows";
import { Scale } from "../src/model/scale";
import { layTicks, ReasonsOfRows } from "../src/model/ticks";
import { flagsOf } from "../src/timeline/rowFacts";
import { SECOND, operation, smallRun, spanNamed } from "./shapes";
import { OPERATIONS, makeExecution, randomTree } from "./synthetic";

function barOf(execution: Execution, name: string): Bar {
  const tree = makeRowTree(execution);
  return new Bars(execution, tree).of(tree.itemOfSpan[spanNamed(execution, name)]);
}

const painted = (bar: Bar) =>
  Array.from({ length: bar.count }, (_, i) => [
    bar.segmentStart[i] / SECOND,
    bar.segmentEnd[i] / SECOND,
    bar.operation[i] === SEVERAL ? "several" : OPERATIONS[bar.operation[i]],
  ]);

describe("the bar of a row", () => {
  it("is painted by the operations of a node and of its only attempt, parts before wholes", () => {
    const bar = barOf(smallRun(), "n0");
    expect(painted(bar)).toEqual([
      [2, 3, "NODE_SETUP"],
      [3, 4, "QUEUED"],
      [4, 9, "IMAGE_PULL"],
      [9, 10, "TASK_SETUP"],
      [10, 29, "TASK_RUNTIME"],
      [29, 30, "NODE_TEARDOWN"],
    ]);
    expect(bar.pieces).toHaveLength(1);
  });

  it("has a piece for each attempt, and the reset between", () => {
    const run = smallRun();
    const bar = barOf(run, "n1");
    expect(bar.pieces.map((piece) => [piece.start / SECOND, piece.end / SECOND, piece.attempt])).toEqual(
      [[31, 40, 0], [45, 60, 1]],
    );
    expect(run.header.phases[bar.pieces[0].phase]).toBe("RETRYABLE_FAILED");
    expect(painted(bar)[1]).toEqual([40, 45, "NODE_RESET"]);
  });

  it("knows the way to the node, the cache, and that it is open", () => {
    const run = smallRun();
    expect(barOf(run, "n1").leadStart).toBe(30 * SECOND);
    expect(barOf(run, "n0").leadStart).toBeNaN();
    expect(barOf(run, "n3").isCached).toBe(true);
    const twice = makeExecution({ spans: [
      { name: "f", depth: 0, start: 0, end: 9 },
      operation("NODE_TRANSITION", 1, 1, 5),
      operation("NODE_TRANSITION", 1, 3, 5),
      operation("NODE_TRANSITION", 1, 4, 6),
      { name: "n", depth: 1, start: 5, end: 9, kind: "NODE" },
    ] });
    expect(barOf(twice, "n").leadStart).toBe(3);
    const open = barOf(run, "n4");
    expect(open.end).toBe(Infinity);
    expect(open.segmentEnd[open.count - 1]).toBe(Infinity);
  });

  it("gives a moment of parallel work to runtime before set-up, and tells of several operations", () => {
    const run = makeExecution({
      spans: [
        { name: "f", depth: 0, start: 0, end: 60 * SECOND, phase: "SUCCEEDED" },
        { name: "a", depth: 1, start: 0, end: 20 * SECOND, kind: "NODE" },
        operation("QUEUED", 2, 0, 20 * SECOND),
        { name: "b", depth: 1, start: 10 * SECOND, end: 40 * SECOND, kind: "NODE" },
        operation("IMAGE_PULL", 2, 10 * SECOND, 30 * SECOND),
        operation("TASK_RUNTIME", 2, 30 * SECOND, 40 * SECOND),
        { name: "c", depth: 1, start: 32 * SECOND, end: 38 * SECOND, kind: "NODE" },
        operation("NODE_SETUP", 2, 32 * SECOND, 38 * SECOND),
        operation("NODE_TRANSITION", 1, 35 * SECOND, 50 * SECOND),
      ],
    });
    expect(painted(barOf(run, "f"))).toEqual([
      [0, 10, "QUEUED"],
      [10, 20, "several"],
      [20, 30, "IMAGE_PULL"],
      [30, 40, "TASK_RUNTIME"],
      [40, 50, "NODE_TRANSITION"],
      [50, 60, "UNSPECIFIED"],
    ]);
  });

  it("reaches to an attempt that lies outside of its node, and tells whose flags that gives", () => {
    const run = makeExecution({ spans: [
      { name: "f", depth: 0, start: 0, end: 100 * SECOND },
      { name: "n", depth: 1, start: 10 * SECOND, end: 20 * SECOND, kind: "NODE" },
      { name: "0", depth: 2, start: 30 * SECOND, end: 31 * SECOND, kind: "TASK_ATTEMPT", phase: "SUCCEEDED", attempt: 0 },
    ] });
    run.spans.qualities[1] = 1 << run.header.qualities.indexOf("CLOCK_SKEW");
    run.spans.qualities[2] = 1 << run.header.qualities.indexOf("OUTLIVES_PARENT");
    expect(reachOf(barOf(run, "n"), 100 * SECOND)).toEqual([10 * SECOND, 31 * SECOND]);
    expect(reachOf(barOf(run, "f"), 100 * SECOND)).toEqual([0, 100 * SECOND]);
    const tree = makeRowTree(run);
    const shown = { execution: run, codes: codesOf(run.header), tree, bars: new Bars(run, tree), reasons: new ReasonsOfRows(run, tree) };
    expect(flagsOf(shown, 1)).toEqual([
      { owner: "", quality: "CLOCK_SKEW" },
      { owner: "attempt 0", quality: "OUTLIVES_PARENT" },
    ]);
  });

  it("says so where no event explains anything, and goes by the phase of what contains nothing", () => {
    const run = smallRun();
    expect(barOf(run, "[2]").group[0]).toBe(GROUP.runtime);
    const bar = barOf(makeExecution({ spans: [{ name: "f", depth: 0, start: 0, end: 9, phase: "UNSPECIFIED" }] }), "f");
    expect(Array.from(bar.group)).toEqual([GROUP.none]);
  });

  it("is painted as a look at every moment says", () => {
    const executions = fc
      .record({ seed: fc.integer({ min: 1, max: 1e6 }), spans: fc.integer({ min: 1, max: 80 }) })
      .map((options) => makeExecution(randomTree({ ...options, length: 400 })));
    fc.assert(
      fc.property(executions, fc.nat(), (execution, pick) => {
        const tree = makeRowTree(execution);
        const bar = new Bars(execution, tree).of(pick % tree.count);
        for (let i = 1; i < bar.count; i++) {
          expect(bar.segmentStart[i]).toBeGreaterThanOrEqual(bar.segmentEnd[i - 1]);
        }
        for (let moment = 0; moment < 420; moment += 5) {
          const segment = segmentAt(bar, moment);
          expect(segment < 0 ? -1 : bar.group[segment]).toBe(look(execution, bar, moment));
        }
      }),
      { numRuns: 100 },
    );
  });
});

/** Group of a moment, by the rule in words. */
function look(execution: Execution, bar: Bar, moment: number): number {
  const { spans } = execution;
  const codes = codesOf(execution.header);
  const going = new Set<number>();
  for (let i = bar.span; i < spans.subtreeEnd[bar.span]; i++) {
    const isOperation = spans.kind[i] === codes.kinds.operation;
    if (!isOperation && spans.subtreeEnd[i] > i + 1) continue;
    if (!(spans.start[i] <= moment) || spans.end[i] <= moment) continue;
    going.add(isOperation ? codes.groupOfOperation[spans.operation[i]] : codes.groupOfPhase[spans.phase[i]]);
  }
  for (const group of [GROUP.runtime, GROUP.setup, GROUP.teardown, GROUP.waiting]) {
    if (going.has(group)) return group;
  }
  return moment >= bar.start && moment < bar.end ? GROUP.none : -1;
}

describe("the runs of a bar", () => {
  const many = (count: number) =>
    makeExecution({
      spans: [
        { name: "f", depth: 0, start: 0, end: count * 10, phase: "RUNNING" },
        ...Array.from({ length: count }, (_, k) =>
          operation(k % 2 ? "TASK_SETUP" : "TASK_RUNTIME", 1, k * 10, k * 10 + 10),
        ),
      ],
    });

  it("are at most two on a pixel column, in order, and cover what is in view of the bar", () => {
    const bar = barOf(many(20_000), "f");
    fc.assert(
      fc.property(fc.nat(199_000), fc.integer({ min: 1, max: 200_000 }), (t0, length) => {
        const scale = new Scale({ t0, t1: t0 + length }, 300);
        const runs = makeRuns(300);
        layRuns(bar, scale, 200_000, runs);
        expect(runs.count).toBeLessThanOrEqual(600);
        let covered = 0;
        for (let i = 0; i < runs.count; i++) {
          if (i > 0) expect(runs.x0[i]).toBeGreaterThanOrEqual(runs.x1[i - 1] - 1e-6);
          covered += runs.x1[i] - runs.x0[i];
        }
        expect(covered).toBeCloseTo(Math.min(scale.x(200_000), 300), 3);
      }),
      { numRuns: 60 },
    );
  });

  it("end at the moment that it is now where a bar is open", () => {
    const runs = makeRuns(100);
    layRuns(barOf(smallRun(), "n4"), new Scale({ t0: 0, t1: 200 * SECOND }, 100), 100 * SECOND, runs);
    expect(runs.x1[runs.count - 1]).toBeCloseTo(50, 6);
  });
});

describe("a hit", () => {
  const run = smallRun();
  const tree = makeRowTree(run);
  const bars = new Bars(run, tree);
  const reasons = new ReasonsOfRows(run, tree);
  const scale = new Scale({ t0: 0, t1: 100 * SECOND }, 1000); // ten pixels a second
  const hit = (name: string, x: number) => {
    const item = tree.itemOfSpan[spanNamed(run, name)];
    return hitRow(bars.of(item), layTicks(reasons.of(item, true), scale), scale, 100 * SECOND, x);
  };

  it("is the tick first, then the segment, then the way to the node", () => {
    expect(hit("n0", 45)).toEqual({ what: "tick", tick: 0 });
    expect(hit("n0", 60)).toEqual({ what: "segment", segment: 2 });
    expect(hit("n1", 302)).toEqual({ what: "lead" });
    expect(hit("n0", 600)).toEqual({ what: "nothing" });
    expect(hit("n4", 990).what).toBe("segment");
    expect(hit("n4", 1020)).toEqual({ what: "nothing" }); // it goes on, but that is not known yet
  });

  it("is a bar that is too short to be hit", () => {
    const short = makeExecution({ spans: [
      { name: "f", depth: 0, start: 0, end: 100 * SECOND },
      { name: "n", depth: 1, start: 50 * SECOND, end: 50 * SECOND + 10, kind: "NODE", phase: "SUCCEEDED" },
      { name: "z", depth: 1, start: 50 * SECOND, end: 50 * SECOND, kind: "NODE", phase: "SUCCEEDED" },
    ] });
    const rows = makeRowTree(short);
    const none = layTicks(new ReasonsOfRows(short, rows).of(1, true), scale);
    const hitOf = (item: number, x: number) => hitRow(new Bars(short, rows).of(item), none, scale, 1e11, x);
    expect(hitOf(1, 504)).toEqual({ what: "segment", segment: 0 });
    expect(hitOf(1, 510)).toEqual({ what: "nothing" });
    expect(hitOf(2, 496)).toEqual({ what: "bar" });
  });

  it("finds the row by arithmetic", () => {
    const geometry = { rowHeight: 22, scrollTop: 33, rowCount: 5 };
    expect([rowAt(geometry, 0), rowAt(geometry, 11), rowAt(geometry, 77)]).toEqual([1, 2, -1]);
    expect(rowAt(geometry, -40)).toBe(-1);
    expect(rowsInView(geometry, 44)).toEqual([1, 4]);
  });
});
