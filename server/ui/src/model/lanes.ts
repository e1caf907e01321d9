/**
 * Packed mode: spans side by side in lanes, by what they run. In a lane what falls into
 * one pixel column becomes one rectangle: the longest has it, but what failed or still runs goes
 * before all others, so that no zoom hides a failure.
 */

import type { Execution } from "../data/execution";
import { closedEnd, codesOf, endOf } from "./codes";
import { lowerBound, orderBy, upperBound } from "./order";
import type { RowTree } from "./rows";
import type { Scale } from "./scale";

/** Length of the stretches whose longest span is known beforehand. */
const BLOCK = 64;

/** Arrays are by lane, or by place in `span`. */
export interface Lanes {
  count: number;
  /** Places of a lane are those from first[lane] up to, not including, first[lane + 1]. */
  first: Uint32Array;
  /** Index of the string that names the task. */
  key: Int32Array;
  /** Spans by lane, in the order of start. */
  span: Uint32Array;
  start: Float64Array;
  /** Infinity while open. Ascending in a lane, for spans of one lane do not overlap. */
  end: Float64Array;
  /** 2 for what failed, 1 for what is open, 0 for the rest. */
  rank: Uint8Array;
  /** Places of what failed, and of what is open and did not fail; ascending. */
  failed: Uint32Array;
  open: Uint32Array;
  /** Place of the longest in each block of 64 places. */
  longest: Uint32Array;
}

/**
 * Puts nodes that contain no nodes, their attempts and sub-tasks into lanes, each into the uppermost lane of its task that
 * is free: as many lanes as go on at once. Tasks are in the order in which they first start.
 */
export function makeLanes(execution: Execution, tree: RowTree): Lanes {
  const { spans } = execution;
  const codes = codesOf(execution.header);
  const keys = taskKeys(execution, tree);
  const order = orderBy(Float64Array.from(tree.span, (span) => spans.start[span]));
  const ofKey = new Map<number, Packer>();
  for (const item of order) {
    if (keys[item] < 0) continue;
    let packer = ofKey.get(keys[item]);
    if (packer === undefined) ofKey.set(keys[item], (packer = new Packer()));
    const span = tree.span[item];
    packer.add(span, spans.start[span], endOf(execution, span, Infinity));
  }
  const all = [...ofKey].flatMap(([key, { lanes }]) => lanes.map((lane) => ({ key, lane })));
  const total = all.reduce((sum, { lane }) => sum + lane.length, 0);
  const lanes: Lanes = {
    count: all.length,
    first: new Uint32Array(all.length + 1),
    key: Int32Array.from(all, ({ key }) => key),
    span: new Uint32Array(total),
    start: new Float64Array(total),
    end: new Float64Array(total),
    rank: new Uint8Array(total),
    failed: new Uint32Array(0),
    open: new Uint32Array(0),
    longest: new Uint32Array(Math.ceil(total / BLOCK)),
  };
  let place = 0;
  for (const [number, { lane }] of all.entries()) {
    for (const span of lane) {
      const end = endOf(execution, span, Infinity);
      lanes.span[place] = span;
      lanes.start[place] = spans.start[span];
      lanes.end[place] = end;
      lanes.rank[place] = codes.failed[spans.phase[span]] ? 2 : end === Infinity ? 1 : 0;
      place++;
    }
    lanes.first[number + 1] = place;
  }
  const places = Uint32Array.from({ length: total }, (_, i) => i);
  lanes.failed = places.filter((i) => lanes.rank[i] === 2);
  lanes.open = places.filter((i) => lanes.rank[i] === 1);
  for (let i = 0; i < total; i++) {
    const block = Math.floor(i / BLOCK);
    if (i % BLOCK === 0 || lengthOf(lanes, i) > lengthOf(lanes, lanes.longest[block])) lanes.longest[block] = i;
  }
  return lanes;
}

/** Gives spans that come in the order of start the uppermost lane that is free. */
class Packer {
  readonly lanes: number[][] = [];
  private readonly busy = new Heap(); // lanes by the end of their last span
  private readonly free = new Heap();

  add(span: number, start: number, end: number): void {
    while (this.busy.least <= start) {
      const lane = this.busy.pop();
      this.free.push(lane, lane);
    }
    const lane = this.free.least < Infinity ? this.free.pop() : this.lanes.push([]) - 1;
    this.lanes[lane].push(span);
    this.busy.push(end, lane);
  }
}

/** Values by key, the least first. */
class Heap {
  private readonly items: [key: number, value: number][] = [];

  /** Least key; Infinity when it is empty. */
  get least(): number {
    return this.items.length > 0 ? this.items[0][0] : Infinity;
  }

  push(key: number, value: number): void {
    const { items } = this;
    let at = items.push([key, value]) - 1;
    for (let above = (at - 1) >> 1; at > 0 && items[above][0] > key; above = (at - 1) >> 1) {
      [items[above], items[at]] = [items[at], items[above]];
      at = above;
    }
  }

