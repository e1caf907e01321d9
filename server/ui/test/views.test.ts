import fc from "fast-check";
import type { ComparisonJson } from "../src/data/answers";
import { describe, expect, it } from "vitest";

import { findSpan } from "../src/data/columns";
import { durationNs, enumName, operationName, phaseName, timeNs } from "../src/data/values";
import { formatSigned } from "../src/model/format";
import { nodeDeltas, operationDeltas } from "../src/views/compare/deltas";
import { areaPath, parallelismWords, sumUp } from "../src/views/diagnosis/parallelism";
import { chooseColumn, COLUMNS, decodeSort, DEFAULT_SORT, encodeSort, operationRows, sortRows } from "../src/views/operations/table";
import { makeExecution } from "./synthetic";

describe("values of answers", () => {
  it("are durations to the nanosecond", () => {
    expect(durationNs("0.000000001s")).toBe(1);
    expect(durationNs("-1.5s")).toBe(-1.5e9);
    expect(durationNs("8640000.123456789s")).toBe(8640000123456789);
    expect(durationNs(undefined)).toBe(0);
    expect(() => durationNs("1m")).toThrow("1m");
    fc.assert(
      fc.property(fc.nat({ max: 9_000_000 }), fc.nat({ max: 999_999_999 }), (seconds, ns) => {
        expect(durationNs(`${seconds}.${String(ns).padStart(9, "0")}s`)).toBe(seconds * 1e9 + ns);
      }),
    );
  });

  it("are names without the name of their enum", () => {
    expect(phaseName("PHASE_FAILED")).toBe("FAILED");
    expect(operationName(undefined)).toBe("UNSPECIFIED");
    expect(enumName("NEW", "PHASE")).toBe("NEW");
  });

  it("are moments to the nanosecond", () => {
    expect(timeNs("2026-01-01T00:00:00.000000001Z")).toBe(1767225600000000001n);
    expect(timeNs(undefined)).toBeNull();
  });
});

describe("the table of operations", () => {
  const rows = operationRows({
    operations: [
      { operation: "OPERATION_TASK_RUNTIME", count: "2", total: "9s", critical: "3s" },
      { operation: "OPERATION_IMAGE_PULL", count: "7", total: "5s", critical: "3s", openCount: "1" },
      { operation: "OPERATION_QUEUED", count: "1", total: "1s", critical: "4s", longestSpanId: "00000000000000aa" },
    ],
  });
  const names = (sorted: typeof rows) => sorted.map(({ operation }) => operation);

  it("begins with what the critical path went into", () => {
    expect(names(sortRows(rows, DEFAULT_SORT))).toEqual(["QUEUED", "TASK_RUNTIME", "IMAGE_PULL"]);
  });

  it("sorts by any column, both ways", () => {
    expect(names(sortRows(rows, { by: "count", descending: false }))).toEqual(["QUEUED", "TASK_RUNTIME", "IMAGE_PULL"]);
    expect(names(sortRows(rows, { by: "open", descending: true }))[0]).toBe("IMAGE_PULL");
    expect(names(sortRows(rows, { by: "operation", descending: false }))).toEqual(["IMAGE_PULL", "QUEUED", "TASK_RUNTIME"]);
  });

  it("keeps its order in the address", () => {
    for (const by of ["operation", ...COLUMNS] as const) {
      for (const descending of [true, false]) {
        const text = encodeSort({ by, descending });
        expect(text === "" ? DEFAULT_SORT : decodeSort(text)).toEqual({ by, descending });
      }
    }
    expect(decodeSort("-nothing")).toEqual(DEFAULT_SORT);
  });

  it("turns round when a column is chosen again", () => {
    const first = chooseColumn(DEFAULT_SORT, "total");
    expect(first).toEqual({ by: "total", descending: true });
    expect(chooseColumn(first, "total").descending).toBe(false);
    expect(chooseColumn(first, "operation").descending).toBe(false);
  });
});

