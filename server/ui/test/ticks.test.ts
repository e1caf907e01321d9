import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Execution } from "../src/data/columns";
import { Collapse } from "../src/model/collapse";
import { criticalInView, criticalRows } from "../src/model/critical";
import { makeFolds } from "../src/model/folding";
import { makeRowTree, makeRows, rowOfSpan } from "../src/model/rows";
import { Scale } from "../src/model/scale";
import { CLUSTER_PX, type Ticks, layTicks, reasonNear, ReasonsOfRows, stepReason, tickAt } from "../src/model/ticks";
import { SECOND, smallRun, spanNamed } from "./shapes";
import { SEVERITIES, makeExecution, randomTree } from "./synthetic";

function reasonsAt(times: readonly number[], severities: readonly number[] = []): Execution {
  return makeExecution({
    spans: [{
      name: "f", depth: 0, start: 0, end: 1e15,
      reasons: times.map((at, i) => ({ at, message: `m${i % 100}`, severity: SEVERITIES[severities[i] ?? 0] })),
    }],
  });
}
const rootReasons = (execution: Execution) => new ReasonsOfRows(execution, makeRowTree(execution)).of(0, true);
const times = fc
  .array(fc.integer({ min: 0, max: 1e6 }), { minLength: 1, maxLength: 200 })
  .map((values) => values.sort((a, b) => a - b));

describe("reasons of a row", () => {
  it("are those of what the row stands for, and of all it hides when it is shut", () => {
    const run = smallRun();
    const tree = makeRowTree(run);
    const reasons = new ReasonsOfRows(run, tree);
    const item = (name: string) => tree.itemOfSpan[spanNamed(run, name)];
    expect(reasons.of(item("n0"), false).count).toBe(2); // of its only attempt
    expect(reasons.of(item("n1"), false).count).toBe(0);
    expect(reasons.of(item("n1"), true).count).toBe(1);
    expect(reasons.of(0, true).count).toBe(3);
  });

  it("are all there and in the order of time", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.nat(), (seed, pick) => {
        const execution = makeExecution(randomTree({ seed, spans: 60, reasonsPerSpan: 2 }));
        const tree = makeRowTree(execution);
        const of = new ReasonsOfRows(execution, tree);
        const reasons = of.of(pick % tree.count, true);
        const span = tree.span[pick % tree.count];
        const { reasonFirst, subtreeEnd } = execution.spans;
        expect(reasons.count).toBe(reasonFirst[subtreeEnd[span]] - reasonFirst[span]);
        expect(new Set(reasons.reason).size).toBe(reasons.count);
        expect(reasons.at).toEqual(reasons.at.slice().sort());
        let own = 0;
        for (let item = 0; item < tree.count; item++) own += of.of(item, false).count;
        expect(own).toBe(execution.reasons.count);
      }),
      { numRuns: 50 },
    );
  });

  it("are walked one by one, and stay at the ends", () => {
    const reasons = rootReasons(reasonsAt([10, 20, 30]));
    expect([stepReason(reasons, -1, 1), stepReason(reasons, -1, -1)]).toEqual([0, 2]);
    expect([stepReason(reasons, 1, 1), stepReason(reasons, 2, 1), stepReason(reasons, 0, -1)]).toEqual([2, 2, 0]);
    expect([reasonNear(reasons, 15, 1), reasonNear(reasons, 15, -1)]).toEqual([1, 0]);
    expect([reasonNear(reasons, 31, 1), reasonNear(reasons, 9, -1)]).toEqual([-1, -1]);
  });
});

