/**
 * Folding of idle hours: long stretches in which nothing happens become short, and time maps there
 * and back. Folded time is called place; without folds place and time are the same.
 */

import type { Execution } from "../data/execution";
import { codesOf, endOf } from "./codes";
import { orderBy, upperBound } from "./order";

/** Every fold is this share of what is left of the run, so that all look the same. */
const FOLD_SHARE = 0.015;

export interface Folds {
  count: number;
  /** Bounds of the folded stretches in time, ascending, without overlap. */
  start: Float64Array;
  end: Float64Array;
  /** Place of each start, and length in place, the same for all. */
  place: Float64Array;
  length: number;
}

export const NO_FOLDS: Folds = {
  count: 0,
  start: new Float64Array(0),
  end: new Float64Array(0),
  place: new Float64Array(0),
  length: 0,
};

/**
 * Finds the stretches in which nothing begins, ends or has a reason, and in which nothing but waits
 * goes on, that are longer than a share of the run.
 *
 * @param now end of what is open
 * @param share of the run, above 0 and below 1
 */
export function findFolds(execution: Execution, now: number, share = 0.1): Folds {
  const { spans, reasons } = execution;
  const working = workIntervals(execution, now);
  const marks = new Float64Array(2 * spans.count + reasons.count);
  let count = 0;
  for (let i = 0; i < spans.count; i++) {
    marks[count++] = spans.start[i];
    if (spans.end[i] === spans.end[i]) marks[count++] = spans.end[i];
  }
  marks.set(reasons.at, count);
  const moments = marks.subarray(0, count + reasons.count).sort();
  if (moments.length === 0) return NO_FOLDS;
  const from = moments[0];
  const until = Math.max(now, moments[moments.length - 1]);
  const least = (until - from) * share;
  const start: number[] = [];
  const end: number[] = [];
  for (let i = 0; i < moments.length; i++) {
    const begins = moments[i];
    const ends = i + 1 < moments.length ? moments[i + 1] : until;
    if (ends - begins > least && !isWorking(working, begins, ends)) {
      start.push(begins);
      end.push(ends);
    }
  }
  return makeFolds(start, end, until - from);
}

/**
 * Makes folds of given stretches.
 *
 * @param start ascending
 * @param end of each, after its start and not after the next start
 * @param wholeNs length of the run
 */
export function makeFolds(start: ArrayLike<number>, end: ArrayLike<number>, wholeNs: number): Folds {
  const count = start.length;
  if (count === 0) return NO_FOLDS;
  let left = wholeNs;
  for (let i = 0; i < count; i++) left -= end[i] - start[i];
  let length = Math.max(1, left * FOLD_SHARE);
  for (let i = 0; i < count; i++) length = Math.min(length, end[i] - start[i]);
  const place = new Float64Array(count);
  let saved = 0;
  for (let i = 0; i < count; i++) {
    place[i] = start[i] - saved;
    saved += end[i] - start[i] - length;
  }
  return { count, start: Float64Array.from(start), end: Float64Array.from(end), place, length };
}

/** Place of a moment. Grows with time everywhere. */
export function toPlace(folds: Folds, time: number): number {
  const i = upperBound(folds.start, time) - 1;
  if (i < 0) return time;
  const { start, end, place, length } = folds;
  if (time >= end[i]) return place[i] + length + (time - end[i]);
  return place[i] + ((time - start[i]) / (end[i] - start[i])) * length;
}

/** Moment of a place: the reverse of toPlace. */
export function toTime(folds: Folds, at: number): number {
  const i = upperBound(folds.place, at) - 1;
  if (i < 0) return at;
  const { start, end, place, length } = folds;
  const into = at - place[i];
  if (into >= length) return end[i] + (into - length);
  return start[i] + (into / length) * (end[i] - start[i]);
}

/** Merged stretches in which something goes on that is no wait: by operations, and what contains none. */
function workIntervals(execution: Execution, now: number): { start: Float64Array; end: Float64Array } {
  const { spans } = execution;
  const codes = codesOf(execution.header);
  const isIdle = execution.header.operations.map((name) => IDLE.has(name));
  const starts: number[] = [];
  const ends: number[] = [];
  const working: number[] = [];
  for (let i = 0; i < spans.count; i++) {
    if (spans.subtreeEnd[i] > i + 1) continue;
    const waits =
      spans.kind[i] === codes.kinds.operation
        ? isIdle[spans.operation[i]]
        : IDLE_PHASES.has(execution.header.phases[spans.phase[i]]);
    if (!waits) working.push(i);
  }
  for (const place of orderBy(Float64Array.from(working, (i) => spans.start[i]))) {
    const i = working[place];
    const end = endOf(execution, i, now);
    const last = ends.length - 1;
    if (last >= 0 && spans.start[i] <= ends[last]) ends[last] = Math.max(ends[last], end);
    else {
      starts.push(spans.start[i]);
      ends.push(end);
    }
  }
  return { start: Float64Array.from(starts), end: Float64Array.from(ends) };
}

/** Operations and phases in which nobody works: somebody or something is waited for. */
const IDLE = new Set([
  ...["NODE_IDLE", "NODE_RESET", "NODE_TRANSITION", "QUEUED", "WAITING_FOR_RESOURCES", "SCHEDULING"],
  ...["SCALE_UP", "QUOTA_WAIT", "CACHE_RESERVATION", "IMAGE_PULL_BACKOFF", "CRASH_BACKOFF"],
]);
const IDLE_PHASES = new Set(["PAUSED", "QUEUED", "WAITING_FOR_RESOURCES", "SKIPPED"]);

function isWorking(
  working: { start: Float64Array; end: Float64Array },
  from: number,
  until: number,
): boolean {
  const i = upperBound(working.end, from);
  return i < working.start.length && working.start[i] < until;
}
