/** The part of time that is in view, and the way from time to pixels and back. Times are ns offsets. */

import { type Folds, NO_FOLDS, toPlace, toTime } from "./folding";

/** What is in view. */
export interface View {
  t0: number;
  t1: number;
}

/** Deepest zoom: one microsecond on a hundred pixels. */
const LEAST_NS_PER_PX = 10;
/** The whole run is shown with this share of it free at either side. */
const MARGIN = 0.01;

/** From time to pixels in one view. */
export class Scale {
  private readonly place0: number;
  private readonly perNs: number;

  /**
   * @param width in CSS pixels, above 0
   */
  constructor(
    readonly view: View,
    readonly width: number,
    readonly folds: Folds = NO_FOLDS,
  ) {
    this.place0 = toPlace(folds, view.t0);
    this.perNs = width / Math.max(toPlace(folds, view.t1) - this.place0, Number.MIN_VALUE);
  }

  /** Pixel of a moment, from 0 at the left edge of the view. Grows with time, and is not clamped. */
  x(time: number): number {
    return (toPlace(this.folds, time) - this.place0) * this.perNs;
  }

  /** Moment of a pixel: the reverse of x. */
  time(x: number): number {
    return toTime(this.folds, this.place0 + x / this.perNs);
  }

  /** Nanoseconds on one pixel, outside of folds. */
  get nsPerPx(): number {
    return 1 / this.perNs;
  }
}

/** The whole run with a little room at either side. */
export function wholeView(start: number, end: number): View {
  const length = Math.max(end - start, 1_000);
  return { t0: start - length * MARGIN, t1: start + length * (1 + MARGIN) };
}

/**
 * Zooms by a factor about a pixel, which keeps its moment.
 *
 * @param factor of the length of the view: below 1 zooms in
 * @param whole what the view cannot leave
 */
export function zoomAbout(scale: Scale, x: number, factor: number, whole: View): View {
  const { folds, width } = scale;
  const p0 = toPlace(folds, scale.view.t0);
  const length = toPlace(folds, scale.view.t1) - p0;
  const share = x / width;
  const next = clampLength(length * factor, width, folds, whole);
  const from = p0 + share * length - share * next;
  return settle(from, next, folds, whole);
}

/** Moves the view by pixels: positive ones show later times. */
export function pan(scale: Scale, dx: number, whole: View): View {
  const { folds } = scale;
  const p0 = toPlace(folds, scale.view.t0);
  const length = toPlace(folds, scale.view.t1) - p0;
  return settle(p0 + dx * scale.nsPerPx, length, folds, whole);
}

/**
 * Shows a stretch of time with some room at either side, however short it is.
 *
 * @param margin share of the stretch that stays free at either side
 */
export function showRange(
  t0: number,
  t1: number,
  width: number,
  folds: Folds,
  whole: View,
  margin = 0.05,
): View {
  const p0 = toPlace(folds, t0);
  const wanted = (toPlace(folds, t1) - p0) * (1 + 2 * margin);
  const length = clampLength(wanted, width, folds, whole);
  return settle(p0 - (length - wanted / (1 + 2 * margin)) / 2, length, folds, whole);
}

/** Makes any two numbers a view: in order, inside of the whole, and not shorter than the deepest zoom. */
export function clampView(view: View, width: number, folds: Folds, whole: View): View {
  const t0 = Number.isFinite(view.t0) ? view.t0 : whole.t0;
  const t1 = Number.isFinite(view.t1) ? view.t1 : whole.t1;
  const p0 = toPlace(folds, Math.min(t0, t1));
  const length = toPlace(folds, Math.max(t0, t1)) - p0;
  const clamped = clampLength(length, width, folds, whole);
  if (clamped === length && t0 >= whole.t0 && t1 <= whole.t1 && t0 < t1) return { t0, t1 };
  return settle(p0, clamped, folds, whole);
}

function clampLength(length: number, width: number, folds: Folds, whole: View): number {
  const all = toPlace(folds, whole.t1) - toPlace(folds, whole.t0);
  return Math.min(Math.max(length, LEAST_NS_PER_PX * width), all);
}

/** Moves a view into the whole. */
function settle(from: number, length: number, folds: Folds, whole: View): View {
  const first = toPlace(folds, whole.t0);
  const last = toPlace(folds, whole.t1);
  const at = Math.max(first, Math.min(from, last - length));
  const t1 = length >= last - first ? whole.t1 : toTime(folds, at + length);
  return { t0: at === first ? whole.t0 : toTime(folds, at), t1 };
}
