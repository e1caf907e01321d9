import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Execution } from "../src/data/columns";
import { ColumnsError, decodeColumns, spanIdHex } from "../src/data/columns";
import type { ExecutionInput, SpanInput } from "./synthetic";
import { encodeColumns, makeExecution, randomTree } from "./synthetic";

/** Gives an execution as the input that it was made of, defaults left out. */
function describeSpans(execution: Execution): SpanInput[] {
  const { spans, reasons, strings, header } = execution;
  return Array.from({ length: spans.count }, (_, i) => {
    const qualities = header.qualities.filter((__, bit) => spans.qualities[i] & (1 << bit));
    const own = [];
    for (let r = spans.reasonFirst[i]; r < spans.reasonFirst[i + 1]; r++) {
      expect(reasons.span[r]).toBe(i);
      own.push({
        at: reasons.at[r],
        message: strings.get(reasons.message[r]),
        phase: header.phases[reasons.phase[r]],
        severity: header.severities[reasons.severity[r]],
        operation: header.operations[reasons.operation[r]],
        occurrences: reasons.occurrences[r],
        source: strings.get(reasons.source[r]),
        isCut: reasons.isCut[r] === 1,
      });
    }
    return {
      name: strings.get(spans.name[i]),
      depth: spans.depth[i],
      start: spans.start[i],
      end: Number.isNaN(spans.end[i]) ? null : spans.end[i],
      kind: header.kinds[spans.kind[i]],
      phase: header.phases[spans.phase[i]],
      operation: header.operations[spans.operation[i]],
      attempt: spans.attempt[i],
      qualities,
      cache: header.cache_statuses[spans.cache[i]],
      nodeKind: header.node_kinds[spans.nodeKind[i]],
      ...(spans.label[i] >= 0 && { label: strings.get(spans.label[i]) }),
      id: BigInt(`0x${spanIdHex(spans, i)}`),
      reasons: own,
      critical: spans.critical[i],
    } as SpanInput;
  });
}

