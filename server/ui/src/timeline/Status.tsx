// How the run stands.

import { phaseWords, plural } from "../model/words";
import { formatDuration, momentOf } from "../model/format";
import { PhaseGlyph } from "./Icon";
import type { Store } from "./store";

/** A line under the timeline: phase, how much there is, and whether it is live. */
export function StatusLine({ store }: { store: Store }) {
  const { execution, codes } = store.shown.value;
  const { header, spans } = execution;
  const end = Number.isNaN(execution.endOffset) ? store.now.value : execution.endOffset;
  const length = Math.max(0, end - spans.start[0]); // The clock of who told of the start may be ahead.
  const isOpen = store.isOpen.value;
  return (
    <div class="tl-status">
      <span class="tl-status-phase">
        <PhaseGlyph phase={header.phase} failed={codes.failed[header.phases.indexOf(header.phase)] === 1} />
        {phaseWords(header.phase).text}
      </span>
      <span>
        {formatDuration(length)}
        {isOpen && " so far"}
      </span>
      {isOpen && store.source.status.value === "live" && (
        <span class="tl-live">
          Live, {store.running.value} running
        </span>
      )}
      {header.stale && <span>Nothing heard for long</span>}
      <span>
        {store.state.mode.value === "packed" ? plural(store.lineCount.value, "lane") : plural(store.lineCount.value, "row")} of {plural(spans.count, "span")}, {plural(execution.reasons.count, "reason")}
      </span>
      <span class="tl-status-zone">Times in {momentOf(execution.startNs, 0, store.state.tz.value).zone}</span>
    </div>
  );
}
