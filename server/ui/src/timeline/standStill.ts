// What is in view stands still when late events change what times and rows are counted from.

import { batch, effect, untracked, type ReadonlySignal, type Signal } from "@preact/signals";
import { findSpan, spanIdHex } from "../data/columns";
import type { Execution } from "../data/execution";
import { ROW_PX } from "../draw/scene";
import { rowOfSpan, type Rows, type RowTree } from "../model/rows";
import { sameReason } from "../model/sameReason";
import type { ViewState } from "./state";
import { laneOf } from "./packedLanes";
import type { Store } from "./store";
import type { Packed } from "./work";

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

/** Lines of a reading of an execution, one below the other: rows or lanes. */
export interface Laid {
  execution: Execution;
  count: number;
  /** A span that is in a line. */
  spanIn(line: number): number;
  /** Line of a span; -1 when it has none. */
  lineOf(span: number): number;
}

export function laidRows(execution: Execution, tree: RowTree, rows: Rows): Laid {
  return {
    execution,
    count: rows.count,
    spanIn: (row) => rows.span[row],
    lineOf: (span) => rowOfSpan(tree, rows, span),
  };
}

export function laidLanes({ execution, lanes }: Packed): Laid {
  return {
    execution,
    count: lanes.count,
    spanIn: (lane) => lanes.span[lanes.first[lane]],
    lineOf: (span) => {
      const place = lanes.span.indexOf(span);
      return place < 0 ? -1 : laneOf(lanes, place);
    },
  };
}

/**
 * How many lines further down the first of some spans is in a newer reading of the execution; 0 when none is left.
 *
 * @param candidates spans of `before`, the one that matters most first.
 */
export function linesMoved(before: Laid, after: Laid, candidates: Iterable<number>): number {
  for (const span of candidates) {
    const same = findSpan(after.execution.spans, spanIdHex(before.execution.spans, span));
    const now = same < 0 ? -1 : after.lineOf(same);
    if (now >= 0) return now - before.lineOf(span);
  }
  return 0;
}

/**
 * Scrolls along when lines have come above what is in view: that of the span that the reader is at stays where it is when
 * it is in view, and else the uppermost.
 *
 * @param element what is scrolled.
 * @returns ends it.
 */
export function keepLines(store: Store, element: HTMLElement): () => void {
  let last: Laid | null = null;
  let lastMode = "";
  return effect(() => {
    const mode = store.state.mode.value;
    const { execution, tree } = store.shown.value;
    const packed = store.work.packed.value;
    const before = lastMode === mode ? last : null;
    lastMode = mode;
    if (mode === "tree") last = laidRows(execution, tree, store.rows.value);
    else last = packed === null ? null : laidLanes(packed);
    const after = last;
    if (before === null || after === null || before.execution === after.execution) return;
    untracked(() => {
      const moved = linesMoved(before, after, spansInView(store, element, before));
      if (moved === 0) return;
      // The page is laid out anew only later: until then there would be no room to scroll to.
      element.querySelector<HTMLElement>(".tl-spacer")!.style.height = `${after.count * ROW_PX}px`;
      element.scrollTop += moved * ROW_PX;
      store.scrollTop.value = element.scrollTop;
    });
  });
}

/** Spans of lines of which some is in view, that which the reader is at first. */
function* spansInView(store: Store, element: HTMLElement, { execution, count, spanIn, lineOf }: Laid): Iterable<number> {
  const first = Math.max(0, Math.ceil(element.scrollTop / ROW_PX));
  const end = Math.min(count, Math.ceil((element.scrollTop + element.clientHeight) / ROW_PX));
  const id = store.active.value || store.state.sel.value;
  const at = findSpan(execution.spans, id);
  const lineAt = at < 0 ? -1 : lineOf(at);
  if (lineAt >= first && lineAt < end) yield at;
  for (let line = first; line < end; line++) yield spanIn(line);
}