const name = fc.string({ unit: "binary", maxLength: 12 });
const time = fc.integer({ min: 0, max: 9e15 });
const span = fc.record({
  name,
  start: time,
  end: fc.option(time),
  kind: fc.constantFrom("EXECUTION", "NODE", "TASK_ATTEMPT", "SUBTASK", "OPERATION"),
  phase: fc.constantFrom("UNSPECIFIED", "RUNNING", "RECOVERED"),
  operation: fc.constantFrom("UNSPECIFIED", "QUEUED", "PLUGIN_SETUP"),
  attempt: fc.nat(2 ** 32 - 1),
  qualities: fc.subarray(["PLACEHOLDER", "CLOCK_SKEW", "INFERRED_KIND"]),
  cache: fc.constantFrom("UNSPECIFIED", "HIT", "EVICTED"),
  nodeKind: fc.constantFrom("UNSPECIFIED", "TASK", "TRACE"),
  id: fc.bigInt(0n, (1n << 64n) - 1n),
  critical: time,
  reasons: fc.array(
    fc.record({
      at: time,
      message: name,
      phase: fc.constantFrom("UNSPECIFIED", "QUEUED"),
      severity: fc.constantFrom("UNSPECIFIED", "ERROR"),
      operation: fc.constantFrom("UNSPECIFIED", "SCHEDULING"),
      occurrences: fc.nat(2 ** 32 - 1),
      source: name,
      isCut: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
});
const spans = fc
  .array(fc.tuple(span, fc.option(name), fc.nat(5)), { minLength: 1, maxLength: 12 })
  .map((items) => {
    let last = -1;
    return items.map(([each, label, level]) => {
      const depth = last < 0 ? 0 : 1 + (level % (last + 1));
      last = depth;
      return { ...each, depth, ...(label !== null && { label }) } as SpanInput;
    });
  });

describe("columns", { timeout: 60_000 }, () => {
  test("give every field of every span and reason as it was written", () => {
    fc.assert(
      fc.property(spans, (input) => {
        expect(describeSpans(makeExecution({ spans: input }))).toEqual(input);
      }),
    );
  });

  test("give each span its parent and the end of its subtree", () => {
    fc.assert(
      fc.property(spans, (input) => {
        const { parent, subtreeEnd } = makeExecution({ spans: input }).spans;
        input.forEach(({ depth }, i) => {
          const before = input.slice(0, i).findLastIndex((each) => each.depth === depth - 1);
          expect(parent[i]).toBe(depth === 0 ? -1 : before);
          const next = input.findIndex((each, j) => j > i && each.depth <= depth);
          expect(subtreeEnd[i]).toBe(next < 0 ? input.length : next);
        });
      }),
    );
  });

  test("take a chain of spans however deep it is", () => {
    const input = Array.from({ length: 70_000 }, (_, depth) => ({
      name: "n", depth, start: depth, end: null,
    }));
    const { parent, subtreeEnd, depth } = makeExecution({ spans: input }).spans;
    expect(depth[69_999]).toBe(69_999);
    expect(parent[69_999]).toBe(69_998);
    expect(subtreeEnd[0]).toBe(70_000);
  });

  test("give the critical path", () => {
    const segments = [
      { span: 1, start: 0, end: 400, approximate: false },
      { span: 0, start: 400, end: 1000, approximate: true },
    ];
    const { segments: decoded, header } = makeExecution({
      spans: [
        { name: "f1", depth: 0, start: 0, end: 1000, critical: 600 },
        { name: "n0", depth: 1, start: 0, end: 400, critical: 400 },
      ],
      segments,
    });
    expect(Array.from(decoded.span)).toEqual([1, 0]);
    expect(Array.from(decoded.start)).toEqual([0, 400]);
    expect(Array.from(decoded.end)).toEqual([400, 1000]);
    expect(Array.from(decoded.approximate)).toEqual([0, 1]);
    expect(header.critical_approximate).toBe(true);
  });

  test("tell when the execution began, and where it ended or that it is open", () => {
    const input: ExecutionInput = {
      spans: [{ name: "f1", depth: 0, start: 0, end: 86_400_000_000_001 }],
      startNs: 1_700_000_000_123_456_789n,
    };
    expect(makeExecution(input)).toMatchObject({
      startNs: 1_700_000_000_123_456_789n,
      endOffset: 86_400_000_000_001,
      asOfOffset: 86_400_000_000_001,
    });
    const open = makeExecution({ spans: [{ ...input.spans[0], end: null }], asOf: 7 });
    expect(open.endOffset).toBeNaN();
    expect(open.asOfOffset).toBe(7);
  });

  test("keep a mark at the beginning of a string that looks like one of byte order", () => {
    const { strings, spans } = makeExecution({
      spans: [{ name: "\ufeffn0", depth: 0, start: 0, end: 1 }],
    });
    expect(strings.get(spans.name[0])).toBe("\ufeffn0");
  });

  test("of a random tree are those of the next tree of the same seed", () => {
    const options = { seed: 7, spans: 300 };
    const first = new Uint8Array(encodeColumns(randomTree(options)));
    expect(new Uint8Array(encodeColumns(randomTree(options)))).toEqual(first);
    expect(new Uint8Array(encodeColumns(randomTree({ ...options, seed: 8 })))).not.toEqual(first);
  });
});

describe("bytes that are no columns are refused:", () => {
  const whole = encodeColumns({ spans: [{ name: "f1", depth: 0, start: 5, end: 9 }] });
  const refuse = (bytes: ArrayBuffer, message: string) => {
    expect(() => decodeColumns(bytes)).toThrow(ColumnsError);
    expect(() => decodeColumns(bytes)).toThrow(message);
  };

  test("nothing, or another file", () => {
    refuse(new ArrayBuffer(0), "0 bytes are no columns");
    refuse(new TextEncoder().encode("<!doctype html><title>").buffer, "SPANCOL1");
  });

  test("any part of the whole", () => {
    for (let length = 0; length < whole.byteLength; length++) {
      expect(() => decodeColumns(whole.slice(0, length))).toThrow(ColumnsError);
    }
  });

  test("another version", () => {
    const spans = [{ name: "f1", depth: 0, start: 0, end: 1 }];
    refuse(encodeColumns({ spans, header: { version: 2 } }), "version 2");
  });

  test("a span without a parent", () => {
    const spans = [0, 2].map((depth) => ({ name: "n", depth, start: 0, end: 1 }));
    refuse(encodeColumns({ spans }), "span 1 has depth 2 but no parent");
  });

  test("columns of other lengths than the header says", () => {
    const spans = [{ name: "f1", depth: 0, start: 0, end: 1 }];
    refuse(encodeColumns({ spans, header: { num_spans: 2 } }), "instead of 2");
  });
});
