// One line of the list of reasons.

import { spanIdHex } from "../../data/columns";
import type { Execution } from "../../data/execution";
import { formatDuration, formatExact, formatMoment } from "../../model/format";
import { formatPlace } from "../../model/place";
import type { ExecutionState } from "../../model/url";
import { groupDigits, operationWords, phaseWords, plural, severityWords } from "../../model/words";
import { zone } from "../../shell/zone";
import { PhaseGlyph } from "../../timeline/Icon";
import type { ExecutionModel } from "../execution/model";
import { isFailed } from "../parts";
import { occurrencesOf, ownerOf, spansOf, type ReasonLines } from "./lines";

/** Height of a line; also --reason-line in execution.css. */
export const LINE_PX = 25;

/** Share of the run that is in view around a reason, and the least stretch. */
const SHARE = 0.1;
const LEAST_NS = 1e9;

/** The timeline with a reason in the middle of the view, and its span selected. */
export function placeOfReason(execution: Execution, reason: number): Partial<ExecutionState> {
  const { spans, reasons } = execution;
  const at = reasons.at[reason];
  const end = Number.isNaN(execution.endOffset) ? execution.asOfOffset : execution.endOffset;
  const half = Math.max(LEAST_NS, (end - spans.start[0]) * SHARE) / 2;
  const sel = spanIdHex(spans, reasons.span[reason]);
  return { view: "timeline", sel, panel: true, t0: Math.round(at - half), t1: Math.round(at + half) };
}

interface Props {
  model: ExecutionModel;
  execution: Execution;
  lines: ReasonLines;
  line: number;
  isCurrent: boolean;
  onCurrent: () => void;
}

export function ReasonLine({ model, execution, lines, line, isCurrent, onCurrent }: Props) {
  const { reasons, spans, strings, header, startNs } = execution;
  const reason = lines.order[lines.first[line]];
  const at = reasons.at[reason];
  const before = line === 0 ? NaN : reasons.at[lines.order[lines.first[line] - 1]];
  const phase = header.phases[reasons.phase[reason]];
  const severity = header.severities[reasons.severity[reason]];
  const operation = header.operations[reasons.operation[reason]];
  const times = occurrencesOf(execution, lines, line);
  const owners = spansOf(execution, lines, line);
  const fromStart = at - spans.start[0];
  const isBad = severity === "WARNING" || severity === "ERROR";
  const href = formatPlace(model.placeOf(placeOfReason(execution, reason)));
  const choose = (event: Event): void => {
    if ((event.target as HTMLElement).closest("a") === null) onCurrent();
  };
  return (
    <div
      id={`reason-${line}`}
      class={isCurrent ? "rs-line is-current" : "rs-line"}
      role="row"
      aria-rowindex={line + 1}
      aria-selected={isCurrent}
      onClick={choose}
    >
      <span role="gridcell" class="rs-at" title={`${formatExact(fromStart)} after the start: ${formatMoment(startNs, at, zone.value)}`}>
        {signed(fromStart)}
      </span>
      <span role="gridcell" class="rs-gap" title={Number.isNaN(before) ? "" : `${formatExact(at - before)} after the line before`}>
        {Number.isNaN(before) || at === before ? "" : signed(at - before)}
      </span>
      <span role="gridcell" class="rs-phase" title={`Phase: ${phaseWords(phase).text}`}>
        <PhaseGlyph phase={phase} failed={isFailed(phase)} />
        <span class="rs-phase-text">{phaseWords(phase).text}</span>
      </span>
      <span role="gridcell" class="rs-owner" title={ownerOf(execution, reasons.span[reason])}>
        <bdi>{owners > 1 ? plural(owners, "span") : ownerOf(execution, reasons.span[reason])}</bdi>
      </span>
      <span role="gridcell" class="rs-text">
        {isBad && <b class="vw-warn">{severityWords(severity)}: </b>}
        <a class="rs-link" href={href} tabIndex={-1} title="Show in the timeline">
          <bdi>{strings.get(reasons.message[reason]).slice(0, 400)}</bdi>
        </a>
      </span>
      <span role="gridcell" class="rs-operation vw-muted">
        {operation === "UNSPECIFIED" ? "" : operationWords(operation)}
      </span>
      <span role="gridcell" class="rs-times">
        {times > 1 && <b title={`Told ${groupDigits(times)} times`}>×{groupDigits(times)}</b>}
      </span>
    </div>
  );
}

function signed(ns: number): string {
  return ns < 0 ? formatDuration(ns) : `+${formatDuration(ns)}`;
}
