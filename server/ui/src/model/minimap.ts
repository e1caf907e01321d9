/** The whole run in a strip: how much of each group goes on, what failed, and where reasons are. */

import type { Execution } from "../data/execution";
import { GROUP, GROUP_COUNT, closedEnd, codesOf } from "./codes";
import { type Folds, NO_FOLDS, toPlace } from "./folding";
import type { View } from "./scale";

/** Arrays are by pixel column. */
export interface Minimap {
  width: number;
  /** Mean number of spans of each group that go on, by GROUP; `none` is not counted. */
  groups: Float32Array[];
  /** Greatest sum of all groups in one column; 0 when there is nothing. */
  most: number;
  /** Number of failed spans that end in the column. */
  failures: Uint32Array;
  /** Number of reasons in the column. */
  reasons: Uint32Array;
  mostReasons: number;
}

/**
 * Makes the strip in one pass over spans and reasons: each span is a difference at either end.
 *
 * Operations count without the parts that they are split into, and so does what contains nothing,
 * by its phase.
 *
 * @param width number of columns
 * @param now end of what is open
 */
export function makeMinimap(
  execution: Execution,
  view: View,
  width: number,
  now: number,
  folds: Folds = NO_FOLDS,
): Minimap {
  const { spans, reasons } = execution;
  const codes = codesOf(execution.header);
  const place0 = toPlace(folds, view.t0);
  const perNs = width / (toPlace(folds, view.t1) - place0);
  const columnOf = (time: number) => (toPlace(folds, time) - place0) * perNs;
  const sums = Array.from({ length: GROUP_COUNT }, () => new Coverage(width));
  const failures = new Uint32Array(width);
  for (let i = 0; i < spans.count; i++) {
    const isOperation = spans.kind[i] === codes.kinds.operation;
    const isLeaf = spans.subtreeEnd[i] === i + 1;
    const end = closedEnd(spans.start[i], spans.end[i], now);
    if (isOperation || isLeaf) {
      const group = isOperation
        ? codes.groupOfOperation[spans.operation[i]]
        : codes.groupOfPhase[spans.phase[i]];
      const from = columnOf(spans.start[i]);
      const to = columnOf(end);
      sums[group].add(from, to, 1);
      // A part takes its time from what it is a part of.
      const parent = spans.parent[i];
      if (isOperation && parent >= 0 && spans.kind[parent] === codes.kinds.operation) {
        sums[codes.groupOfOperation[spans.operation[parent]]].add(from, to, -1);
      }
    }
    if (codes.failed[spans.phase[i]]) count(failures, columnOf(end));
  }
  const dots = new Uint32Array(width);
  for (let i = 0; i < reasons.count; i++) count(dots, columnOf(reasons.at[i]));
  const groups = sums.map((sum) => sum.finish());
  groups[GROUP.none].fill(0);
  let most = 0;
  let mostReasons = 0;
  for (let column = 0; column < width; column++) {
    most = Math.max(most, groups.reduce((sum, group) => sum + group[column], 0));
    mostReasons = Math.max(mostReasons, dots[column]);
  }
  return { width, groups, most, failures, reasons: dots, mostReasons };
}

/** What is at the very end counts in the last column. */
function count(columns: Uint32Array, at: number): void {
  if (at >= 0 && at <= columns.length) columns[Math.min(Math.floor(at), columns.length - 1)]++;
}

/** Sum of how much of each column stretches cover, by differences: two steps for a stretch. */
class Coverage {
  private readonly whole: Float64Array;
  private readonly part: Float64Array;

  constructor(private readonly width: number) {
    this.whole = new Float64Array(width + 1);
    this.part = new Float64Array(width + 1);
  }

  add(from: number, to: number, weight: number): void {
    const first = Math.min(Math.max(from, 0), this.width);
    const last = Math.min(Math.max(to, 0), this.width);
    if (last > first) {
      this.edge(first, weight);
      this.edge(last, -weight);
    }
  }

  /** From here on: a share of this column, and all of those after. */
  private edge(at: number, weight: number): void {
    const column = Math.floor(at);
    this.part[column] += weight * (column + 1 - at);
    if (column < this.width) this.whole[column + 1] += weight;
  }

  finish(): Float32Array {
    const sums = new Float32Array(this.width);
    let going = 0;
    for (let column = 0; column < this.width; column++) {
      going += this.whole[column];
      const sum = going + this.part[column];
      sums[column] = sum > 1e-9 ? sum : 0; // differences do not always come to nought
    }
    return sums;
  }
}
