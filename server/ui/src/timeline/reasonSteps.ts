// From reason to reason by the keyboard.

import { batch } from "@preact/signals";
import { formatOffset } from "../model/format";
import { ROW_OPEN, rowOfSpan } from "../model/rows";
import { reasonNear, stepReason, type RowReasons } from "../model/ticks";
import { visibleMessage } from "../model/visible";
import { phaseWords } from "../model/words";
import { bringIntoView, select } from "./actions";
import type { Store } from "./store";

/** Reasons of the row that has the keyboard; null without one. */
function activeReasons(store: Store): RowReasons | null {
  const rows = store.rows.peek();
  const row = store.activeRow.peek();
  return row < 0 ? null : store.shown.peek().reasons.of(rows.item[row], rows.state[row] !== ROW_OPEN);
}

/** Selects a row and one of its reasons. */
export function bumpReason(store: Store, rowSpan: number, reason: number): void {
  batch(() => {
    select(store, rowSpan, { quiet: true });
    store.reason.value = reason;
  });
  sayReason(store, reason);
}

/** Goes to the next or the previous reason of the row; from none to the nearest in view. Gives it, or -1. */
export function goToReason(store: Store, direction: 1 | -1): number {
  const reasons = activeReasons(store);
  if (reasons === null || reasons.count === 0) {
    store.say("No reasons here");
    return -1;
  }
  const here = store.reason.peek();
  const place = here < 0 ? -1 : reasons.reason.indexOf(here);
  const { view } = store.scale.peek();
  let next = place < 0 ? reasonNear(reasons, direction > 0 ? view.t0 : view.t1, direction) : stepReason(reasons, place, direction);
  if (next < 0) next = stepReason(reasons, -1, direction);
  const reason = reasons.reason[next];
  store.reason.value = reason;
  bringIntoView(store, reasons.at[next], reasons.at[next]);
  store.revealRow(store.activeRow.peek());
  sayReason(store, reason, `${next + 1} of ${reasons.count}: `);
  return reason;
}

function sayReason(store: Store, reason: number, before = ""): void {
  const { reasons, spans, header, strings } = store.shown.peek().execution;
  const offset = formatOffset(reasons.at[reason] - spans.start[reasons.span[reason]]);
  const phase = phaseWords(header.phases[reasons.phase[reason]]).text;
  store.say(`${before}${phase}, ${offset}: ${visibleMessage(strings.get(reasons.message[reason]))}`);
}

/** Row that shows a reason; -1 when it is filtered out. */
export function rowOfReason(store: Store, reason: number): number {
  const { tree, execution } = store.shown.peek();
  return rowOfSpan(tree, store.rows.peek(), execution.reasons.span[reason]);
}
