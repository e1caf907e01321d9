import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Execution } from "../src/data/columns";
import { decodeColumns, spanIdHex } from "../src/data/columns";

const FOLDER = new URL("../../../tests/data/columns/", import.meta.url);

/** Gives what an execution says in the form in which the server's tests wrote it down. */
function describeExecution({ header, spans, reasons, segments, strings }: Execution) {
  const { columns: _, span_forms: __, reason_forms: ___, ...head } = header;
  const describeReason = (r: number) => ({
    at: String(reasons.at[r]),
    message: strings.get(reasons.message[r]),
    phase: header.phases[reasons.phase[r]],
    severity: header.severities[reasons.severity[r]],
    operation: header.operations[reasons.operation[r]],
    occurrences: reasons.occurrences[r],
    source: strings.get(reasons.source[r]),
    isCut: reasons.isCut[r] === 1,
  });
  return {
    header: head,
    spans: range(0, spans.count).map((i) => ({
      name: strings.get(spans.name[i]),
      depth: spans.depth[i],
      parent: spans.parent[i],
      start: String(spans.start[i]),
      end: Number.isNaN(spans.end[i]) ? null : String(spans.end[i]),
      kind: header.kinds[spans.kind[i]],
      phase: header.phases[spans.phase[i]],
      operation: header.operations[spans.operation[i]],
      attempt: spans.attempt[i],
      qualities: header.qualities.filter((___, bit) => spans.qualities[i] & (1 << bit)),
      cache: header.cache_statuses[spans.cache[i]],
      nodeKind: header.node_kinds[spans.nodeKind[i]],
      label: spans.label[i] < 0 ? null : strings.get(spans.label[i]),
      id: spanIdHex(spans, i),
      critical: String(spans.critical[i]),
      reasons: range(spans.reasonFirst[i], spans.reasonFirst[i + 1]).map(describeReason),
    })),
    segments: range(0, segments.count).map((s) => ({
      span: segments.span[s],
      start: String(segments.start[s]),
      end: String(segments.end[s]),
      approximate: segments.approximate[s] === 1,
    })),
  };
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}

describe("what the server writes", () => {
  test.each(["everything", "random", "open"])("is read again: %s", (name) => {
    const bytes = new Uint8Array(readFileSync(new URL(`${name}.bin`, FOLDER)));
    const expected = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf-8"));
    expect(describeExecution(decodeColumns(bytes.buffer))).toEqual(expected);
  });
});
