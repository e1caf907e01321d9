// What several views show alike.

import type { ComponentChildren, ComponentProps } from "preact";
import { ApiError } from "../data/api";
import type { Answer } from "../data/answer";
import { FAILED } from "../model/codes";
import { NO_FILTER } from "../model/filter";
import { formatDuration, formatExact, formatMoment, momentOf } from "../model/format";
import { formatPlace } from "../model/place";
import type { ExecutionPath, ExecutionState } from "../model/url";
import { visible } from "../model/visible";
import { phaseWords } from "../model/words";
import { zone } from "../shell/zone";
import { PhaseGlyph } from "../timeline/Icon";
import type { ExecutionModel } from "./execution/model";

/** Sign and text of a phase. */
export function PhaseMark({ phase }: { phase: string }) {
  const failed = FAILED.has(phase);
  return (
    <span class={failed ? "vw-phase vw-warn" : "vw-phase"}>
      <PhaseGlyph phase={phase} failed={failed} />
      <span>{phaseWords(phase).text}</span>
    </span>
  );
}

/** A name that comes from an answer, whatever is in it. */
export function Name({ of }: { of: string }) {
  return <bdi>{visible(of)}</bdi>;
}

export function nameOf({ project, domain, name }: ExecutionPath): string {
  return `${project}/${domain}/${name}`;
}

/** A workflow or task, with its version where that is known. */
export function versionOf(name: string, version: string): string {
  return visible(version === "" ? name : `${name}, version ${version}`);
}

/** A duration; the exact one on hovering. */
export function Took({ ns, hint = "", children }: { ns: number; hint?: string; children?: ComponentChildren }) {
  return (
    <span class="vw-number" title={formatExact(ns) + hint}>
      {formatDuration(ns)}
      {children}
    </span>
  );
}

/** A moment to the second, by the clock that is chosen; on hovering exactly, and how long ago. */
export function When({ ns, nowNs = 0n }: { ns: bigint; nowNs?: bigint }) {
  const { date, time } = momentOf(ns, 0, zone.value);
  const ago = nowNs < ns ? "" : `, ${formatDuration(Number(nowNs - ns))} ago`;
  return (
    <time class="vw-number" dateTime={new Date(Number(ns / 1_000_000n)).toISOString()} title={formatMoment(ns, 0, zone.value) + ago}>
      {date} {time.split(".", 1)[0]}
    </time>
  );
}

/** A bar as long as a part of a whole. */
export function Share({ of }: { of: number }) {
  return (
    <span class="vw-share" aria-hidden="true">
      <span style={{ width: `${100 * of}%` }} />
    </span>
  );
}

interface SpanLinkProps {
  model: ExecutionModel;
  /** Its id. */
  span: string;
  title: string;
  /** What else the timeline is to show. */
  state?: Partial<ExecutionState>;
  children: ComponentChildren;
}

/** Leads to a span in the timeline, with its details. */
export function SpanLink({ model, span, title, state, children }: SpanLinkProps) {
  const place = model.placeOf({ view: "timeline", sel: span, panel: true, t0: NaN, t1: NaN, filter: NO_FILTER, ...state });
  return (
    <a class="sh-link vw-target" href={formatPlace(place)} title={`${title}: show it in the timeline`}>
      {children}
    </a>
  );
}

export function Button(props: ComponentProps<"button">) {
  return <button type="button" class="sh-button" {...props} />;
}

/** A place where there is nothing to show, and why. */
export function State({ title, alert = false, children }: { title: string; alert?: boolean; children?: ComponentChildren }) {
  return (
    <div class="sh-state sh-wrap" role={alert ? "alert" : undefined}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Warning({ children }: { children: ComponentChildren }) {
  return (
    <div class="vw-bar is-warning sh-wrap" role="alert">
      {children}
    </div>
  );
}

export function Busy({ what }: { what: string }) {
  return (
    <p class="vw-note" role="status">
      {what}…
    </p>
  );
}

/** What could not be asked. `had` says that there is an earlier answer, which stays. */
export function Failure({ error, had, onAgain }: { error: Error; had: boolean; onAgain: () => void }) {
  const again = <Button onClick={onAgain}>Try again</Button>;
  const code = error instanceof ApiError ? error.code : "";
  if (had) {
    return (
      <Warning>
        {code === "" || code === "UNAVAILABLE" ? "The server does not answer; what is shown may be old." : error.message} {again}
      </Warning>
    );
  }
  return (
    <State title={FAILURES[code] ?? "The server has failed"} alert>
      <p>{code === "" ? "It may be stopped, or the way to it broken. Start it with: spanwise serve" : error.message}</p>
      <p>{again}</p>
    </State>
  );
}

const FAILURES: Record<string, string> = {
  "": "The server does not answer",
  UNAVAILABLE: "The server cannot answer now",
  NOT_FOUND: "There is no such thing",
  INVALID_ARGUMENT: "The server did not take the question",
};

/** What was asked for, as soon as it is there; until then, and when it fails, how it stands. */
export function Asked<T>({ answer, busy, children }: { answer: Answer<T>; busy: string; children: (value: T) => ComponentChildren }) {
  const value = answer.value.value;
  const error = answer.error.value;
  return (
    <>
      {error !== null && <Failure error={error} had={value !== null} onAgain={answer.again} />}
      {value !== null ? children(value) : error === null && <Busy what={busy} />}
    </>
  );
}
