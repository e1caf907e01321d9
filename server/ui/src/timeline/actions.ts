// What the reader can do in the timeline, whether by key, button or mouse.

import { batch } from "@preact/signals";
import { endOf } from "../model/codes";
import { Collapse } from "../model/collapse";
import { formatDuration } from "../model/format";
import { parentRow, ROW_OPEN, ROW_SHUT } from "../model/rows";
import { pan, showRange, zoomAbout } from "../model/scale";
import { phaseWords, plural } from "../model/words";
import { ROW_PX } from "../draw/scene";
import { nameOf } from "./rowFacts";
import type { Store } from "./store";

export const ZOOM_STEP = 1.5;

/** Zooms about a pixel of the plot; without one about the middle of the view. */
export function zoom(store: Store, factor: number, x?: number): void {
  const scale = store.scale.peek();
  store.follow.value = false;
  store.setView(zoomAbout(scale, x ?? scale.width / 2, factor, store.whole.peek()));
}

export function panBy(store: Store, dx: number): void {
  if (dx === 0) return;
  store.follow.value = false;
  store.setView(pan(store.scale.peek(), dx, store.whole.peek()));
}

export function showTime(store: Store, t0: number, t1: number, margin = 0): void {
  const { width, folds } = store.scale.peek();
  store.setView(showRange(t0, t1, width, folds, store.whole.peek(), margin));
}

export function showAll(store: Store): void {
  store.setView(store.whole.peek());
}

/** Fits the view to the span that has the keyboard. */
export function fitActive(store: Store): void {
  const span = store.activeSpan.peek();
  const { execution } = store.shown.peek();
  if (span >= 0) showTime(store, execution.spans.start[span], endOf(execution, span, store.now.peek()), 0.05);
}

/** Says in words which span this is. */
export function describeSpan(store: Store, span: number): string {
  const shown = store.shown.peek();
  const { execution } = shown;
  const { spans, header } = execution;
  const phase = phaseWords(header.phases[spans.phase[span]]).text.toLowerCase();
  const length = formatDuration(endOf(execution, span, store.now.peek()) - spans.start[span]);
  const reasons = spans.reasonFirst[spans.subtreeEnd[span]] - spans.reasonFirst[span];
  return `${nameOf(shown, span)}, ${phase}, ${length}${reasons === 0 ? "" : `, ${plural(reasons, "reason")}`}`;
}

export interface SelectOptions {
  /** Whether its row is to be scrolled into view, and what hides it opened. */
  reveal?: boolean;
  /** Whether its time is to be brought into view. */
  time?: boolean;
  quiet?: boolean;
}

/** Gives the keyboard to a span, and selects it. */
export function select(store: Store, span: number, options: SelectOptions = {}): void {
  if (span < 0) return;
  const { execution, tree } = store.shown.peek();
  const id = store.idOf(span);
  batch(() => {
    store.active.value = id;
    store.state.sel.value = id;
    store.reason.value = -1;
    if (options.reveal) store.state.collapse.value = store.state.collapse.peek().expandTo(tree, span);
  });
  if (options.reveal) store.revealRow(store.activeRow.peek());
  if (options.time) bringIntoView(store, execution.spans.start[span], endOf(execution, span, store.now.peek()));
  if (!options.quiet) store.say(describeSpan(store, span));
}

/** Moves the view, and keeps its length, so that at least the start of a stretch can be seen. */
export function bringIntoView(store: Store, t0: number, t1: number): void {
  const scale = store.scale.peek();
  const x0 = scale.x(t0);
  const x1 = scale.x(t1);
  if (x1 >= 0 && x0 <= scale.width - 1 && (x0 >= 0 || x1 > 8)) return;
  panBy(store, x0 - scale.width * 0.2);
}

/** Goes up or down by rows. */
export function moveRows(store: Store, by: number): void {
  const last = store.rows.peek().count - 1;
  const row = store.activeRow.peek();
  goToRow(store, row < 0 ? (by > 0 ? 0 : last) : Math.max(0, Math.min(last, row + by)));
}

export function goToRow(store: Store, row: number): void {
  const rows = store.rows.peek();
  if (row < 0 || row >= rows.count) return;
  select(store, rows.span[row]);
  store.revealRow(row);
}

export function pageRows(store: Store): number {
  return Math.max(1, Math.floor(store.height.peek() / ROW_PX) - 1);
}

/** Opens or shuts what a row contains. */
export function setOpen(store: Store, row: number, open: boolean): void {
  const { collapse } = store.state;
  collapse.value = collapse.peek().set(store.shown.peek().tree, [store.rows.peek().item[row]], open);
}

/** Right arrow: opens, or goes to the first row inside. */
export function goInside(store: Store): void {
  const rows = store.rows.peek();
  const row = store.activeRow.peek();
  if (rows.state[row] === ROW_SHUT) setOpen(store, row, true);
  else if (rows.state[row] === ROW_OPEN) goToRow(store, row + 1);
}

/** Left arrow: shuts, or goes to the row around. */
export function goOutside(store: Store): void {
  const rows = store.rows.peek();
  const row = store.activeRow.peek();
  if (rows.state[row] === ROW_OPEN) setOpen(store, row, false);
  else if (row >= 0) goToRow(store, parentRow(store.shown.peek().tree, rows, row));
}

export function setAllOpen(store: Store, open: boolean): void {
  const all = new Collapse(open ? "open" : "shut");
  // With everything shut the root alone would be left: what it contains is what people came for.
  store.state.collapse.value = all.set(store.shown.peek().tree, [0], true);
  store.say(plural(store.rows.peek().count, "row"));
  store.revealRow(store.activeRow.peek());
}

/** Selects the next span that failed, in the order of rows whether they are shown or not. */
export function goToFailure(store: Store, step: 1 | -1): void {
  const { execution, tree, codes } = store.shown.peek();
  const { spans } = execution;
  const here = store.activeSpan.peek();
  let item = here < 0 ? (step > 0 ? -1 : tree.count) : tree.itemOfSpan[here];
  for (let tried = 0; tried < tree.count; tried++) {
    item = (item + step + tree.count) % tree.count;
    if (codes.failed[spans.phase[tree.span[item]]]) {
      select(store, tree.span[item], { reveal: true, time: true });
      return;
    }
  }
  store.say("Nothing failed");
}
