import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Execution } from "../src/data/columns";
import { sameReason } from "../src/model/sameReason";
import { lineOf, occurrencesOf, ownerOf, reasonLines, spansOf, timeOrder, type ReasonFilter } from "../src/views/reasons/lines";
import { makeExecution, type ReasonInput } from "./synthetic";

const ALL: ReasonFilter = { text: "", severity: "", isGrouped: true };

function run(a: ReasonInput[], b: ReasonInput[] = []): Execution {
  return makeExecution({
    spans: [
      { name: "f1", depth: 0, start: 0, end: 1e9 },
      { name: "n0", depth: 1, start: 0, end: 1e9 },
      { name: "0", depth: 2, start: 0, end: 1e9, kind: "TASK_ATTEMPT", attempt: 2, reasons: a },
      { name: "n1", depth: 1, start: 0, end: 1e9, reasons: b },
    ],
  });
}

const texts = (execution: Execution, order: Iterable<number>) =>
  Array.from(order, (reason) => execution.strings.get(execution.reasons.message[reason]));

describe("reasons in the order of time", () => {
  it("go across spans, those of one moment in the order of their spans", () => {
    const execution = run(
      [{ at: 1, message: "a" }, { at: 5, message: "d" }],
      [{ at: 1, message: "b" }, { at: 3, message: "c" }],
    );
    expect(texts(execution, timeOrder(execution))).toEqual(["a", "b", "c", "d"]);
  });

  it("put repeats on one line, and count what was told", () => {
    const execution = run(
      [{ at: 1, message: "pull" }, { at: 2, message: "wait", occurrences: 36 }, { at: 9, message: "wait" }],
      [{ at: 3, message: "wait" }, { at: 10, message: "pull" }],
    );
    const lines = reasonLines(execution, ALL);
    expect([0, 1, 2].map((line) => occurrencesOf(execution, lines, line))).toEqual([1, 38, 1]);
    expect([lines.count, spansOf(execution, lines, 1)]).toEqual([3, 2]);
    expect(reasonLines(execution, { ...ALL, isGrouped: false }).count).toBe(5);
  });

  it("do not put on one line what differs in phase or severity, or may differ behind the cut", () => {
    const different: Partial<ReasonInput>[] = [{}, { phase: "RUNNING" }, { severity: "ERROR" }, { isCut: true }, { isCut: true }];
    const execution = run(different.map((each, at) => ({ at, message: "m", ...each })));
    expect(reasonLines(execution, ALL).count).toBe(different.length);
  });

  it("are found by part of their text in any case, and by severity", () => {
    const execution = run([
      { at: 1, message: "Insufficient GPU", severity: "WARNING" },
      { at: 2, message: "Pulled", severity: "INFO" },
      { at: 3, message: "gpu lost", severity: "ERROR" },
    ]);
    const found = (filter: Partial<ReasonFilter>) => texts(execution, reasonLines(execution, { ...ALL, ...filter }).order);
    expect(found({ text: " gpu " })).toEqual(["Insufficient GPU", "gpu lost"]);
    expect(found({ severity: "WARNING" })).toEqual(["Insufficient GPU", "gpu lost"]);
    expect(found({ severity: "ERROR", text: "GPU" })).toEqual(["gpu lost"]);
  });

  it("are each on exactly one line, whatever is put together", () => {
    const reason = fc.record({ at: fc.nat({ max: 20 }), message: fc.constantFrom("a", "b", "c") });
    fc.assert(
      fc.property(fc.array(reason, { maxLength: 40 }), fc.boolean(), (reasons, isGrouped) => {
        const sorted = [...reasons].sort((x, y) => x.at - y.at);
        const execution = run(sorted);
        const lines = reasonLines(execution, { ...ALL, isGrouped });
        expect([...lines.order].sort((x, y) => x - y)).toEqual(sorted.map((_, i) => i));
        for (let line = 0; line < lines.count; line++) {
          for (let i = lines.first[line]; i < lines.first[line + 1]; i++) expect(lineOf(lines, lines.order[i])).toBe(line);
        }
      }),
    );
  });
});

describe("a reason", () => {
  it("is known by the node around it, and by the attempt", () => {
    const execution = run([{ at: 1, message: "a" }], [{ at: 2, message: "b" }]);
    expect([0, 1].map((reason) => ownerOf(execution, execution.reasons.span[reason]))).toEqual(["n0, attempt 2", "n1"]);
  });

  it("is found again when there are more", () => {
    const old = run([{ at: 5, message: "a" }]);
    const fresh = run([{ at: 4, message: "b" }, { at: 5, message: "b" }, { at: 5, message: "a" }]);
    expect(sameReason(old, 0, fresh)).toBe(2);
    expect(sameReason(fresh, 0, old)).toBe(-1);
    expect(sameReason(old, -1, fresh)).toBe(-1);
  });
});
