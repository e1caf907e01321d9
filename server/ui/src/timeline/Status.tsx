// How it stands: with the run, and with the server.

import { useSignal, useSignalEffect } from "@preact/signals";
import { isRefusal } from "../data/live";
import { visible } from "../model/visible";
import { phaseWords, plural } from "../model/words";
import { formatDuration, momentOf } from "../model/format";
import { PhaseGlyph } from "./Icon";
import type { Store } from "./store";
import type { LiveSource } from "./TimelineView";

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

/** What stands in the way: not read yet, not found, or the server does not answer. */
export function Trouble({ source }: { source: LiveSource }) {
  const status = source.status.value;
  const error = source.error.value;
  const isLate = useSignal(false);
  // Who waits for less than this sees no words flash by.
  useSignalEffect(() => {
    isLate.value = false;
    if (source.status.value !== "loading") return;
    const timer = setTimeout(() => (isLate.value = true), 200);
    return () => clearTimeout(timer);
  });
  if (status === "loading") return <div class="tl-state">{isLate.value && <p role="status">Reading the execution…</p>}</div>;
  if (status === "waiting") {
    const { project, domain, name } = source.key;
    return (
      <div class="tl-state" role="status">
        <h2>No such execution yet</h2>
        <p>
          Nothing has been heard of {[project, domain, name].map(visible).join("/")}.
        </p>
        <p class="tl-muted">It is shown as soon as its first event has come.</p>
      </div>
    );
  }
  if (status === "failed") {
    return (
      <div class="tl-state" role="alert">
        <h2>The execution cannot be read</h2>
        <p>{error?.message}</p>
        {!isRefusal(error) && <p class="tl-muted">It is tried again by itself.</p>}
      </div>
    );
  }
  if (status === "lost") {
    return (
      <div class="tl-banner" role="alert">
        No answer from the server: what is shown may be out of date. It is tried again by itself.
      </div>
    );
  }
  return null;
}