  /** Takes the value of the least key out. Not to be called when it is empty. */
  pop(): number {
    const { items } = this;
    const least = items[0][1];
    const last = items.pop()!;
    if (items.length === 0) return least;
    items[0] = last;
    for (let at = 0; ; ) {
      let next = 2 * at + 1;
      if (next + 1 < items.length && items[next + 1][0] < items[next][0]) next++;
      if (next >= items.length || items[next][0] >= items[at][0]) return least;
      [items[at], items[next]] = [items[next], items[at]];
      at = next;
    }
  }
}

/** Name of what the node of an item runs, or of the node; -1 for what contains nodes. */
function taskKeys(execution: Execution, tree: RowTree): Int32Array {
  const { spans } = execution;
  const { node, execution: executionKind } = codesOf(execution.header).kinds;
  const keys = new Int32Array(tree.count).fill(-1);
  const containsNodes = new Uint8Array(tree.count);
  for (let item = tree.count - 1; item > 0; item--) {
    const kind = spans.kind[tree.span[item]];
    if (kind === node || kind === executionKind) containsNodes[tree.parent[item]] = 1;
  }
  for (let item = 0; item < tree.count; item++) {
    const span = tree.span[item];
    if (spans.kind[span] === node) {
      if (containsNodes[item]) continue;
      keys[item] = spans.label[span] >= 0 ? spans.label[span] : spans.name[span];
    } else if (spans.kind[span] !== executionKind && item > 0) keys[item] = keys[tree.parent[item]];
  }
  return keys;
}

/** Rectangles of one view, lane by lane, from left to right. */
export interface Rects {
  count: number;
  lane: number[];
  x0: number[];
  x1: number[];
  /** The span that has the rectangle. */
  span: number[];
  /** Number of spans in it. */
  merged: number[];
}

/**
 * Gives the rectangles in view: no more than pixel columns for each lane. Rectangles of one lane do
 * not overlap.
 *
 * @param now end of what is open
 * @param from first lane, and
 * @param to one past the last lane that is in view
 */
export function layLanes(lanes: Lanes, scale: Scale, now: number, from = 0, to = lanes.count): Rects {
  const rects: Rects = { count: 0, lane: [], x0: [], x1: [], span: [], merged: [] };
  const { width } = scale;
  const t0 = scale.time(0);
  const t1 = scale.time(width);
  for (let lane = from; lane < to; lane++) {
    const end = lanes.first[lane + 1];
    let place = upperBound(lanes.end, t0, lanes.first[lane], end);
    while (place < end && lanes.start[place] < t1) {
      const x0 = Math.max(0, scale.x(lanes.start[place]));
      const column = Math.floor(x0) + 1;
      let next = Math.max(place + 1, lowerBound(lanes.start, scale.time(column), place, end));
      // The way to pixels and back is not exact to the last bit.
      while (next < end && scale.x(lanes.start[next]) < column) next++;
      const last = next - 1;
      const best = last === place ? place : chooseOf(lanes, place, next);
      const until = endPx(lanes, scale, now, last);
      const isLong = until >= column + 1; // else less than a column is lost
      addRect(rects, lane, x0, Math.min(width, best === last ? Math.max(until, x0) : column), lanes.span[best], next - place);
      // What goes on after the column is not hidden by what failed in it.
      if (best !== last && isLong && column < width) {
        addRect(rects, lane, column, Math.min(width, until), lanes.span[last], 1);
      }
      place = next;
    }
  }
  return rects;
}

/** Rectangle of a lane at a pixel, or the nearest within `slack` pixels; -1 when there is none. */
export function rectAt(rects: Rects, lane: number, x: number, slack = 3): number {
  let best = -1;
  let nearest = slack;
  const end = upperBound(rects.lane, lane);
  for (let i = lowerBound(rects.lane, lane); i < end && rects.x0[i] <= x + slack; i++) {
    const distance = Math.max(rects.x0[i] - x, x - rects.x1[i], 0);
    if (distance < nearest || (distance === nearest && best < 0)) {
      best = i;
      nearest = distance;
    }
  }
  return best;
}

function addRect(rects: Rects, lane: number, x0: number, x1: number, span: number, merged: number): void {
  rects.lane.push(lane);
  rects.x0.push(x0);
  rects.x1.push(x1);
  rects.span.push(span);
  rects.merged.push(merged);
  rects.count++;
}

function endPx(lanes: Lanes, scale: Scale, now: number, place: number): number {
  return scale.x(closedEnd(lanes.start[place], lanes.end[place], now));
}

/** The first that failed, else the first that is open, else the longest. */
function chooseOf(lanes: Lanes, from: number, to: number): number {
  for (const places of [lanes.failed, lanes.open]) {
    const i = lowerBound(places, from);
    if (i < places.length && places[i] < to) return places[i];
  }
  let best = from;
  for (let i = from; i < to; ) {
    const block = i / BLOCK;
    const isWhole = i % BLOCK === 0 && i + BLOCK <= to;
    const candidate = isWhole ? lanes.longest[block] : i;
    if (lengthOf(lanes, candidate) > lengthOf(lanes, best)) best = candidate;
    i += isWhole ? BLOCK : 1;
  }
  return best;
}

function lengthOf(lanes: Lanes, place: number): number {
  return lanes.end[place] - lanes.start[place];
}
