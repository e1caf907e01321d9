/**
 * What the bar of a row is painted with: stretches of one group and operation, from everything that
 * lies in the span. A bar is the same whether its row is open or shut, so that opening a row
 * changes nothing above it.
 *
 * Where work is parallel, a moment belongs to runtime if anything runs, else to set-up, teardown and
 * waiting, in this order. Inside the group it belongs to the one operation that goes on, or to
 * SEVERAL. Parts of a set-up go before the set-up. What contains nothing and is no operation counts
 * by its phase. What is left of the span belongs to the group `none`: no event explains it.
 */

import type { Execution } from "../data/execution";
import { type Codes, GROUP, GROUP_COUNT, closedEnd, codesOf } from "./codes";
import { orderBy, upperBound } from "./order";
import type { RowTree } from "./rows";
import type { Scale } from "./scale";

/** In place of an operation: more than one goes on. */
export const SEVERAL = 255;

/** A stretch of a bar that is one attempt, or the whole bar. */
export interface Piece {
  span: number;
  start: number;
  /** Infinity while open. */
  end: number;
  phase: number;
  attempt: number;
}

export interface Bar {
  span: number;
  start: number;
  /** Infinity while open. */
  end: number;
  phase: number;
  /** Whether the result of the node was taken from the cache. */
  isCached: boolean;
  /** Start of the way from the node before, which ends where the bar starts; NaN without one. */
  leadStart: number;
  /** The attempts if there are several, with gaps between; else the whole bar. */
  pieces: Piece[];
  /** Number of segments. They are in the order of time, do not overlap, and cover the bar. */
  count: number;
  segmentStart: Float64Array;
  /** Infinity while open. */
  segmentEnd: Float64Array;
  group: Uint8Array;
  /** Number of the operation; 0 where none is known, SEVERAL where several go on. */
  operation: Uint8Array;
}

/** The bars of one revision of an execution, each made when it is first asked for. */
export class Bars {
  private readonly codes: Codes;
  private readonly made = new Map<number, Bar>();
  private readonly leads = new Map<number, Map<number, number>>();
  private whole: { starts: Uint32Array; ends: Uint32Array } | undefined;

  constructor(
    private readonly execution: Execution,
    private readonly tree: RowTree,
  ) {
    this.codes = codesOf(execution.header);
  }

  of(item: number): Bar {
    let bar = this.made.get(item);
    if (bar === undefined) {
      bar = this.make(this.tree.span[item]);
      this.made.set(item, bar);
    }
    return bar;
  }

  private make(span: number): Bar {
    const { spans } = this.execution;
    const { starts, ends } = this.painters(span);
    const start = spans.start[span];
    const end = openEnd(spans.end[span]);
    return {
      span,
      start,
      end,
      phase: spans.phase[span],
      isCached: this.codes.cacheHit >= 0 && spans.cache[span] === this.codes.cacheHit,
      leadStart: this.leadStart(span),
      pieces: this.pieces(span),
      ...paint(this.execution, this.codes, starts, ends, start, end),
    };
  }

  /** What paints a bar, in the order of start and in that of end. */
  private painters(span: number): { starts: Uint32Array; ends: Uint32Array } {
    const { spans } = this.execution;
    const until = spans.subtreeEnd[span];
    const isIn = (i: number) => i >= span && i < until && this.paints(i);
    if ((until - span) * 8 > spans.count) {
      this.whole ??= { starts: orderBy(spans.start), ends: orderBy(spans.end) };
      return { starts: this.whole.starts.filter(isIn), ends: this.whole.ends.filter(isIn) };
    }
    const from = span;
    return {
      starts: orderBy(spans.start.subarray(from, until)).map((i) => i + from).filter(isIn),
      ends: orderBy(spans.end.subarray(from, until)).map((i) => i + from).filter(isIn),
    };
  }

  /** Operations and what contains nothing, unless it is without length. */
  private paints(i: number): boolean {
    const { kind, subtreeEnd, start, end } = this.execution.spans;
    const isPainter = kind[i] === this.codes.kinds.operation || subtreeEnd[i] === i + 1;
    return isPainter && start[i] !== end[i];
  }

  private pieces(span: number): Piece[] {
    const { spans } = this.execution;
    const pieces: Piece[] = [];
    for (let i = span + 1; i < spans.subtreeEnd[span]; i = spans.subtreeEnd[i]) {
      if (spans.kind[i] === this.codes.kinds.attempt) pieces.push(this.piece(i));
    }
    return pieces.length > 1 ? pieces : [this.piece(span)];
  }

