// How attempts compare with earlier ones of the same task.

import type { DiagnosisJson, TaskHistoryJson } from "../../data/answers";
import { durationNs, operationName } from "../../data/values";
import { groupDigits, operationWords, plural } from "../../model/words";
import type { ExecutionModel } from "../execution/model";
import { Name, SpanLink } from "../parts";
import { Table, type Column } from "../Table";

export function History({ model, value }: { model: ExecutionModel; value: DiagnosisJson }) {
  const left = value.historyLeftOutCount ?? 0;
  const columns: Column<TaskHistoryJson>[] = [
    {
      title: "Attempt",
      kind: "sh-wrap",
      cell: ({ path = "", spanId = "" }) => (
        <SpanLink model={model} span={spanId} title={path}>
          <Name of={path} />
        </SpanLink>
      ),
    },
    { title: "Operation", cell: ({ operation }) => operationWords(operationName(operation)) },
    { title: "Here", ns: ({ duration }) => durationNs(duration) },
    { title: "p50", hint: "Half of the earlier ones took at most this long", ns: ({ p50 }) => durationNs(p50) },
    { title: "p95", hint: "95 of 100 earlier ones took at most this long", ns: ({ p95 }) => durationNs(p95) },
    { title: "Compared", isNumber: true, kind: "vw-muted", cell: ({ sampleCount }) => groupDigits(Number(sampleCount ?? 0)) },
    {
      title: "Mark",
      isBare: true,
      kind: "vw-warn",
      cell: ({ outlier, duration, p50 }) => outlier && (durationNs(duration) >= durationNs(p50) ? "▲ far slower" : "▼ far quicker"),
    },
  ];
  return (
    <section aria-labelledby="history">
      <h2 id="history">Compared with earlier runs</h2>
      <p class="vw-note">Each attempt beside earlier ones of the same task. Far outside of what is usual is marked.</p>
      <Table caption="Attempts compared with earlier ones" columns={columns} rows={value.history!} />
      {left > 0 && <p class="vw-note">{plural(left, "more comparison")} left out.</p>}
    </section>
  );
}
