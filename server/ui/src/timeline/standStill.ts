// What is in view stands still when late events change what times and rows are counted from.

import { batch, effect, untracked, type ReadonlySignal, type Signal } from "@preact/signals";
import { spanIdHex } from "../data/columns";
import type { Execution } from "../data/execution";
import { ROW_PX } from "../draw/scene";
import { rowOfSpan, type Rows, type RowTree } from "../model/rows";
import { sameReason } from "../model/sameReason";
import type { ViewState } from "./state";
import type { Shown, Store } from "./store";

/**
 * Lets the bounds of the view count from the start of the execution: moves them along when an earlier reason or start has
 * come, so that the same moments stay in view, and when an address counts from a start that is another by now. The whole
 * run stays the whole run.
 *
 * @returns ends it.
 */
export function keepMoments(
  execution: ReadonlySignal<Execution | null>,
  { t0, t1, zero }: Pick<ViewState, "t0" | "t1" | "zero">,
): () => void {
  return effect(() => {
    const before = zero.value;
    const now = execution.value?.startNs ?? before;
    if (before === now || now === null) return;
    batch(() => {
      zero.value = now;
      const moved = Number((before ?? now) - now);
      t0.value = t0.peek() + moved;
      t1.value = t1.peek() + moved;
    });
  });
}

/** Lets the number of a reason, -1 for none, stand for the same reason in each reading. Gives what ends it. */
export function keepReason(execution: ReadonlySignal<Execution>, reason: Signal<number>): () => void {
  let last: Execution | null = null;
  return effect(() => {
    const before = last;
    last = execution.value;
    if (before !== null) reason.value = sameReason(before, reason.peek(), last);
  });
}

/** Rows, and the tree that they are of. */
export interface Laid {
  tree: RowTree;
  rows: Rows;
}

/**
 * How many rows further down the first of some rows is in a newer reading of the execution; 0 when none is left.
 *
 * @param candidates rows of `before`, the one that matters most first.
 * @param spanById finds the span of `after` that has the id of a span of `before`; -1 when there is none.
 */
export function rowsMoved(before: Laid, after: Laid, candidates: Iterable<number>, spanById: (span: number) => number): number {
  for (const row of candidates) {
    const span = spanById(before.rows.span[row]);
    const now = span < 0 ? -1 : rowOfSpan(after.tree, after.rows, span);
    if (now >= 0) return now - row;
  }
  return 0;
}

/**
 * Scrolls along when rows have come above what is in view: the row that the reader is at stays where it is when it is
 * in view, and else the uppermost.
 *
 * @param element what is scrolled.
 * @returns ends it.
 */
export function keepRows(store: Store, element: HTMLElement): () => void {
  let last: { shown: Shown; rows: Rows } | null = null;
  return effect(() => {
    const shown = store.shown.value;
    const rows = store.rows.value;
    const isTree = store.state.mode.value === "tree";
    const before = last;
    last = shown === null || rows === null || !isTree ? null : { shown, rows };
    if (before === null || last === null || before.shown === shown) return;
    const after = { tree: last.shown.tree, rows: last.rows };
    untracked(() => {
      const { tree, execution } = before.shown;
      const candidates = rowsInView(store, element, before.rows, execution);
      const find = (span: number): number => store.spanById.value(spanIdHex(execution.spans, span));
      const moved = rowsMoved({ tree, rows: before.rows }, after, candidates, find);
      if (moved === 0) return;
      // The page is laid out anew only later: until then there would be no room to scroll to.
      element.querySelector<HTMLElement>(".tl-spacer")!.style.height = `${after.rows.count * ROW_PX}px`;
      element.scrollTop += moved * ROW_PX;
      store.scrollTop.value = element.scrollTop;
    });
  });
}

/** Rows of which some is in view, the one that the reader is at first. */
function* rowsInView(store: Store, element: HTMLElement, rows: Rows, { spans }: Execution): Iterable<number> {
  const first = Math.max(0, Math.ceil(element.scrollTop / ROW_PX));
  const end = Math.min(rows.count, Math.ceil((element.scrollTop + element.clientHeight) / ROW_PX));
  const id = store.active.value || store.state.sel.value;
  for (let row = first; row < end && id !== ""; row++) if (spanIdHex(spans, rows.span[row]) === id) yield row;
  for (let row = first; row < end; row++) yield row;
}
