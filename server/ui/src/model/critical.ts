/** The critical path by visible rows: what is hidden in a shut row shows in that row. */

import type { Execution } from "../data/execution";
import { upperBound } from "./order";
import type { Rows, RowTree } from "./rows";

/** Stretches by row, in the order of time; neighbours that touch are one. */
export interface CriticalRows {
  /** Stretches of a row are those from first[row] up to, not including, first[row + 1]. */
  first: Int32Array;
  start: Float64Array;
  end: Float64Array;
  /** 1 where any part of the stretch rests on a guess. */
  approximate: Uint8Array;
}

/** Takes one step for each segment of the path and each row. Filtered rows take theirs with them. */
export function criticalRows(execution: Execution, tree: RowTree, rows: Rows): CriticalRows {
  const { segments } = execution;
  const rowOf = new Int32Array(segments.count);
  const counts = new Int32Array(rows.count + 1);
  const lastEnd = new Float64Array(rows.count).fill(NaN);
  for (let k = 0; k < segments.count; k++) {
    const row = rows.rowOfItem[tree.itemOfSpan[segments.span[k]]];
    rowOf[k] = row;
    if (row < 0) continue;
    if (lastEnd[row] !== segments.start[k]) counts[row + 1]++;
    lastEnd[row] = segments.end[k];
  }
  for (let row = 0; row < rows.count; row++) counts[row + 1] += counts[row];
  const total = counts[rows.count];
  const critical: CriticalRows = {
    first: counts,
    start: new Float64Array(total),
    end: new Float64Array(total),
    approximate: new Uint8Array(total),
  };
  const next = counts.slice(0, rows.count);
  for (let k = 0; k < segments.count; k++) {
    const row = rowOf[k];
    if (row < 0) continue;
    const previous = next[row] - 1;
    if (previous >= counts[row] && critical.end[previous] === segments.start[k]) {
      critical.end[previous] = segments.end[k];
      critical.approximate[previous] |= segments.approximate[k];
      continue;
    }
    const at = next[row]++;
    critical.start[at] = segments.start[k];
    critical.end[at] = segments.end[k];
    critical.approximate[at] = segments.approximate[k];
  }
  return critical;
}

/** First and one past the last stretch of a row that is in view. */
export function criticalInView(
  critical: CriticalRows,
  row: number,
  t0: number,
  t1: number,
): [number, number] {
  const { first, start, end } = critical;
  return [
    upperBound(end, t0, first[row], first[row + 1]),
    upperBound(start, t1, first[row], first[row + 1]),
  ];
}
