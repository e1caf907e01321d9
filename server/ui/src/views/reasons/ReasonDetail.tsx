// The reason that the keyboard is at, whole.

import { useAnswer } from "../../data/answer";
import { fetchSpan } from "../../data/api";
import { spanIdHex } from "../../data/columns";
import type { Execution } from "../../data/execution";
import { formatExact, formatMoment } from "../../model/format";
import { formatPlace } from "../../model/place";
import { messageOf, reasonFacts } from "../../model/reasonFacts";
import { visible, visibleMessage } from "../../model/visible";
import { groupDigits, operationWords } from "../../model/words";
import { zone } from "../../shell/zone";
import type { ExecutionModel } from "../execution/model";
import { Name, PhaseMark } from "../parts";
import { lineOf, occurrencesOf, ownerOf, reasonsOf, type ReasonLines } from "./lines";
import { placeOfReason } from "./ReasonLine";

interface Props {
  model: ExecutionModel;
  execution: Execution;
  lines: ReasonLines;
  reason: number;
}

export function ReasonDetail({ model, execution, lines, reason }: Props) {
  const { reasons, spans, header, startNs } = execution;
  const message = useMessage(model, execution, reason);
  const at = reasons.at[reason];
  const line = lineOf(lines, reason);
  const { phase, severity, source, occurrences } = reasonFacts(execution, reason);
  const times = line < 0 ? occurrences : occurrencesOf(execution, lines, line);
  const last = line < 0 ? at : reasons.at[reasonsOf(lines, line).at(-1)!];
  const operation = header.operations[reasons.operation[reason]];
  return (
    <section class="rs-detail" aria-label="The chosen reason">
      <div class="rs-facts sh-wrap">
        <b>
          <Name of={ownerOf(execution, reasons.span[reason])} />
        </b>
        <PhaseMark phase={phase} />
        {severity !== "" && <span>{severity}</span>}
        {operation !== "UNSPECIFIED" && <span>{operationWords(operation)}</span>}
        {source !== "" && <span class="vw-muted">from {visible(source)}</span>}
        <span>{formatMoment(startNs, at, zone.value)}</span>
        <span class="vw-muted">{formatExact(at - spans.start[0])} after the start</span>
        {times > 1 && (
          <span>
            ×{groupDigits(times)}
            {last > at && `, the last ${formatExact(last - at)} later`}
          </span>
        )}
        <a class="sh-button" href={formatPlace(model.placeOf(placeOfReason(execution, reason)))}>
          Show in the timeline
        </a>
      </div>
      <p class="rs-message sh-wrap" tabIndex={0} aria-label="Message">
        <bdi>{visibleMessage(message)}</bdi>
      </p>
    </section>
  );
}

/** The text of a reason; columns carry only the beginning of a long one, the rest is fetched. */
function useMessage(model: ExecutionModel, execution: Execution, reason: number): string {
  const { reasons, spans, header } = execution;
  const isCut = reasons.isCut[reason] === 1;
  const span = spanIdHex(spans, reasons.span[reason]);
  const answer = useAnswer(span, header.revision, async (signal) =>
    isCut ? ((await fetchSpan(model.path, span, BigInt(header.as_of_ns), signal)).reasons ?? []) : [],
  );
  return messageOf(execution, reason, answer.value.value ?? []);
}