  private piece(span: number): Piece {
    const { start, end, phase, attempt } = this.execution.spans;
    return { span, start: start[span], end: openEnd(end[span]), phase: phase[span], attempt: attempt[span] };
  }

  /** The transition to a node stands beside it and ends where it starts; of several, the shortest. */
  private leadStart(span: number): number {
    const { spans } = this.execution;
    const parent = spans.parent[span];
    if (parent < 0 || spans.kind[span] !== this.codes.kinds.node) return NaN;
    let leads = this.leads.get(parent);
    if (leads === undefined) {
      leads = new Map();
      for (let i = parent + 1; i < spans.subtreeEnd[parent]; i = spans.subtreeEnd[i]) {
        if (spans.operation[i] !== this.codes.operations.nodeTransition) continue;
        const known = leads.get(spans.end[i]);
        if (known === undefined || known < spans.start[i]) leads.set(spans.end[i], spans.start[i]);
      }
      this.leads.set(parent, leads);
    }
    return leads.get(spans.start[span]) ?? NaN;
  }
}

type Painted = Pick<Bar, "count" | "segmentStart" | "segmentEnd" | "group" | "operation">;

/** Groups from the one that a moment belongs to first. */
const PRIORITY = [GROUP.runtime, GROUP.setup, GROUP.teardown, GROUP.waiting];

/** Operations that go on, by group: how many of each, and which if it is only one. */
class Going {
  private readonly count = new Uint32Array(256);
  private readonly distinct = new Uint32Array(GROUP_COUNT);
  private readonly sum = new Uint32Array(GROUP_COUNT);

  change(group: number, operation: number, by: 1 | -1): void {
    const before = this.count[operation];
    this.count[operation] = before + by;
    if (before + by === (by === 1 ? 1 : 0)) {
      this.distinct[group] += by;
      this.sum[group] += by * operation;
    }
  }

  /** The operation that goes on, SEVERAL, or 0. */
  which(group: number): number {
    return this.distinct[group] > 1 ? SEVERAL : this.sum[group];
  }
}

function paint(
  execution: Execution,
  codes: Codes,
  starts: Uint32Array,
  ends: Uint32Array,
  from: number,
  until: number,
): Painted {
  const { spans } = execution;
  const active = new Uint32Array(GROUP_COUNT);
  const parts = new Going();
  const wholes = new Going();
  const segments = new SegmentList(2 * starts.length + 2);
  const change = (i: number, by: 1 | -1) => {
    const operation = spans.operation[i];
    const isOperation = spans.kind[i] === codes.kinds.operation;
    const group = isOperation ? codes.groupOfOperation[operation] : codes.groupOfPhase[spans.phase[i]];
    active[group] += by;
    if (isOperation) (spans.subtreeEnd[i] === i + 1 ? parts : wholes).change(group, operation, by);
  };
  let started = 0;
  let ended = 0;
  let now = starts.length > 0 ? Math.min(from, spans.start[starts[0]]) : from;
  while (now < Infinity) {
    // What ends now started before, for none of them is without length.
    while (ended < ends.length && spans.end[ends[ended]] <= now) change(ends[ended++], -1);
    while (started < starts.length && spans.start[starts[started]] <= now) change(starts[started++], 1);
    let next = now < from ? from : now < until ? until : Infinity;
    if (started < starts.length) next = Math.min(next, spans.start[starts[started]]);
    if (ended < ends.length) next = Math.min(next, openEnd(spans.end[ends[ended]]));
    const group = PRIORITY.find((each) => active[each] > 0) ?? GROUP.none;
    if (group !== GROUP.none || (now >= from && now < until)) {
      segments.add(now, next, group, parts.which(group) || wholes.which(group));
    }
    now = next;
  }
  return segments.finish();
}

/** Collects segments; neighbours of one group and operation become one. */
class SegmentList {
  private count = 0;
  private readonly start: Float64Array;
  private readonly end: Float64Array;
  private readonly group: Uint8Array;
  private readonly operation: Uint8Array;

  constructor(capacity: number) {
    this.start = new Float64Array(capacity);
    this.end = new Float64Array(capacity);
    this.group = new Uint8Array(capacity);
    this.operation = new Uint8Array(capacity);
  }

