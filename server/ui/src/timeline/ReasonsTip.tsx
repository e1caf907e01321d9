// What a tick says: when, how long after what, in which phase, and the message.

import { formatDuration, formatMoment, formatOffset } from "../model/format";
import { reasonFacts } from "../model/reasonFacts";
import { visible } from "../model/visible";
import { groupDigits, phaseWords } from "../model/words";
import { spanName } from "./rowFacts";
import type { Shown, Store } from "./store";
import { useWholeMessage } from "./wholeMessages";

/** Of a cluster so many are told; the list in the details has all. */
const MOST = 4;

interface Props {
  store: Store;
  shown: Shown;
  item: number;
  reasons: number[];
  onMore: () => void;
}

export function ReasonsTip({ store, shown, item, reasons, onMore }: Props) {
  const told = reasons.slice(0, reasons.length > MOST + 1 ? MOST : MOST + 1);
  const left = reasons.length - told.length;
  const rowSpan = shown.tree.span[item];
  return (
    <>
      {told.map((reason) => (
        <ReasonText key={reason} store={store} shown={shown} reason={reason} rowSpan={rowSpan} brief={told.length > 2} />
      ))}
      {left > 0 && (
        <button
          type="button"
          class="tl-more"
          onClick={() => {
            store.active.value = store.idOf(rowSpan);
            onMore();
          }}
        >
          +{groupDigits(left)} more: Enter opens the list
        </button>
      )}
    </>
  );
}

interface ReasonProps {
  store: Store;
  shown: Shown;
  reason: number;
  rowSpan: number;
  brief: boolean;
}

function ReasonText({ store, shown, reason, rowSpan, brief }: ReasonProps) {
  const { execution } = shown;
  const { reasons, spans } = execution;
  const span = reasons.span[reason];
  const at = reasons.at[reason];
  const zone = store.state.tz.value;
  const message = useWholeMessage(store, reason);
  const isFirstOfSpan = reason === spans.reasonFirst[span];
  const { phase, severity, isSevere, source, occurrences } = reasonFacts(execution, reason);
  const gap = isFirstOfSpan ? "" : `${formatDuration(at - reasons.at[reason - 1])} after the reason before`;
  return (
    <div class="tl-tip-reason">
      <div class="tl-tip-head">
        <strong>{phaseWords(phase).text}</strong>
        {isSevere && <span class={`tl-severity is-${severity.toLowerCase()}`}>{severity}</span>}
        {occurrences > 1 && <span class="tl-count">×{groupDigits(occurrences)}</span>}
        {span !== rowSpan && spans.kind[span] !== shown.codes.kinds.attempt && <span>{spanName(shown, span)}</span>}
        {source !== "" && <span class="tl-muted">{visible(source)}</span>}
      </div>
      <p class={`tl-message${brief ? " is-brief" : ""}`}>{message}</p>
      <div class="tl-tip-times">
        <time>{formatMoment(execution.startNs, at, zone)}</time>
        <span>
          <b>{formatOffset(at - spans.start[span])}</b> from its start
        </span>
        <span>
          <b>{formatOffset(at)}</b> from the start of the run
        </span>
        {gap !== "" && <span>{gap}</span>}
      </div>
    </div>
  );
}