describe("ticks", () => {
  const checks = (ticks: Ticks, reasons: ReturnType<typeof rootReasons>, scale: Scale) => {
    for (let i = 0; i < ticks.count; i++) {
      if (i > 0) {
        expect(ticks.first[i]).toBe(ticks.end[i - 1]);
        expect(ticks.x[i] - ticks.x[i - 1]).toBeGreaterThanOrEqual(CLUSTER_PX);
      }
      expect(scale.x(reasons.at[ticks.end[i] - 1]) - ticks.x[i]).toBeLessThan(CLUSTER_PX);
    }
  };

  it("hold every reason in view once, and are apart", () => {
    fc.assert(
      fc.property(times, fc.nat(1e6), fc.integer({ min: 1, max: 1e6 }), fc.boolean(), (at, t0, length, folded) => {
        const reasons = rootReasons(reasonsAt(at));
        const folds = folded ? makeFolds([2e5], [4e5], 1e6) : undefined;
        const scale = new Scale({ t0, t1: t0 + length }, 400, folds);
        const ticks = layTicks(reasons, scale);
        checks(ticks, reasons, scale);
        const held = new Set<number>();
        for (let i = 0; i < ticks.count; i++) {
          for (let place = ticks.first[i]; place < ticks.end[i]; place++) held.add(place);
        }
        at.forEach((time, place) => {
          if (time >= t0 && time <= t0 + length) expect(held.has(place)).toBe(true);
        });
      }),
    );
  });

  it("do not change while the view is panned", () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 0, max: 1e5 }), (at, shift) => {
        const reasons = rootReasons(reasonsAt(at));
        const first = (t0: number) => {
          const ticks = layTicks(reasons, new Scale({ t0, t1: t0 + 1e6 }, 1024));
          return Array.from(ticks.first).filter((place) => at[place] >= 1e5 + 4096 && at[place] <= 1e6);
        };
        expect(first(shift)).toEqual(first(0));
      }),
    );
  });

  it("of reasons that lie close without end do not change while the view is panned", () => {
    const at = Array.from({ length: 400 }, (_, i) => i * 3);
    const reasons = rootReasons(reasonsAt(at));
    const first = (t0: number) => Array.from(layTicks(reasons, new Scale({ t0, t1: t0 + 200 }, 200)).first);
    for (const t0 of [300, 301, 302, 303, 304, 305]) {
      for (const place of first(t0)) expect(place % 2).toBe(0); // pairs from the very first on
    }
  });

  it("make one cluster of 500 reasons in 2 s of 6 h, and zoom splits it to the last one", () => {
    const at = Array.from({ length: 500 }, (_, i) => 3 * 3600 * SECOND + i * 4e6);
    const reasons = rootReasons(reasonsAt(at));
    const far = layTicks(reasons, new Scale({ t0: 0, t1: 6 * 3600 * SECOND }, 1000));
    expect([far.count, far.end[0] - far.first[0]]).toEqual([1, 500]);
    const near = layTicks(reasons, new Scale({ t0: at[0], t1: at[499] }, 4000));
    expect(near.count).toBe(500);
  });

  it("tell the gravest reason of a cluster", () => {
    const reasons = rootReasons(reasonsAt([1, 2, 3, 4], [0, 2, 3, 1]));
    const scale = new Scale({ t0: 0, t1: 1000 }, 100);
    expect(Array.from(layTicks(reasons, scale).worst)).toEqual([2]);
    const warned = rootReasons(reasonsAt([1, 2, 3], [0, 2, 1]));
    expect(Array.from(layTicks(warned, scale).worst)).toEqual([1]);
  });

  it("are hit within 6 px, the nearer first", () => {
    const ticks = layTicks(rootReasons(reasonsAt([100, 108])), new Scale({ t0: 0, t1: 1000 }, 1000));
    expect([tickAt(ticks, 103), tickAt(ticks, 105), tickAt(ticks, 114), tickAt(ticks, 115)]).toEqual([0, 1, 1, -1]);
    expect([tickAt(ticks, 94), tickAt(ticks, 93)]).toEqual([0, -1]);
  });

  it("of 40,000 reasons are as few as the pixels", () => {
    const at = Array.from({ length: 40_000 }, (_, i) => i * 5e8);
    const ticks = layTicks(rootReasons(reasonsAt(at)), new Scale({ t0: 0, t1: 2e13 }, 1000));
    expect(ticks.count).toBeLessThanOrEqual(1000 / CLUSTER_PX + 1);
    expect(ticks.end[ticks.count - 1]).toBe(40_000);
  });
});

describe("the critical path of rows", () => {
  it("is in the row of each span, and in the shut row around what is hidden, merged", () => {
    const run = smallRun();
    const n1 = spanNamed(run, "n1");
    const execution = makeExecution({
      ...inputOf(run),
      segments: [
        { span: 0, start: 0, end: 2 },
        { span: n1 + 1, start: 2, end: 4, approximate: true },
        { span: n1 + 4, start: 4, end: 6 },
        { span: 0, start: 6, end: 9 },
      ],
    });
    const tree = makeRowTree(execution);
    const stretches = (collapse: Collapse, name: string) => {
      const rows = makeRows(tree, collapse);
      const critical = criticalRows(execution, tree, rows);
      const [first, end] = criticalInView(critical, rowOfSpan(tree, rows, spanNamed(execution, name)), 0, 100);
      return Array.from({ length: end - first }, (_, i) => [
        critical.start[first + i], critical.end[first + i], critical.approximate[first + i],
      ]);
    };
    expect(stretches(new Collapse(), "n1")).toEqual([[2, 6, 1]]);
    expect(stretches(new Collapse(), "f1")).toEqual([[0, 2, 0], [6, 9, 0]]);
    expect(stretches(new Collapse("open"), "n1")).toEqual([]);
    expect(stretches(new Collapse("shut"), "f1")).toEqual([[0, 9, 1]]);
  });
});

/** Spans without reasons, in a form that makes them again. */
function inputOf(run: Execution) {
  const { spans, strings, header } = run;
  return {
    spans: Array.from({ length: spans.count }, (_, i) => ({
      name: strings.get(spans.name[i]),
      depth: spans.depth[i],
      start: spans.start[i],
      end: Number.isNaN(spans.end[i]) ? null : spans.end[i],
      kind: header.kinds[spans.kind[i]] as "NODE",
    })),
  };
}
