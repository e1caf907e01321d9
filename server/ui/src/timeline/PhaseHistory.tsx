// Every stay in a phase, and how long it lasted.

import type { SpanJson } from "../data/api";
import { formatDuration, momentOf } from "../model/format";
import { phaseWords } from "../model/words";
import { PhaseGlyph } from "./Icon";
import type { Shown, Store } from "./store";
import { offsetOf } from "./times";

export function PhaseHistory({ store, shown, span }: { store: Store; shown: Shown; span: SpanJson | null }) {
  const intervals = span?.phaseIntervals ?? [];
  if (intervals.length === 0) return null;
  const { startNs, header } = shown.execution;
  return (
    <section>
      <h3>Phases</h3>
      <ol class="tl-phases">
        {intervals.map((interval, i) => {
          const phase = (interval.phase ?? "PHASE_UNSPECIFIED").replace("PHASE_", "");
          const start = offsetOf(interval.startTime, startNs);
          const end = interval.endTime === undefined ? store.now.value : offsetOf(interval.endTime, startNs);
          const isLast = i === intervals.length - 1;
          return (
            <li key={i}>
              <PhaseGlyph phase={phase} failed={shown.codes.failed[header.phases.indexOf(phase)] === 1} />
              <span>{phaseWords(phase).text}</span>
              <time class="tl-muted">{momentOf(startNs, start, store.state.tz.value).time}</time>
              <span class="tl-number">{isLast && end === start ? "" : formatDuration(end - start)}</span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
