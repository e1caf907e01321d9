// What differs from another execution.

import { useMemo } from "preact/hooks";
import { useAnswer } from "../../data/answer";
import { fetchComparison, type ComparisonJson } from "../../data/answers";
import { durationNs, phaseName } from "../../data/values";
import { formatPlace } from "../../model/place";
import type { ExecutionPath } from "../../model/url";
import { groupDigits, phaseWords, plural } from "../../model/words";
import { executionHref } from "../../shell/links";
import type { ExecutionModel } from "../execution/model";
import { Busy, Failure, nameOf, PhaseMark } from "../parts";
import { namesOf, nodeDeltas, operationDeltas, type Delta, type NodeDelta } from "./deltas";
import { PairedBars } from "./PairedBars";
import { Picker } from "./Picker";

export function CompareView({ model }: { model: ExecutionModel }) {
  const other = model.with.value;
  if (other === null) return <Picker model={model} />;
  return <Comparison model={model} other={other} />;
}

function Comparison({ model, other }: { model: ExecutionModel; other: ExecutionPath }) {
  const revision = model.live.execution.value!.header.revision;
  const question = `${nameOf(model.path)} ${nameOf(other)}`;
  const answer = useAnswer(question, revision, (signal) => fetchComparison(model.path, other, signal));
  const value = answer.value.value;
  const error = answer.error.value;
  return (
    <div class="vw-page cm">
      <div class="cm-head">
        <p class="sh-wrap">
          <span class="cm-key is-here" aria-hidden="true" /> here: <b>{model.path.name}</b>
          <span class="cm-versus"> compared with </span>
          <span class="cm-key is-there" aria-hidden="true" /> there:{" "}
          <a class="sh-link" href={executionHref(other)} title={nameOf(other)}>
            {other.name}
          </a>
        </p>
        <span class="cm-tools">
          <a class="sh-button" href={executionHref(other, { view: "compare", with: model.path })}>
            The other way round
          </a>
          <a class="sh-button" href={formatPlace(model.placeOf({ with: null }))}>
            Another one
          </a>
        </span>
      </div>
      {error !== null && <Failure error={error} had={value !== null} onAgain={answer.again} />}
      {value === null && error === null && <Busy what="Comparing" />}
      {value !== null && <Tables model={model} other={other} value={value} />}
    </div>
  );
}

function Tables({ model, other, value }: { model: ExecutionModel; other: ExecutionPath; value: ComparisonJson }) {
  const operations = operationDeltas(value);
  const { both, onlyHere, onlyThere } = nodeDeltas(value);
  const execution = model.live.execution.value!;
  const names = useMemo(() => namesOf(execution, both.concat(onlyHere).map(({ spanHere }) => spanHere)), [execution, value]);
  const left = value.leftOutCount ?? 0;
  const whole: Delta = {
    ...{ key: "whole", name: "Duration", countHere: 1, countThere: 1 },
    here: durationNs(value.duration),
    there: durationNs(value.baseDuration),
  };
  return (
    <>
      <DeltaTable title="Whole runs" first="" last="Phases" rows={[whole]}>
        {() => (
          <>
            <PhaseMark phase={phaseName(value.phase)} /> <span class="vw-muted">there</span> <PhaseMark phase={phaseName(value.basePhase)} />
          </>
        )}
      </DeltaTable>
      <DeltaTable title="By node" first="Node" last="Mostly" rows={both}>
        {(row) => <NodeNotes row={row} />}
        {(row) => <NodeName model={model} other={other} row={row} names={names} />}
      </DeltaTable>
      {left > 0 && <p class="dg-more">{plural(left, "node")} with smaller differences left out.</p>}
      <OnlyOn title={`Only in ${model.path.name}`} model={model} other={other} rows={onlyHere} names={names} />
      <OnlyOn title={`Only in ${other.name}`} model={model} other={other} rows={onlyThere} names={names} />
      <DeltaTable title="By operation" first="Operation" last="Spans" rows={operations}>
        {(row) => <Counts row={row} />}
      </DeltaTable>
    </>
  );
}

interface TableProps<Row extends Delta> {
  title: string;
  first: string;
  last?: string;
  rows: readonly Row[];
  /** Gives the last cell, and the name. */
  children: ((row: Row) => preact.JSX.Element) | [(row: Row) => preact.JSX.Element, (row: Row) => preact.JSX.Element];
}

function DeltaTable<Row extends Delta>({ title, first, last = "", rows, children }: TableProps<Row>) {
  if (rows.length === 0) return null;
  const [notes, name] = Array.isArray(children) ? children : [children, undefined];
  const most = rows.reduce((longest, row) => Math.max(longest, row.here, row.there), 0);
  return (
    <section>
      <h2>{title}</h2>
      <div class="vw-scroll-x">
        <table class="vw-table cm-table">
          <caption class="sr-only">{title}</caption>
          <thead>
            <tr>
              <th scope="col">{first === "" ? <span class="sr-only">What</span> : first}</th>
              <th scope="col">Durations, here above there</th>
              <th scope="col" class="is-number">
                Difference
              </th>
              <th scope="col">{last === "" ? <span class="sr-only">Notes</span> : last}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key}>
                <th scope="row" class="cm-name">
                  {name === undefined ? row.name : name(row)}
                </th>
                <PairedBars row={row} most={most} />
                <td class="cm-notes">{notes(row)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface NodeProps {
  model: ExecutionModel;
  other: ExecutionPath;
  /** Names of spans of this execution, by their ids. */
  names: ReadonlyMap<string, string>;
}

function NodeName({ model, other, names, row }: NodeProps & { row: NodeDelta }) {
  const name = names.get(row.spanHere);
  return (
    <>
      <bdi>{row.name}</bdi>
      {name !== undefined && name !== row.name && <bdi class="vw-muted"> {name}</bdi>}{" "}
      <span class="cm-links">
        {row.spanHere !== "" && (
          <a
            class="sh-link vw-target"
            aria-label={`${row.name} in the timeline here`}
            href={formatPlace(model.placeOf({ view: "timeline", sel: row.spanHere, panel: true, t0: NaN, t1: NaN }))}
          >
            here
          </a>
        )}{" "}
        {row.spanThere !== "" && (
          <a class="sh-link vw-target" aria-label={`${row.name} in the timeline there`} href={executionHref(other, { sel: row.spanThere })}>
            there
          </a>
        )}
      </span>
    </>
  );
}

function NodeNotes({ row }: { row: NodeDelta }) {
  const attempts = row.countHere !== row.countThere && `${plural(row.countHere, "attempt")}, there ${row.countThere}`;
  const phases = row.phaseHere !== row.phaseThere && `${phaseWords(row.phaseHere).text}, there ${phaseWords(row.phaseThere).text}`;
  return <>{[row.mostly, attempts, phases].filter((part) => part !== false && part !== "").join("; ")}</>;
}

function Counts({ row }: { row: Delta }) {
  return (
    <span class="vw-number">
      {groupDigits(row.countHere)}
      {row.countHere !== row.countThere && <span class="vw-muted">, there {groupDigits(row.countThere)}</span>}
    </span>
  );
}

function OnlyOn({ title, rows, ...rest }: NodeProps & { title: string; rows: NodeDelta[] }) {
  return (
    <DeltaTable title={title} first="Node" rows={rows}>
      {(row) => <span>{phaseWords(row.spanHere === "" ? row.phaseThere : row.phaseHere).text}</span>}
      {(row) => <NodeName {...rest} row={row} />}
    </DeltaTable>
  );
}
