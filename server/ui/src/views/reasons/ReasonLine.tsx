// One line of the list of reasons, and what stands over them.

import type { ComponentChildren } from "preact";
import { spanIdHex } from "../../data/columns";
import type { Execution } from "../../data/execution";
import { formatExact, formatMoment, formatSigned } from "../../model/format";
import { formatPlace } from "../../model/place";
import { reasonFacts } from "../../model/reasonFacts";
import type { ExecutionState } from "../../model/url";
import { visible, visibleMessage } from "../../model/visible";
import { groupDigits, operationWords, phaseWords, plural } from "../../model/words";
import { zone } from "../../shell/zone";
import type { ExecutionModel } from "../execution/model";
import { PhaseMark } from "../parts";
import { occurrencesOf, ownerOf, reasonsOf, spansOf, type ReasonLines } from "./lines";

/** Height of a line; also in execution.css. */
export const LINE_PX = 25;

/** Share of the run that is in view around a reason, and the least stretch. */
const SHARE = 0.1;
const LEAST_NS = 1e9;

/** The timeline with a reason in the middle of the view, and its span selected. */
export function placeOfReason({ spans, reasons, endOffset, asOfOffset }: Execution, reason: number): Partial<ExecutionState> {
  const at = reasons.at[reason];
  const half = Math.max(LEAST_NS, ((endOffset || asOfOffset) - spans.start[0]) * SHARE) / 2;
  const sel = spanIdHex(spans, reasons.span[reason]);
  return { view: "timeline", sel, panel: true, t0: Math.round(at - half), t1: Math.round(at + half) };
}

/** Class, title, and what that means. */
const COLUMNS = [
  ["at", "Time", "After the start of the run"],
  ["gap", "Gap", "After the line before"],
  ["phase", "Phase"],
  ["owner", "Where"],
  ["text", "Reason"],
  ["operation", "Operation"],
  ["times", "Times", "How often it was told"],
];

export function ReasonHeads() {
  return (
    <div class="rs-line rs-head vw-muted" role="row" aria-rowindex={1}>
      {COLUMNS.map(([kind, title, hint]) => (
        <span key={kind} role="columnheader" class={`rs-${kind}`} title={hint}>
          {title}
        </span>
      ))}
    </div>
  );
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
  const [reason] = reasonsOf(lines, line);
  const at = reasons.at[reason];
  const gap = line === 0 ? 0 : at - reasons.at[lines.order[lines.first[line] - 1]];
  const { phase, severity, isSevere } = reasonFacts(execution, reason);
  const operation = header.operations[reasons.operation[reason]];
  const times = occurrencesOf(execution, lines, line);
  const numSpans = spansOf(execution, lines, line);
  const owner = visible(ownerOf(execution, reasons.span[reason]));
  const fromStart = at - spans.start[0];
  const cells: [ComponentChildren, string?][] = [
    [formatSigned(fromStart), `${formatExact(fromStart)} after the start: ${formatMoment(startNs, at, zone.value)}`],
    [gap !== 0 && formatSigned(gap), `${formatExact(gap)} after the line before`],
    [<PhaseMark phase={phase} />, phaseWords(phase).text],
    [<bdi>{numSpans > 1 ? plural(numSpans, "span") : owner}</bdi>, owner],
    [
      <>
        {isSevere && <b class="vw-warn">{severity}: </b>}
        <a href={formatPlace(model.placeOf(placeOfReason(execution, reason)))} tabIndex={-1} title="Show in the timeline">
          <bdi>{visibleMessage(strings.get(reasons.message[reason]).slice(0, 400))}</bdi>
        </a>
      </>,
    ],
    [operation !== "UNSPECIFIED" && operationWords(operation)],
    [times > 1 && `×${groupDigits(times)}`],
  ];
  return (
    <div
      id={`reason-${line}`}
      class={isCurrent ? "rs-line is-picked" : "rs-line"}
      role="row"
      aria-rowindex={line + 2}
      aria-selected={isCurrent}
      onClick={(event) => (event.target as HTMLElement).closest("a") === null && onCurrent()}
    >
      {cells.map(([content, hint], i) => (
        <span key={i} role="gridcell" class={`rs-${COLUMNS[i][0]}`} title={hint}>
          {content}
        </span>
      ))}
    </div>
  );
}
