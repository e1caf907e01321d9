// What several views show alike.

import type { ComponentChildren } from "preact";
import { ApiError } from "../data/api";
import type { ExecutionPath } from "../model/url";
import { formatDuration, formatExact, formatMoment, momentOf } from "../model/format";
import { phaseWords } from "../model/words";
import { PhaseGlyph } from "../timeline/Icon";
import { zone } from "../shell/zone";

const FAILED = new Set(["FAILED", "FAILING", "RETRYABLE_FAILED", "TIMED_OUT"]);

export function isFailed(phase: string): boolean {
  return FAILED.has(phase);
}

/** Sign and text of a phase. */
export function PhaseMark({ phase }: { phase: string }) {
  const failed = isFailed(phase);
  return (
    <span class={failed ? "vw-phase is-failed" : "vw-phase"}>
      <PhaseGlyph phase={phase} failed={failed} />
      {phaseWords(phase).text}
    </span>
  );
}

/** A duration; the exact one on hovering. */
export function Took({ ns, suffix = "", hint = suffix }: { ns: number; suffix?: string; hint?: string }) {
  return (
    <span class="vw-number" title={formatExact(ns) + hint}>
      {formatDuration(ns)}
      {suffix}
    </span>
  );
}

/** A moment to the second, by the clock that is chosen; on hovering exactly, and how long ago. */
export function When({ ns, nowNs }: { ns: bigint; nowNs?: bigint }) {
  const { date, time } = momentOf(ns, 0, zone.value);
  const ago = nowNs === undefined || nowNs < ns ? "" : `, ${formatDuration(Number(nowNs - ns))} ago`;
  return (
    <time class="vw-number" dateTime={isoOf(ns)} title={formatMoment(ns, 0, zone.value) + ago}>
      {date} {time.split(".", 1)[0]}
    </time>
  );
}

function isoOf(ns: bigint): string {
  return new Date(Number(ns / 1_000_000n)).toISOString();
}

export function nameOf({ project, domain, name }: ExecutionPath): string {
  return `${project}/${domain}/${name}`;
}

/** A place where there is nothing to show, and why. */
export function State({ title, alert = false, children }: { title: string; alert?: boolean; children?: ComponentChildren }) {
  return (
    <div class="sh-state" role={alert ? "alert" : undefined}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** What could not be asked. `had` says that there is an earlier answer, which stays. */
export function Failure({ error, had, onAgain }: { error: Error; had: boolean; onAgain: () => void }) {
  const again = (
    <button type="button" class="sh-button" onClick={onAgain}>
      Try again
    </button>
  );
  if (had) {
    return (
      <div class="vw-bar is-warning" role="alert">
        <span class="sh-wrap">{isAway(error) ? "The server does not answer; what is shown may be old." : error.message}</span>
        {again}
      </div>
    );
  }
  const [title, text] = explain(error);
  return (
    <State title={title} alert>
      <p class="sh-wrap">{text}</p>
      <p>{again}</p>
    </State>
  );
}

export function isAway(error: Error): boolean {
  return !(error instanceof ApiError) || error.code === "UNAVAILABLE";
}

function explain(error: Error): [string, string] {
  if (!(error instanceof ApiError)) {
    return ["The server does not answer", "It may be stopped, or the way to it broken. Start it with: spanwise serve"];
  }
  if (error.code === "UNAVAILABLE") return ["The server cannot answer now", error.message];
  if (error.code === "NOT_FOUND") return ["There is no such thing", error.message];
  if (error.code === "INVALID_ARGUMENT") return ["The server did not take the question", error.message];
  return ["The server has failed", error.message];
}

export function Busy({ what }: { what: string }) {
  return (
    <p class="vw-busy" role="status">
      {what}…
    </p>
  );
}
