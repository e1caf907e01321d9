/** What is under the pointer in tree mode: the row by arithmetic, the rest by binary search. */

import { type Bar, segmentAt } from "./bars";
import { closedEnd } from "./codes";
import type { Scale } from "./scale";
import { HIT_PX, type Ticks, tickAt } from "./ticks";

export interface Geometry {
  rowHeight: number;
  /** Pixels that are scrolled out above. */
  scrollTop: number;
  rowCount: number;
}

/** Row at a pixel below the top of the view; -1 where there is none. */
export function rowAt(geometry: Geometry, y: number): number {
  const row = Math.floor((y + geometry.scrollTop) / geometry.rowHeight);
  return row >= 0 && row < geometry.rowCount ? row : -1;
}

/** First row in view, and one past the last. */
export function rowsInView(geometry: Geometry, height: number): [number, number] {
  const first = Math.max(0, Math.floor(geometry.scrollTop / geometry.rowHeight));
  const end = Math.ceil((geometry.scrollTop + height) / geometry.rowHeight);
  return [Math.min(first, geometry.rowCount), Math.min(end, geometry.rowCount)];
}

export type Hit =
  | { what: "tick"; tick: number }
  | { what: "segment"; segment: number }
  | { what: "lead" }
  | { what: "bar" }
  | { what: "nothing" };

/**
 * What of a row is at a pixel. A tick goes before the bar; a bar that is too short to be hit is hit
 * as a tick is.
 *
 * @param now end of what is open
 */
export function hitRow(bar: Bar, ticks: Ticks, scale: Scale, now: number, x: number): Hit {
  const tick = tickAt(ticks, x);
  if (tick >= 0) return { what: "tick", tick };
  const time = scale.time(x);
  const end = closedEnd(bar.start, bar.end, now);
  const isPast = bar.end === Infinity && time > end;
  const segment = isPast ? -1 : segmentAt(bar, time);
  if (segment >= 0) return { what: "segment", segment };
  if (x >= scale.x(bar.start) - HIT_PX && x <= scale.x(end) + HIT_PX) {
    const near = segmentAt(bar, Math.max(bar.start, Math.min(time, end)));
    if (near >= 0) return { what: "segment", segment: near };
    return bar.count > 0 ? { what: "segment", segment: bar.count - 1 } : { what: "bar" };
  }
  if (time >= bar.leadStart && time < bar.start) return { what: "lead" };
  return { what: "nothing" };
}
