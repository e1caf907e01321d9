/** Reasons of a row as ticks: those close together become one counted cluster, which zoom splits. */

import type { Execution } from "../data/execution";
import { codesOf } from "./codes";
import { lowerBound, orderBy, upperBound } from "./order";
import type { RowTree } from "./rows";
import type { Scale } from "./scale";

/** Ticks closer than this are one. */
export const CLUSTER_PX = 4;
/** A tick is hit this far to either side. */
export const HIT_PX = 6;
/** How far back a row is looked at, so that clusters do not change while the view moves. */
const LOOK_BACK = 500;

/** Reasons of a row in the order of time. Arrays are by place in this order. */
export interface RowReasons {
  count: number;
  at: Float64Array;
  /** Number of the reason in the execution. */
  reason: Uint32Array;
  /** Places of the reasons of severity ERROR, and of WARNING, ascending. */
  errors: Int32Array;
  warnings: Int32Array;
}

/** The reasons of one revision of an execution, sorted when a row first asks for them. */
export class ReasonsOfRows {
  private readonly made = new Map<number, RowReasons>();
  private whole: Uint32Array | undefined;

  constructor(
    private readonly execution: Execution,
    private readonly tree: RowTree,
  ) {}

  /**
   * Gives the reasons of a row.
   *
   * @param withDescendants for a row that hides what it contains
   */
  of(item: number, withDescendants: boolean): RowReasons {
    const all = withDescendants || this.tree.hasChildren[item] === 0;
    const key = 2 * item + (all ? 1 : 0);
    let reasons = this.made.get(key);
    if (reasons === undefined) {
      reasons = this.collect(all ? this.below(item) : this.own(item));
      this.made.set(key, reasons);
    }
    return reasons;
  }

  /** All reasons of the execution in the order of time. */
  byTime(): Uint32Array {
    this.whole ??= orderBy(this.execution.reasons.at);
    return this.whole;
  }

  private below(item: number): Uint32Array {
    const { reasonFirst, subtreeEnd } = this.execution.spans;
    const span = this.tree.span[item];
    const first = reasonFirst[span];
    const end = reasonFirst[subtreeEnd[span]];
    if ((end - first) * 8 > this.execution.reasons.count) {
      return this.byTime().filter((reason) => reason >= first && reason < end);
    }
    return orderBy(this.execution.reasons.at.subarray(first, end)).map((place) => place + first);
  }

  private own(item: number): Uint32Array {
    const { reasonFirst, subtreeEnd } = this.execution.spans;
    const { itemOfSpan, span } = this.tree;
    const own: number[] = [];
    for (let i = span[item]; i < subtreeEnd[span[item]]; ) {
      if (itemOfSpan[i] !== item) {
        i = subtreeEnd[i];
        continue;
      }
      for (let reason = reasonFirst[i]; reason < reasonFirst[i + 1]; reason++) own.push(reason);
      i++;
    }
    const at = Float64Array.from(own, (reason) => this.execution.reasons.at[reason]);
    return orderBy(at).map((place) => own[place]);
  }

  private collect(reason: Uint32Array): RowReasons {
    const { reasons, header } = this.execution;
    const { severities } = codesOf(header);
    const errors: number[] = [];
    const warnings: number[] = [];
    const at = new Float64Array(reason.length);
    for (let place = 0; place < reason.length; place++) {
      at[place] = reasons.at[reason[place]];
      const severity = reasons.severity[reason[place]];
      if (severity === severities.error) errors.push(place);
      else if (severity === severities.warning) warnings.push(place);
    }
    return {
      count: reason.length,
      at,
      reason,
      errors: Int32Array.from(errors),
      warnings: Int32Array.from(warnings),
    };
  }
}

/** Ticks in view, from left to right, at least CLUSTER_PX apart. Arrays are by tick. */
export interface Ticks {
  count: number;
  /** Pixel of the earliest reason of the tick. */
  x: Float64Array;
  /** Places in RowReasons: from first up to, not including, end. */
  first: Int32Array;
  end: Int32Array;
  /** Place of the gravest reason; of several, the earliest. */
  worst: Int32Array;
}

/**
 * Gives the ticks of a row that are in view. Takes steps in number of ticks, not of reasons. Every
 * reason whose pixel is from 0 to the width is in one of them.
 */
export function layTicks(reasons: RowReasons, scale: Scale): Ticks {
  const x: number[] = [];
  const first: number[] = [];
  const end: number[] = [];
  const worst: number[] = [];
  const until = upperBound(reasons.at, scale.time(scale.width));
  const inView = lowerBound(reasons.at, scale.time(0));
  let place = clusterStart(reasons, scale, inView);
  while (place < until) {
    const from = scale.x(reasons.at[place]);
    let next = Math.max(place + 1, lowerBound(reasons.at, scale.time(from + CLUSTER_PX), place));
    // The way to pixels and back is not exact to the last bit.
    while (next < reasons.count && scale.x(reasons.at[next]) - from < CLUSTER_PX) next++;
    if (next > inView) {
      x.push(from);
      first.push(place);
      end.push(next);
      worst.push(gravest(reasons, place, next));
    }
    place = next;
  }
  return {
    count: x.length,
    x: Float64Array.from(x),
    first: Int32Array.from(first),
    end: Int32Array.from(end),
    worst: Int32Array.from(worst),
  };
}

/** Goes back to a reason that no cluster before it can reach, so that clusters stay while panning. */
function clusterStart(reasons: RowReasons, scale: Scale, inView: number): number {
  let place = inView;
  for (let steps = 0; place > 0 && place < reasons.count && steps < LOOK_BACK; steps++) {
    if (scale.x(reasons.at[place]) - scale.x(reasons.at[place - 1]) >= CLUSTER_PX) return place;
    place--;
  }
  return place;
}

function gravest(reasons: RowReasons, first: number, end: number): number {
  for (const places of [reasons.errors, reasons.warnings]) {
    const i = lowerBound(places, first);
    if (i < places.length && places[i] < end) return places[i];
  }
  return first;
}

/** Tick within HIT_PX of a pixel: the nearest; -1 when there is none. */
export function tickAt(ticks: Ticks, x: number): number {
  const right = lowerBound(ticks.x, x, 0, ticks.count);
  let best = -1;
  let nearest = HIT_PX;
  for (const tick of [right - 1, right]) {
    if (tick < 0 || tick >= ticks.count) continue;
    const distance = Math.abs(ticks.x[tick] - x);
    if (distance <= nearest) {
      best = tick;
      nearest = distance;
    }
  }
  return best;
}

/** Place of the reason after (1) or before (-1) a place of the row; from -1 the first or the last. */
export function stepReason(reasons: RowReasons, place: number, direction: 1 | -1): number {
  if (place < 0) return direction === 1 && reasons.count > 0 ? 0 : reasons.count - 1;
  const next = place + direction;
  return next >= 0 && next < reasons.count ? next : place;
}

/** Place of the first reason at or after a moment (1), or the last at or before it (-1); -1: none. */
export function reasonNear(reasons: RowReasons, time: number, direction: 1 | -1): number {
  if (direction === -1) return upperBound(reasons.at, time) - 1;
  const place = lowerBound(reasons.at, time);
  return place < reasons.count ? place : -1;
}
