// Where the time went, by operation.

import { useAnswer } from "../../data/answer";
import { fetchOperations, type OperationsJson } from "../../data/answers";
import { durationNs } from "../../data/values";
import { NO_FILTER } from "../../model/filter";
import { formatDuration, formatShare } from "../../model/format";
import { formatPlace } from "../../model/place";
import { groupDigits } from "../../model/words";
import type { ExecutionModel } from "../execution/model";
import { Asked, nameOf, Share, SpanLink, State } from "../parts";
import { Table, type Column } from "../Table";
import { chooseColumn, decodeSort, encodeSort, operationRows, SORT_COLUMNS, sortRows, type OperationRow, type SortColumn } from "./table";

export function OperationsView({ model }: { model: ExecutionModel }) {
  const answer = useAnswer(nameOf(model.path), model.revision, (signal) => fetchOperations(model.path, signal));
  return (
    <div class="vw-page">
      <Asked answer={answer} busy="Adding up">
        {(value) =>
          value.operations === undefined ? (
            <State title="No operation is known yet">
              <p>Events of nodes and tasks tell what the time is spent on; none has come in.</p>
            </State>
          ) : (
            <Operations model={model} answer={value} />
          )
        }
      </Asked>
    </div>
  );
}

function Operations({ model, answer }: { model: ExecutionModel; answer: OperationsJson }) {
  const sort = decodeSort(model.parameter("sort"));
  const critical = durationNs(answer.criticalPath);
  const rest = durationNs(answer.unattributedCritical);
  const duration = (title: string, hint: string, name: "total" | "union" | "self" | "mean" | "p50" | "p95"): Column<OperationRow> => ({
    ...{ title, hint },
    ns: (row) => row[name],
  });
  const columns: Column<OperationRow>[] = [
    {
      title: "Operation",
      hint: "What the time was spent on",
      cell: ({ operation, words }) => (
        <a
          class="sh-link vw-target vw-number"
          href={formatPlace(model.placeOf({ view: "timeline", filter: { ...NO_FILTER, operations: [operation] } }))}
          title={`${operation}: show only these in the timeline`}
        >
          {words}
        </a>
      ),
    },
    {
      title: "Critical",
      hint: "Time on the critical path, and its share of it",
      kind: "op-critical",
      ns: (row) => row.critical,
      cell: (row) => row.critical > 0 && <Critical ns={row.critical} whole={critical} />,
    },
    { title: "Count", hint: "Number of spans", isNumber: true, cell: ({ count }) => groupDigits(count) },
    { title: "Open", hint: "How many of them have not ended", isNumber: true, cell: ({ open }) => open > 0 && groupDigits(open) },
    duration("Total", "Sum of their durations: parallel work counts each time", "total"),
    duration("At least one", "Time during which at least one of them went on", "union"),
    duration("Self", "Part of the total that no part of them covers", "self"),
    duration("Mean", "Total divided by count", "mean"),
    duration("p50", "Half of them took at most this long", "p50"),
    duration("p95", "95 of 100 took at most this long", "p95"),
    {
      title: "Longest",
      hint: "The longest one; shows it in the timeline",
      ns: ({ max }) => max,
      cell: ({ max, longest, words }) =>
        longest === "" ? (
          formatDuration(max)
        ) : (
          <SpanLink model={model} span={longest} title={`Longest of ${words}`}>
            {formatDuration(max)}
          </SpanLink>
        ),
    },
  ];
  return (
    <>
      <p class="vw-note">
        The run took {formatDuration(durationNs(answer.wallTime))}. A name filters the timeline by the operation; the longest one
        leads to its span.
        {answer.approximate && " The critical path rests on an order that was worked out from times."}
      </p>
      <Table
        caption="Time by operation"
        kind="op-table"
        columns={columns}
        rows={sortRows(operationRows(answer), sort)}
        sort={{ by: SORT_COLUMNS, is: sort, choose: (by) => model.setParameter("sort", encodeSort(chooseColumn(sort, by as SortColumn))) }}
      >
        {rest > 0 && (
          <tfoot>
            <tr class="vw-muted">
              <th scope="row">Covered by no operation</th>
              <td class="is-number">
                <Critical ns={rest} whole={critical} />
              </td>
              <td colSpan={9} />
            </tr>
          </tfoot>
        )}
      </Table>
    </>
  );
}

function Critical({ ns, whole }: { ns: number; whole: number }) {
  return (
    <>
      {formatDuration(ns)} <span class="vw-muted op-share">{formatShare(ns, whole).replace("less than ", "<")}</span>
      <Share of={ns / whole} />
    </>
  );
}
