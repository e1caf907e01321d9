import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Execution } from "../src/data/columns";
import { Collapse, type Ground } from "../src/model/collapse";
import {
  ROW_LEAF,
  ROW_OPEN,
  ROW_SHUT,
  countSubtasks,
  makeRowTree,
  makeRows,
  parentRow,
  rowOfSpan,
  setSize,
} from "../src/model/rows";
import { smallRun, spanNamed } from "./shapes";
import { makeExecution, randomTree } from "./synthetic";

const names = (execution: Execution, rows: { span: Int32Array }) =>
  Array.from(rows.span, (span) => execution.strings.get(execution.spans.name[span]));

const trees = fc
  .record({ seed: fc.integer({ min: 1, max: 1e6 }), spans: fc.integer({ min: 1, max: 120 }) })
  .map((options) => makeExecution(randomTree({ ...options, reasonsPerSpan: 0.2 })));
const grounds = fc.constantFrom<Ground>("default", "open", "shut");

describe("rows", () => {
  it("are executions and nodes, not operations, the only attempt, or the start of the workflow", () => {
    const run = smallRun();
    const rows = makeRows(makeRowTree(run), new Collapse());
    expect(names(run, rows)).toEqual(["f1", "n0", "n1", "n2", "n3", "n4"]);
    expect(Array.from(rows.state)).toEqual([ROW_OPEN, ROW_LEAF, ROW_SHUT, ROW_SHUT, ROW_LEAF, ROW_LEAF]);
    expect(Array.from(rows.position)).toEqual([1, 1, 2, 3, 4, 5]);
  });

  it("show several attempts and the sub-tasks of the only attempt when opened", () => {
    const run = smallRun();
    const tree = makeRowTree(run);
    const rows = makeRows(tree, new Collapse("open"));
    expect(names(run, rows)).toEqual(
      ["f1", "n0", "n1", "0", "1", "n2", "[0]", "[1]", "[2]", "[3]", "n3", "n4"],
    );
    const third = rowOfSpan(tree, rows, spanNamed(run, "[2]"));
    expect([rows.position[third], setSize(tree, rows, third)]).toEqual([3, 4]);
    expect(rows.span[parentRow(tree, rows, third)]).toBe(spanNamed(run, "n2"));
    expect(tree.level[rows.item[third]]).toBe(3);
  });

  it("show a start node that has a reason", () => {
    const run = makeExecution({
      spans: [
        { name: "f", depth: 0, start: 0, end: 9 },
        { name: "start-node", depth: 1, start: 0, end: 1, kind: "NODE", nodeKind: "START", reasons: [{ at: 1, message: "late" }] },
        { name: "end-node", depth: 1, start: 8, end: 9, kind: "NODE", nodeKind: "END", phase: "SUCCEEDED" },
      ],
    });
    expect(names(run, makeRows(makeRowTree(run), new Collapse()))).toEqual(["f", "start-node"]);
  });

  it("stand for everything that is not shown itself", () => {
    const run = smallRun();
    const tree = makeRowTree(run);
    const rows = makeRows(tree, new Collapse());
    for (let span = 0; span < run.spans.count; span++) {
      expect(rows.span[rowOfSpan(tree, rows, span)]).toBeLessThanOrEqual(span);
    }
    expect(rows.span[rowOfSpan(tree, rows, spanNamed(run, "[1]"))]).toBe(spanNamed(run, "n2"));
  });

  it("count sub-tasks by how they stand", () => {
    const run = smallRun();
    const tree = makeRowTree(run);
    const item = tree.itemOfSpan[spanNamed(run, "n2")];
    expect(countSubtasks(run, tree, item)).toEqual({ total: 4, succeeded: 3, failed: 1, open: 0, other: 0 });
  });

  it("are the items whose ancestors are all open, in pre-order", () => {
    fc.assert(
      fc.property(trees, grounds, fc.array(fc.nat()), (execution, ground, picks) => {
        const tree = makeRowTree(execution);
        let collapse = new Collapse(ground);
        for (const pick of picks) collapse = collapse.toggle(tree, pick % tree.count);
        const rows = makeRows(tree, collapse);
        const expected: number[] = [];
        for (let item = 0; item < tree.count; item++) {
          let shown = true;
          for (let above = tree.parent[item]; above >= 0; above = tree.parent[above]) {
            shown &&= collapse.isOpen(tree, above);
          }
          if (shown) expected.push(item);
        }
        expect(Array.from(rows.item)).toEqual(expected);
        for (let row = 0; row < rows.count; row++) {
          expect(rows.position[row]).toBeLessThanOrEqual(setSize(tree, rows, row));
        }
      }),
    );
  });

  it("are the same after shutting and opening again", () => {
    fc.assert(
      fc.property(trees, grounds, fc.nat(), (execution, ground, pick) => {
        const tree = makeRowTree(execution);
        const item = pick % tree.count;
        const before = new Collapse(ground);
        const after = before.toggle(tree, item).toggle(tree, item);
        expect(after).toEqual(before);
      }),
    );
  });

  it("leave what a filter drops, and count only what is left", () => {
    const run = smallRun();
    const tree = makeRowTree(run);
    const keep = new Uint8Array(tree.count);
    for (const name of ["f1", "n2", "[2]"]) keep[tree.itemOfSpan[spanNamed(run, name)]] = 1;
    const rows = makeRows(tree, new Collapse("open"), keep);
    expect(names(run, rows)).toEqual(["f1", "n2", "[2]"]);
    expect([rows.position[2], setSize(tree, rows, 2)]).toEqual([1, 1]);
    expect(rowOfSpan(tree, rows, spanNamed(run, "n0"))).toBe(-1);
  });

  it("are made of a tree of 10,000 levels", () => {
    const spans = Array.from({ length: 10_000 }, (_, depth) => ({
      name: "n", depth, start: depth, end: 20_000 - depth, kind: "NODE" as const,
    }));
    const tree = makeRowTree(makeExecution({ spans }));
    expect(makeRows(tree, new Collapse()).count).toBe(10_000);
  });
});

describe("what is open", () => {
  it("shows a span once it is expanded to, and only then", () => {
    fc.assert(
      fc.property(trees, grounds, fc.nat(), (execution, ground, pick) => {
        const tree = makeRowTree(execution);
        const span = pick % execution.spans.count;
        const rows = makeRows(tree, new Collapse(ground).expandTo(tree, span));
        expect(rows.span[rowOfSpan(tree, rows, span)]).toBe(tree.span[tree.itemOfSpan[span]]);
      }),
    );
  });

  it("comes back from an address exactly", () => {
    const ids = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }).map((id) => id.toString(16).padStart(16, "0"));
    fc.assert(
      fc.property(grounds, fc.uniqueArray(ids), (ground, differing) => {
        const collapse = new Collapse(ground, new Set(differing));
        const text = collapse.encode();
        expect(text).toMatch(/^[*!]?[\w-]*$/);
        expect(Collapse.decode(text)).toEqual(collapse);
      }),
    );
  });

  it("is read from any text without an error", () => {
    fc.assert(fc.property(fc.string(), (text) => Collapse.decode(text) instanceof Collapse));
  });
});
