// Everything that a frame is drawn from, and where the rows are in it.

import type { Execution } from "../data/execution";
import type { Bars, Runs } from "../model/bars";
import type { Codes } from "../model/codes";
import type { Rows, RowTree } from "../model/rows";
import type { Scale } from "../model/scale";
import type { Patterns } from "./patterns";
import type { Theme } from "./theme";

/** Height of a row in CSS pixels; also --row in tokens.css. */
export const ROW_PX = 22;
/** Height of a bar, and its distance from the top of its row. */
export const BAR_PX = 12;
export const BAR_TOP_PX = 5;

export interface Scene {
  execution: Execution;
  codes: Codes;
  tree: RowTree;
  rows: Rows;
  bars: Bars;
  scale: Scale;
  theme: Theme;
  patterns: Patterns;
  /** End of what is open. */
  now: number;
  width: number;
  height: number;
  scrollTop: number;
  /** Rows that are at least partly in view: from first up to, not including, last. */
  first: number;
  last: number;
  activeRow: number;
  /** Room for the runs of a bar, reused. */
  runs: Runs;
}

export function rowTop(scene: Scene, row: number): number {
  return row * ROW_PX - scene.scrollTop;
}

/** Where the bar of a row is, in CSS pixels of the plot; it may lie out of view. */
export interface BarBox {
  x0: number;
  x1: number;
}

const LEAST_PX = 2;
const LEAST_FAILED_PX = 3;

/** Left and right edge of a bar. However short it is, it can be seen. */
export function barBox(scene: Scene, span: number): BarBox {
  const { spans } = scene.execution;
  const x0 = scene.scale.x(spans.start[span]);
  const end = spans.end[span];
  const x1 = scene.scale.x(Number.isNaN(end) ? Math.max(scene.now, spans.start[span]) : end);
  const least = scene.codes.failed[spans.phase[span]] ? LEAST_FAILED_PX : LEAST_PX;
  return { x0, x1: Math.max(x1, x0 + least) };
}