describe("what ran at once", () => {
  const steps = [
    { at: 0, running: 1 },
    { at: 200, running: 3 },
    { at: 300, running: 0 },
    { at: 400, running: 0 },
  ];

  it("is summed up over time", () => {
    const sum = sumUp(steps, 0);
    expect(sum).toMatchObject({ length: 400, most: 3, idle: 100, mean: (200 + 300) / 400 });
    expect(parallelismWords(sum)).toBe("At most 3 attempts ran at once, 1.3 on average, none for 100ns (25 %).");
  });

  it("lasts until the end of what goes on", () => {
    expect(sumUp([{ at: 0, running: 2 }], 50)).toMatchObject({ length: 50, mean: 2, idle: 0 });
  });

  it("is drawn as steps that fill the field", () => {
    expect(areaPath(sumUp(steps, 0), 400, 30)).toBe("M0 30V20H200V0H300V30H400V30H400V30Z");
    expect(areaPath(sumUp([{ at: 0, running: 0 }], 50), 400, 30)).toBe("");
  });

  it("keeps the peak of steps that fall into one pixel", () => {
    const dense = Array.from({ length: 5000 }, (_, i) => ({ at: i, running: i === 2500 ? 9 : 1 }));
    const path = areaPath(sumUp(dense, 5000), 100, 90);
    expect(path).toContain("V0H");
    expect(path.split("H").length).toBeLessThan(110);
  });
});

describe("differences", () => {
  const answer = {
    operations: [
      { operation: "OPERATION_QUEUED", duration: "1s", baseDuration: "2s" },
      { operation: "OPERATION_TASK_RUNTIME", duration: "9s", baseDuration: "2s", count: "3", baseCount: "1" },
    ],
    nodes: [
      { path: "n0", spanId: "aa", baseSpanId: "bb", duration: "3s", baseDuration: "3.5s", phase: "PHASE_FAILED" },
      {
        ...{ path: "n1", spanId: "cc", baseSpanId: "dd", duration: "1s", baseDuration: "9s" },
        operations: [
          { operation: "OPERATION_QUEUED", duration: "1s" },
          { operation: "OPERATION_TASK_RUNTIME", baseDuration: "9s" },
        ],
      },
      { path: "n2", spanId: "ee", duration: "1s" },
      { path: "n3", baseSpanId: "ff", baseDuration: "1s" },
    ],
  };

  it("come with the greatest first, whichever way", () => {
    expect(operationDeltas(answer).map(({ name }) => name)).toEqual(["Running", "Queued"]);
    expect(nodeDeltas(answer).both.map(({ name }) => name)).toEqual(["n1", "n0"]);
  });

  it("tell what is on one side alone", () => {
    const { onlyHere, onlyThere } = nodeDeltas(answer);
    expect([onlyHere, onlyThere].map((side) => side.map(({ name }) => name))).toEqual([["n2"], ["n3"]]);
  });

  it("name the operation that explains a difference, or say that it lies deeper", () => {
    expect(nodeDeltas(answer).both.map(({ mostly }) => mostly)).toEqual(["Running −9s", "in the nodes inside of it"]);
    const small = { operation: "OPERATION_QUEUED", duration: "3s", baseDuration: "1s" };
    const opposite = { operation: "OPERATION_TASK_RUNTIME", duration: "1s", baseDuration: "9s" };
    const node = { path: "n0", spanId: "aa", baseSpanId: "bb", duration: "19s", baseDuration: "9s", attemptCount: 1 };
    const mostly = (operations: object[]) => nodeDeltas({ nodes: [{ ...node, operations }] } as ComparisonJson).both[0].mostly;
    expect(mostly([small, opposite])).toBe("");
    expect(mostly([{ ...small, duration: "6s" }, opposite])).toBe("Queued +5s");
    expect([1e9, -1e9, 0].map(formatSigned)).toEqual(["+1s", "−1s", "0s"]);
  });

  it("have names where spans of the execution have their ids", () => {
    const { spans } = makeExecution({
      spans: [
        { name: "f1", depth: 0, start: 0, end: 1, id: 0x1_0000_0002n },
        { name: "n0", depth: 1, start: 0, end: 1, id: 0x3_0000_0002n },
      ],
    });
    expect(["0000000300000002", "0000000000000002", ""].map((id) => findSpan(spans, id))).toEqual([1, -1, -1]);
  });
});
