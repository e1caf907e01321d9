import { batch, signal } from "@preact/signals";
import { expect, test } from "vitest";
import type { Execution } from "../src/data/columns";
import { Collapse } from "../src/model/collapse";
import { makeLanes } from "../src/model/lanes";
import { makeRows, makeRowTree } from "../src/model/rows";
import { keepMoments, keepReason, laidLanes, laidRows, linesMoved } from "../src/timeline/standStill";
import { makeExecution } from "./synthetic";

const START_NS = 1_767_225_600_000_000_000n;

/** An execution of nodes, by name and start; ids are the same for the same name. */
function run(nodes: [name: string, id: bigint][], startNs = START_NS): Execution {
  const spans = nodes.map(([name, id], i) => ({ name, id, depth: 1, start: i, end: null }));
  return makeExecution({ spans: [{ name: "f1", id: 1n, depth: 0, start: 0, end: null }, ...spans], startNs });
}

test("the same moments stay in view when an earlier start moves what they count from", () => {
  const execution = signal<Execution | null>(null);
  const view = { t0: signal(2e9), t1: signal(5e9), zero: signal<bigint | null>(null) };
  const end = keepMoments(execution, view);
  execution.value = run([], START_NS);
  expect([view.t0.value, view.t1.value]).toEqual([2e9, 5e9]);
  execution.value = run([], START_NS - 500_000_000_000n);
  expect([view.t0.value, view.t1.value]).toEqual([502e9, 505e9]);
  view.t0.value = 503e9; // the reader moves on
  execution.value = run([], START_NS);
  expect([view.t0.value, view.t1.value]).toEqual([3e9, 5e9]);
  end();
  execution.value = run([], START_NS - 1n);
  expect(view.t0.value).toBe(3e9);
});

test("an address that counts from another start shows the same moments, whichever comes first", () => {
  const zero = START_NS + 4_000_000_001n;
  const execution = signal<Execution | null>(null);
  const view = { t0: signal(1e9), t1: signal(2e9), zero: signal<bigint | null>(zero) };
  keepMoments(execution, view);
  execution.value = run([], START_NS);
  expect([view.t0.value, view.t1.value, view.zero.value]).toEqual([5_000_000_001, 6_000_000_001, START_NS]);
  batch(() => {
    view.t0.value = 1e9;
    view.t1.value = 2e9;
    view.zero.value = zero;
  });
  expect([view.t0.value, view.t1.value, view.zero.value]).toEqual([5_000_000_001, 6_000_000_001, START_NS]);
});

test("the whole run stays the whole run when its start moves", () => {
  const execution = signal<Execution | null>(run([]));
  const view = { t0: signal(NaN), t1: signal(NaN), zero: signal<bigint | null>(null) };
  keepMoments(execution, view);
  execution.value = run([], START_NS - 1_000_000_000n);
  expect([view.t0.value, view.t1.value]).toEqual([NaN, NaN]);
});

test("the reason that the keyboard is at stays the same when others come before it", () => {
  const reading = (messages: string[]) => {
    const reasons = messages.map((message, i) => ({ at: message === "mine" ? 9 : i, message }));
    return makeExecution({ spans: [{ name: "f1", depth: 0, start: 0, end: null, reasons }] });
  };
  const execution = signal<Execution>(reading([]));
  const reason = signal(-1);
  keepReason(execution, reason);
  execution.value = reading(["mine"]);
  reason.value = 0;
  execution.value = reading(["late", "later", "mine"]);
  expect(reason.value).toBe(2);
  execution.value = reading(["late"]);
  expect(reason.value).toBe(-1);
});

function rowsOf(execution: Execution) {
  const tree = makeRowTree(execution);
  return laidRows(execution, tree, makeRows(tree, new Collapse()));
}

test("rows move by as many as have come above the first candidate that is still there", () => {
  const before = rowsOf(run([["a", 11n], ["b", 12n], ["c", 13n]]));
  const after = rowsOf(run([["early", 20n], ["a", 11n], ["between", 21n], ["another", 22n], ["c", 13n]]));
  expect(linesMoved(before, after, [1, 2, 3])).toBe(1);
  expect(linesMoved(before, after, [3, 1])).toBe(2);
  expect(linesMoved(before, after, [2, 3])).toBe(2); // b is gone
  expect(linesMoved(before, after, [2])).toBe(0);
  expect(linesMoved(before, after, [])).toBe(0);
});

test("lanes move by as many as have come above that of the first candidate that is still there", () => {
  const lanesOf = (names: string[]) => {
    const nodes = names.map((name, i) => ({ name, id: BigInt(name.charCodeAt(0)), depth: 1, start: i, end: 99, kind: "NODE" as const }));
    const execution = makeExecution({ spans: [{ name: "f1", id: 1n, depth: 0, start: 0, end: 99 }, ...nodes] });
    return laidLanes({ execution, lanes: makeLanes(execution, makeRowTree(execution)) });
  };
  const before = lanesOf(["a", "b", "c"]);
  const after = lanesOf(["x", "a", "y", "c"]);
  expect([before.count, after.count]).toEqual([3, 4]);
  expect(linesMoved(before, after, [before.spanIn(0)])).toBe(1);
  expect(linesMoved(before, after, [before.spanIn(1), before.spanIn(2)])).toBe(1); // b is gone
  expect(before.lineOf(0)).toBe(-1); // the execution is in no lane
});
