// What differs from another execution.

import type { ComponentChildren } from "preact";
import { useAnswer } from "../../data/answer";
import { fetchComparison, type ComparisonJson } from "../../data/answers";
import { findSpan } from "../../data/columns";
import { phaseName } from "../../data/values";
import { formatSigned } from "../../model/format";
import { formatPlace } from "../../model/place";
import type { ExecutionPath } from "../../model/url";
import { visible } from "../../model/visible";
import { groupDigits, phaseWords, plural } from "../../model/words";
import { executionHref } from "../../shell/links";
import type { ExecutionModel } from "../execution/model";
import { Asked, Name, nameOf, PhaseMark, SpanLink } from "../parts";
import { Table } from "../Table";
import { lengthsOf, nodeDeltas, operationDeltas, type Delta, type NodeDelta } from "./deltas";
import { PairedBars } from "./PairedBars";
import { Picker } from "./Picker";

export function CompareView({ model }: { model: ExecutionModel }) {
  const other = model.with.value;
  return <div class="vw-page">{other === null ? <Picker model={model} /> : <Comparison model={model} other={other} />}</div>;
}

interface Pair {
  model: ExecutionModel;
  other: ExecutionPath;
}

function Comparison({ model, other }: Pair) {
  const { path } = model;
  const answer = useAnswer(`${nameOf(path)} ${nameOf(other)}`, model.revision, (signal) => fetchComparison(path, other, signal));
  return (
    <>
      <div class="vw-row">
        <p class="sh-wrap">
          <span class="cm-key is-here" aria-hidden="true" /> here:{" "}
          <b>
            <Name of={path.name} />
          </b>
          <span class="vw-muted"> compared with </span>
          <span class="cm-key is-there" aria-hidden="true" /> there:{" "}
          <a class="sh-link" href={executionHref(other)} title={visible(nameOf(other))}>
            <Name of={other.name} />
          </a>
        </p>
        <a class="sh-button" href={executionHref(other, { view: "compare", with: path })}>
          The other way round
        </a>
        <a class="sh-button" href={formatPlace(model.placeOf({ with: null }))}>
          Another one
        </a>
      </div>
      <Asked answer={answer} busy="Comparing">
        {(value) => <Tables model={model} other={other} value={value} />}
      </Asked>
    </>
  );
}

function Tables({ model, other, value }: Pair & { value: ComparisonJson }) {
  const { both, onlyHere, onlyThere } = nodeDeltas(value);
  const left = value.leftOutCount ?? 0;
  const nodeName = (row: NodeDelta) => <NodeName model={model} other={other} row={row} />;
  const phaseOf = ({ phaseHere, phaseThere, spanHere }: NodeDelta) => phaseWords(spanHere ? phaseHere : phaseThere).text;
  return (
    <>
      <Deltas title="Whole runs" last="Phases" rows={[{ name: "Duration", countHere: 1, countThere: 1, ...lengthsOf(value) }]}>
        {() => (
          <>
            <PhaseMark phase={phaseName(value.phase)} /> <span class="vw-muted">there</span> <PhaseMark phase={phaseName(value.basePhase)} />
          </>
        )}
      </Deltas>
      <Deltas title="By node" first="Node" last="Mostly" rows={both} name={nodeName}>
        {notesOf}
      </Deltas>
      {left > 0 && <p class="vw-note">{plural(left, "node")} with smaller differences left out.</p>}
      <Deltas title={`Only in ${visible(model.path.name)}`} first="Node" last="Phase" rows={onlyHere} name={nodeName}>
        {phaseOf}
      </Deltas>
      <Deltas title={`Only in ${visible(other.name)}`} first="Node" last="Phase" rows={onlyThere} name={nodeName}>
        {phaseOf}
      </Deltas>
      <Deltas title="By operation" first="Operation" last="Spans" rows={operationDeltas(value)}>
        {({ countHere, countThere }) => groupDigits(countHere) + (countHere === countThere ? "" : `, there ${groupDigits(countThere)}`)}
      </Deltas>
    </>
  );
}

interface DeltasProps<Row> {
  title: string;
  /** Titles of the first and the last column. */
  first?: string;
  last: string;
  rows: readonly Row[];
  name?: (row: Row) => ComponentChildren;
  /** Gives the last cell. */
  children: (row: Row) => ComponentChildren;
}

/** Differences below are as good as none. */
const LEAST_SHARE = 0.005;

function Deltas<Row extends Delta>({ title, first = "What", last, rows, name, children }: DeltasProps<Row>) {
  if (rows.length === 0) return null;
  const most = Math.max(...rows.flatMap(({ here, there }) => [here, there]));
  return (
    <section>
      <h2>{title}</h2>
      <Table
        caption={title}
        kind="is-cards cm-table"
        rows={rows}
        columns={[
          { title: first, kind: "sh-wrap is-first", cell: name ?? ((row) => row.name) },
          { title: "Durations, here above there", kind: "cm-bars is-first", cell: (row) => <PairedBars row={row} most={most} /> },
          { title: "Difference", ns: difference, cell: (row) => <Difference row={row} /> },
          { title: last, kind: "cm-notes vw-muted sh-wrap", cell: children },
        ]}
      />
    </section>
  );
}

function difference({ here, there }: Delta): number {
  return here - there;
}

function Difference({ row }: { row: Delta }) {
  const ns = difference(row);
  return (
    <span class={ns > LEAST_SHARE * Math.max(row.here, row.there) ? "vw-warn" : ""}>
      {ns !== 0 && <span aria-hidden="true">{ns > 0 ? "▲ " : "▼ "}</span>}
      {formatSigned(ns)}
    </span>
  );
}

/** The id of a node, and the name that people know it by, where that is another one. */
function NodeName({ model, other, row }: Pair & { row: NodeDelta }) {
  const { spans, strings } = model.live.execution.value!;
  const span = findSpan(spans, row.spanHere);
  const name = span < 0 ? row.name : strings.get(spans.name[span]);
  return (
    <>
      <Name of={row.name} />{" "}
      {name !== row.name && (
        <span class="vw-muted">
          <Name of={name} />
        </span>
      )}{" "}
      {row.spanHere && (
        <SpanLink model={model} span={row.spanHere} title={`${row.name} here`}>
          here
        </SpanLink>
      )}{" "}
      {row.spanThere && (
        <a class="sh-link vw-target" href={executionHref(other, { sel: row.spanThere })} title={`${row.name} there: show it in the timeline`}>
          there
        </a>
      )}
    </>
  );
}

function notesOf({ mostly, countHere, countThere, phaseHere, phaseThere }: NodeDelta): string {
  const attempts = countHere !== countThere && `${plural(countHere, "attempt")}, there ${countThere}`;
  const phases = phaseHere !== phaseThere && `${phaseWords(phaseHere).text}, there ${phaseWords(phaseThere).text}`;
  return [mostly, attempts, phases].filter(Boolean).join("; ");
}