  add(start: number, end: number, group: number, operation: number): void {
    const last = this.count - 1;
    if (
      last >= 0 &&
      this.end[last] === start &&
      this.group[last] === group &&
      this.operation[last] === operation
    ) {
      this.end[last] = end;
      return;
    }
    this.start[this.count] = start;
    this.end[this.count] = end;
    this.group[this.count] = group;
    this.operation[this.count] = operation;
    this.count++;
  }

  finish(): Painted {
    const { count } = this;
    return {
      count,
      segmentStart: this.start.slice(0, count),
      segmentEnd: this.end.slice(0, count),
      group: this.group.slice(0, count),
      operation: this.operation.slice(0, count),
    };
  }
}

/** What to paint, in pixels: never more than two runs on one pixel column. */
export interface Runs {
  count: number;
  x0: Float64Array;
  x1: Float64Array;
  group: Uint8Array;
  operation: Uint8Array;
}

export function makeRuns(width: number): Runs {
  const capacity = 2 * Math.ceil(width) + 4;
  return {
    count: 0,
    x0: new Float64Array(capacity),
    x1: new Float64Array(capacity),
    group: new Uint8Array(capacity),
    operation: new Uint8Array(capacity),
  };
}

/**
 * Writes the runs of a bar that are in view. Where several segments end in one pixel column, the one
 * at its middle has it. Takes a few steps for each pixel column, however many segments there are.
 *
 * @param now end of what is open
 * @param runs made for the width of the scale; reused
 */
export function layRuns(bar: Bar, scale: Scale, now: number, runs: Runs): void {
  const { segmentStart, segmentEnd, count } = bar;
  const { width } = scale;
  runs.count = 0;
  let i = upperBound(segmentEnd, scale.time(0), 0, count);
  let x = -Infinity;
  while (i < count && x < width) {
    const begins = Math.max(scale.x(segmentStart[i]), 0, x);
    const ends = Math.min(scale.x(closedEnd(segmentStart[i], segmentEnd[i], now)), width);
    if (begins >= width) break;
    const column = Math.floor(begins) + 1;
    if (ends >= column || i === count - 1) {
      if (ends > begins) addRun(runs, begins, ends, bar, i);
      x = ends;
      i++;
      continue;
    }
    const middle = upperBound(segmentStart, scale.time(column - 0.5), i, count) - 1;
    const past = upperBound(segmentEnd, scale.time(column), i, count);
    const last = past < count && segmentStart[past] < scale.time(column) ? past : Math.max(i, past - 1);
    const until = Math.min(column, scale.x(closedEnd(segmentStart[last], segmentEnd[last], now)));
    if (until > begins) addRun(runs, begins, until, bar, Math.max(i, middle));
    x = until;
    i = Math.max(past, i + 1);
  }
}

function addRun(runs: Runs, x0: number, x1: number, bar: Bar, segment: number): void {
  const last = runs.count - 1;
  const group = bar.group[segment];
  const operation = bar.operation[segment];
  if (
    last >= 0 &&
    runs.x1[last] >= x0 &&
    runs.group[last] === group &&
    runs.operation[last] === operation
  ) {
    runs.x1[last] = x1;
    return;
  }
  if (runs.count === runs.x0.length) return;
  runs.x0[runs.count] = x0;
  runs.x1[runs.count] = x1;
  runs.group[runs.count] = group;
  runs.operation[runs.count] = operation;
  runs.count++;
}

/** Segment of a bar at a moment; -1 where there is none. */
export function segmentAt(bar: Bar, time: number): number {
  const i = upperBound(bar.segmentStart, time, 0, bar.count) - 1;
  return i >= 0 && time < bar.segmentEnd[i] ? i : -1;
}

/** From where to where a row is painted: the bar, and what of its span lies before or behind it; up to `now` while open. */
export function reachOf(bar: Bar, now: number): [start: number, end: number] {
  const last = bar.count - 1;
  const end = closedEnd(bar.start, bar.end, now);
  if (last < 0) return [bar.start, end];
  const paintedEnd = closedEnd(bar.segmentStart[last], bar.segmentEnd[last], now);
  return [Math.min(bar.start, bar.segmentStart[0]), Math.max(end, paintedEnd)];
}

function openEnd(end: number): number {
  return Number.isNaN(end) ? Infinity : end;
}
