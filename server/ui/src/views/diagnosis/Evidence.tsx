// A stretch of time that a finding rests on, with what was told in it.

import { useSignal } from "@preact/signals";
import type { EvidenceJson } from "../../data/answers";
import { phaseName, timeNs } from "../../data/values";
import { formatDuration, formatExact } from "../../model/format";
import { formatPlace } from "../../model/place";
import { groupDigits, phaseWords, plural } from "../../model/words";
import type { ExecutionModel } from "../execution/model";
import { When } from "../parts";

/** Reasons that are shown at first. */
const REASONS = 2;
/** Around the stretch in the timeline, as a share of it. */
const MARGIN = 0.15;

/** Bounds of the timeline that has a stretch in the middle; both in nanoseconds since 1970. */
export function viewOf(model: ExecutionModel, start: bigint, end: bigint): { t0: number; t1: number } {
  const zero = model.live.execution.value?.startNs;
  if (zero === undefined) return { t0: NaN, t1: NaN };
  const margin = Math.max(1e6, Number(end - start) * MARGIN);
  return { t0: Math.round(Number(start - zero) - margin), t1: Math.round(Number(end - zero) + margin) };
}

export function EvidenceItem({ model, evidence }: { model: ExecutionModel; evidence: EvidenceJson }) {
  const all = useSignal(false);
  const start = timeNs(evidence.startTime) ?? 0n;
  const end = timeNs(evidence.endTime) ?? start;
  const name = evidence.label || evidence.path || model.path.name; // What is about the execution itself has no path.
  const href = formatPlace(
    model.placeOf({ view: "timeline", sel: evidence.spanId ?? "", panel: true, ...viewOf(model, start, end) }),
  );
  const reasons = evidence.reasons ?? [];
  const shown = all.value ? reasons : reasons.slice(0, REASONS);
  const length = Number(end - start);
  return (
    <li>
      <a class="sh-link vw-target dg-where" href={href} title={`${name}: show it in the timeline`}>
        <bdi>{name}</bdi>
      </a>{" "}
      <span class="vw-number" title={formatExact(length)}>
        {formatDuration(length)}
      </span>{" "}
      <span class="vw-muted">
        from <When ns={start} />
        {evidence.open === true && ", goes on"}
        {evidence.stale === true && ", nothing heard for long"}
      </span>
      {evidence.error?.message !== undefined && <p class="dg-reason vw-warn">{evidence.error.message}</p>}
      {shown.map((reason, i) => (
        <p key={i} class="dg-reason">
          <span class="vw-muted vw-number">{offsetWords(timeNs(reason.occurredAt), start)}</span>{" "}
          <span class="vw-muted">{phaseWords(phaseName(reason.phase)).text}</span>{" "}
          <bdi>{reason.message ?? ""}</bdi>
          {(reason.count ?? 1) > 1 && <b> ×{groupDigits(reason.count!)}</b>}
        </p>
      ))}
      {reasons.length > REASONS && (
        <button type="button" class="dg-toggle" aria-expanded={all.value} onClick={() => (all.value = !all.peek())}>
          {all.value ? "Show fewer" : `Show ${plural(reasons.length - REASONS, "more reason")}`}
        </button>
      )}
    </li>
  );
}

function offsetWords(at: bigint | null, start: bigint): string {
  if (at === null) return "";
  const offset = Number(at - start);
  return offset < 0 ? formatDuration(offset) : `+${formatDuration(offset)}`;
}
