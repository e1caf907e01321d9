// How attempts compare with earlier ones of the same task.

import type { DiagnosisJson, TaskHistoryJson } from "../../data/answers";
import { durationNs, operationName } from "../../data/values";
import { formatDuration, formatExact } from "../../model/format";
import { formatPlace } from "../../model/place";
import { groupDigits, operationWords, plural } from "../../model/words";
import type { ExecutionModel } from "../execution/model";

export function History({ model, value }: { model: ExecutionModel; value: DiagnosisJson }) {
  const left = value.historyLeftOutCount ?? 0;
  return (
    <section aria-labelledby="history">
      <h2 id="history">Compared with earlier runs</h2>
      <p class="vw-note">Each attempt beside earlier ones of the same task. Far outside of what is usual is marked.</p>
      <div class="vw-scroll-x">
        <table class="vw-table">
          <caption class="sr-only">Attempts compared with earlier ones</caption>
          <thead>
            <tr>
              <th scope="col">Attempt</th>
              <th scope="col">Operation</th>
              <th scope="col" class="is-number">
                Here
              </th>
              <th scope="col" class="is-number" title="Half of the earlier ones took at most this long">
                p50
              </th>
              <th scope="col" class="is-number" title="95 of 100 earlier ones took at most this long">
                p95
              </th>
              <th scope="col" class="is-number">
                Compared
              </th>
              <th scope="col">
                <span class="sr-only">Mark</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {(value.history ?? []).map((line) => (
              <Line key={`${line.spanId ?? ""} ${line.operation ?? ""}`} model={model} line={line} />
            ))}
          </tbody>
        </table>
      </div>
      {left > 0 && <p class="dg-more">{plural(left, "more comparison")} left out.</p>}
    </section>
  );
}

function Line({ model, line }: { model: ExecutionModel; line: TaskHistoryJson }) {
  const [here, p50, p95] = [line.duration, line.p50, line.p95].map(durationNs);
  const href = formatPlace(model.placeOf({ view: "timeline", sel: line.spanId ?? "", panel: true, t0: NaN, t1: NaN }));
  return (
    <tr>
      <th scope="row" class="dg-path">
        <a class="sh-link vw-target" href={href} title={`${line.path ?? ""}: show it in the timeline`}>
          <bdi>{line.path ?? ""}</bdi>
        </a>
      </th>
      <td>{operationWords(operationName(line.operation))}</td>
      {[here, p50, p95].map((ns, i) => (
        <td key={i} class="is-number" title={formatExact(ns)}>
          {formatDuration(ns)}
        </td>
      ))}
      <td class="is-number vw-muted">{groupDigits(Number(line.sampleCount ?? 0))}</td>
      <td class="vw-warn">{line.outlier === true && (here >= p50 ? "▲ far slower" : "▼ far quicker")}</td>
    </tr>
  );
}
