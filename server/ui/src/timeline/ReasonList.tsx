// All reasons of a span in the order of time, repeats counted. It is what the ticks show, in words.

import { useSignal } from "@preact/signals";
import { formatDuration, formatOffset, momentOf } from "../model/format";
import { reasonFacts } from "../model/reasonFacts";
import { ROW_OPEN } from "../model/rows";
import { visible } from "../model/visible";
import { groupDigits, phaseWords, plural } from "../model/words";
import { bringIntoView } from "./actions";
import type { Shown, Store } from "./store";
import { useWholeMessage } from "./wholeMessages";

/** Shown at first, and more at a time: so that the document stays small. */
const PAGE = 100;

interface Props {
  store: Store;
  shown: Shown;
  span: number;
}

export function ReasonList({ store, shown, span }: Props) {
  const most = useSignal(PAGE);
  const { tree, execution } = shown;
  const item = tree.itemOfSpan[span];
  const rows = store.rows.value;
  const row = rows.rowOfItem[item];
  const isOpen = row >= 0 && rows.item[row] === item && rows.state[row] === ROW_OPEN;
  // An operation or an attempt that has no row of its own: what lies in it.
  const isRow = tree.span[item] === span;
  const all = isRow ? shown.reasons.of(item, !isOpen).reason : reasonsOf(shown, span);
  if (all.length === 0) return null;
  const told = all.subarray(0, most.value);
  return (
    <section>
      <h3>{plural(all.length, "reason")}</h3>
      <ol class="tl-reasons">
        {Array.from(told, (reason, i) => (
          <ReasonItem
            key={reason}
            store={store}
            shown={shown}
            reason={reason}
            span={span}
            gap={i === 0 ? Number.NaN : execution.reasons.at[reason] - execution.reasons.at[all[i - 1]]}
          />
        ))}
      </ol>
      {all.length > told.length && (
        <button type="button" class="tl-more" onClick={() => (most.value += PAGE)}>
          Show {groupDigits(Math.min(PAGE, all.length - told.length))} more of {groupDigits(all.length)}
        </button>
      )}
    </section>
  );
}

interface ItemProps {
  store: Store;
  shown: Shown;
  reason: number;
  span: number;
  gap: number;
}

function ReasonItem({ store, shown, reason, span, gap }: ItemProps) {
  const { execution } = shown;
  const { reasons, spans } = execution;
  const at = reasons.at[reason];
  const message = useWholeMessage(store, reason);
  const { phase, severity, isSevere, source, occurrences } = reasonFacts(execution, reason);
  const go = (): void => {
    store.reason.value = reason;
    bringIntoView(store, at, at);
    store.revealRow(store.activeRow.peek());
  };
  return (
    <li class={store.reason.value === reason ? "is-current" : ""}>
      <button type="button" class="tl-link" title="Show in the timeline" onClick={go}>
        {formatOffset(roundMicro(at - spans.start[span]))}
      </button>{" "}
      <span class="tl-muted">
        {momentOf(execution.startNs, at, store.state.tz.value).time}
        {!Number.isNaN(gap) && gap > 0 && `, ${formatDuration(gap)} later`}
      </span>{" "}
      <span class="tl-reason-tags">
        {phaseWords(phase).text}
        {isSevere && <b class="tl-severity"> {severity}</b>}
        {occurrences > 1 && <b> ×{groupDigits(occurrences)}</b>}
        {source !== "" && <span class="tl-muted"> {visible(source)}</span>}
      </span>
      <p class="tl-message">{message}</p>
    </li>
  );
}

function roundMicro(ns: number): number {
  return Math.round(ns / 1000) * 1000;
}

function reasonsOf({ execution }: Shown, span: number): Uint32Array {
  const { reasonFirst, subtreeEnd } = execution.spans;
  const first = reasonFirst[span];
  return Uint32Array.from({ length: reasonFirst[subtreeEnd[span]] - first }, (_, i) => first + i);
}
