// Packed mode: what is in view, what is under the pointer, and the ways of the keyboard.

import { layLanes, type Lanes, type Rects } from "../model/lanes";
import { lowerBound } from "../model/order";
import { ROW_PX } from "../draw/scene";
import { select } from "./actions";
import { nameOf, spanName } from "./rowFacts";
import type { Shown, Store } from "./store";

/** Rectangles of the lanes in view. */
export function rectsInView(store: Store, lanes: Lanes): Rects {
  const scrollTop = store.scrollTop.peek();
  const from = Math.max(0, Math.floor(scrollTop / ROW_PX));
  const to = Math.min(lanes.count, Math.ceil((scrollTop + store.height.peek()) / ROW_PX));
  return layLanes(lanes, store.scale.peek(), store.now.peek(), from, Math.max(from, to));
}

/** Lane of a place. */
export function laneOf(lanes: Lanes, place: number): number {
  let lane = 0;
  while (lane + 1 < lanes.count && lanes.first[lane + 1] <= place) lane++;
  return lane;
}

/** Goes to the next span of the lane, or to the nearest in another lane. */
export function movePacked(store: Store, along: number, across: number): void {
  const lanes = store.lanes.peek();
  if (lanes === null || lanes.span.length === 0) return;
  const here = lanes.span.indexOf(store.activeSpan.peek());
  let place = here < 0 ? 0 : here;
  if (here >= 0) {
    let lane = laneOf(lanes, here);
    if (along !== 0) place = Math.max(lanes.first[lane], Math.min(lanes.first[lane + 1] - 1, here + along));
    else {
      lane = Math.max(0, Math.min(lanes.count - 1, lane + across));
      place = Math.min(lanes.first[lane + 1] - 1, lowerBound(lanes.start, lanes.start[here], lanes.first[lane], lanes.first[lane + 1]));
    }
  }
  select(store, lanes.span[place], { time: true });
  store.revealRow(laneOf(lanes, place));
}

/** Where a span is in the plot: left, right and upper edge in pixels; null when it is in no lane. */
export function packedBox(store: Store, lanes: Lanes, span: number): { x0: number; x1: number; top: number } | null {
  const place = lanes.span.indexOf(span);
  if (place < 0) return null;
  const scale = store.scale.peek();
  const start = lanes.start[place];
  const x0 = scale.x(start);
  const x1 = scale.x(Math.min(lanes.end[place], Math.max(store.now.peek(), start)));
  return { x0, x1: Math.max(x1, x0 + 2), top: laneOf(lanes, place) * ROW_PX - store.scrollTop.peek() };
}

/** Name in a lane, which already says what runs: the place of it in the run. */
export function packedName(shown: Shown, span: number): string {
  const { spans } = shown.execution;
  const name = spanName(shown, span);
  return spans.kind[span] === shown.codes.kinds.attempt ? `${nameOf(shown, spans.parent[span])} ${name}` : name;
}
