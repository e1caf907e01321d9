// Where the time went, by operation.

import { useAnswer } from "../../data/answer";
import { fetchOperations, type OperationsJson } from "../../data/answers";
import { durationNs } from "../../data/values";
import { NO_FILTER } from "../../model/filter";
import { formatDuration, formatExact, formatShare } from "../../model/format";
import { formatPlace } from "../../model/place";
import { groupDigits } from "../../model/words";
import type { ExecutionModel } from "../execution/model";
import { Busy, Failure, nameOf, State } from "../parts";
import { chooseColumn, COLUMNS, decodeSort, encodeSort, operationRows, sortRows, type OperationRow, type Sort, type SortColumn } from "./table";

const WORDS: Record<SortColumn, [string, string]> = {
  operation: ["Operation", "What the time was spent on"],
  count: ["Count", "Number of spans"],
  open: ["Open", "How many of them have not ended"],
  total: ["Total", "Sum of their durations: parallel work counts each time"],
  union: ["At least one", "Time during which at least one of them went on"],
  self: ["Self", "Part of the total that no part of them covers"],
  mean: ["Mean", "Total divided by count"],
  p50: ["p50", "Half of them took at most this long"],
  p95: ["p95", "95 of 100 took at most this long"],
  max: ["Longest", "The longest one; shows it in the timeline"],
  critical: ["Critical", "Time on the critical path, and its share of it"],
};

export function OperationsView({ model }: { model: ExecutionModel }) {
  const revision = model.live.execution.value!.header.revision;
  const answer = useAnswer(nameOf(model.path), revision, (signal) => fetchOperations(model.path, signal));
  const value = answer.value.value;
  const error = answer.error.value;
  if (value === null) {
    return error === null ? <Busy what="Adding up" /> : <Failure error={error} had={false} onAgain={answer.again} />;
  }
  return (
    <div class="vw-page">
      {error !== null && <Failure error={error} had onAgain={answer.again} />}
      {(value.operations ?? []).length === 0 ? (
        <State title="No operation is known yet">
          <p>Events of nodes and tasks tell what the time is spent on; none has come in.</p>
        </State>
      ) : (
        <Table model={model} answer={value} />
      )}
    </div>
  );
}

function Table({ model, answer }: { model: ExecutionModel; answer: OperationsJson }) {
  const sort = decodeSort(model.parameter("sort"));
  const rows = sortRows(operationRows(answer), sort);
  const critical = durationNs(answer.criticalPath);
  const rest = durationNs(answer.unattributedCritical);
  return (
    <>
      <p class="vw-note">
        The run took {formatDuration(durationNs(answer.wallTime))}. A name filters the timeline by the operation; the longest one
        leads to its span.
        {answer.approximate === true && " The critical path rests on an order that was worked out from times."}
      </p>
      <div class="vw-scroll-x">
        <table class="vw-table op-table">
          <caption class="sr-only">Time by operation</caption>
          <thead>
            <tr>
              {(["operation", ...COLUMNS] as const).map((column) => (
                <Head key={column} column={column} sort={sort} onChoose={(chosen) => model.setParameter("sort", encodeSort(chosen))} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Line key={row.operation} model={model} row={row} critical={critical} />
            ))}
          </tbody>
          {rest > 0 && (
            <tfoot>
              <tr>
                <th scope="row" class="vw-muted">
                  Covered by no operation
                </th>
                <Critical ns={rest} whole={critical} />
                <td colSpan={COLUMNS.length - 1} />
              </tr>
            </tfoot>
          )}
        </table>
      </div>
    </>
  );
}

function Head({ column, sort, onChoose }: { column: SortColumn; sort: Sort; onChoose: (sort: Sort) => void }) {
  const [words, meaning] = WORDS[column];
  const isSorted = sort.by === column;
  const order = isSorted ? (sort.descending ? "descending" : "ascending") : "none";
  return (
    <th scope="col" class={column === "operation" ? "" : "is-number"} aria-sort={order}>
      <button type="button" class="vw-sort" title={meaning} onClick={() => onChoose(chooseColumn(sort, column))}>
        {words}
        <span class="vw-sort-sign" aria-hidden="true">
          {isSorted ? (sort.descending ? "▼" : "▲") : ""}
        </span>
      </button>
    </th>
  );
}

function Line({ model, row, critical }: { model: ExecutionModel; row: OperationRow; critical: number }) {
  const filter = { ...NO_FILTER, operations: [row.operation] };
  const toTimeline = formatPlace(model.placeOf({ view: "timeline", filter }));
  const toLongest = formatPlace(model.placeOf({ view: "timeline", sel: row.longest, t0: NaN, t1: NaN, filter: NO_FILTER, panel: true }));
  return (
    <tr>
      <th scope="row">
        <a class="sh-link vw-target" href={toTimeline} title={`${row.operation}: show only these in the timeline`}>
          {row.words}
        </a>
      </th>
      <Critical ns={row.critical} whole={critical} />
      <td class="is-number">{groupDigits(row.count)}</td>
      <td class="is-number">{row.open > 0 && groupDigits(row.open)}</td>
      {([row.total, row.union, row.self, row.mean, row.p50, row.p95] as const).map((ns, i) => (
        <td key={i} class="is-number" title={formatExact(ns)}>
          {formatDuration(ns)}
        </td>
      ))}
      <td class="is-number">
        {row.longest === "" ? (
          formatDuration(row.max)
        ) : (
          <a class="sh-link vw-target" href={toLongest} title={`${formatExact(row.max)}: show it in the timeline`}>
            {formatDuration(row.max)}
          </a>
        )}
      </td>
    </tr>
  );
}

function Critical({ ns, whole }: { ns: number; whole: number }) {
  return (
    <td class="is-number op-critical" title={formatExact(ns)}>
      {ns > 0 && (
        <>
          {formatDuration(ns)} <span class="vw-muted op-share">{shortShare(ns, whole)}</span>
          <span class="vw-share" aria-hidden="true">
            <span style={{ width: `${whole > 0 ? Math.min(100, (100 * ns) / whole) : 0}%` }} />
          </span>
        </>
      )}
    </td>
  );
}

function shortShare(part: number, whole: number): string {
  const words = formatShare(part, whole);
  return words === "less than 1 %" ? "<1 %" : words;
}
