// The reason that the keyboard is at, whole.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { fetchSpan } from "../../data/api";
import { spanIdHex } from "../../data/columns";
import type { Execution } from "../../data/execution";
import { formatExact, formatMoment } from "../../model/format";
import { formatPlace } from "../../model/place";
import { findWholeText, reasonFacts } from "../../model/reasonFacts";
import { groupDigits, operationWords } from "../../model/words";
import { zone } from "../../shell/zone";
import type { ExecutionModel } from "../execution/model";
import { PhaseMark } from "../parts";
import { lineOf, occurrencesOf, ownerOf, type ReasonLines } from "./lines";
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
  const last = line < 0 ? reason : lines.order[lines.first[line + 1] - 1];
  const { phase, severity, source, occurrences } = reasonFacts(execution, reason);
  const times = line < 0 ? occurrences : occurrencesOf(execution, lines, line);
  const operation = header.operations[reasons.operation[reason]];
  return (
    <section class="rs-detail" aria-label="The chosen reason">
      <div class="rs-facts">
        <b class="sh-wrap">
          <bdi>{ownerOf(execution, reasons.span[reason])}</bdi>
        </b>
        <PhaseMark phase={phase} />
        {severity !== "" && <span>{severity}</span>}
        {operation !== "UNSPECIFIED" && <span>{operationWords(operation)}</span>}
        {source !== "" && <span class="vw-muted">from {source}</span>}
        <span class="vw-number">{formatMoment(startNs, at, zone.value)}</span>
        <span class="vw-number vw-muted">{formatExact(at - spans.start[0])} after the start</span>
        {times > 1 && (
          <span>
            ×{groupDigits(times)}
            {reasons.at[last] > at && `, the last ${formatExact(reasons.at[last] - at)} later`}
          </span>
        )}
        <a class="sh-button" href={formatPlace(model.placeOf(placeOfReason(execution, reason)))}>
          Show in the timeline
        </a>
      </div>
      <p class="rs-message" tabIndex={0} aria-label="Message">
        <bdi>{message}</bdi>
      </p>
    </section>
  );
}

/** The text of a reason; columns carry only the beginning of a long one, the rest is fetched. */
function useMessage(model: ExecutionModel, execution: Execution, reason: number): string {
  const { reasons, strings, spans } = execution;
  const beginning = strings.get(reasons.message[reason]);
  const whole = useSignal<string | null>(null);
  const isCut = reasons.isCut[reason] === 1;
  useEffect(() => {
    if (!isCut) return;
    const abort = new AbortController();
    const span = reasons.span[reason];
    fetchSpan(model.path, spanIdHex(spans, span), BigInt(execution.header.as_of_ns), abort.signal).then(
      (answer) => {
        const texts = (answer.reasons ?? []).map((each) => each.message ?? "");
        whole.value = findWholeText(execution, reason, texts) ?? null;
      },
      () => undefined, // The beginning stays, with its dots.
    );
    return () => abort.abort();
  }, [execution, reason]);
  return isCut ? (whole.value ?? `${beginning}…`) : beginning;
}
