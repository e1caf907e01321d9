// A stretch of time that a finding rests on, with what was told in it.

import { useSignal } from "@preact/signals";
import type { EvidenceJson } from "../../data/answers";
import { phaseName, timeNs } from "../../data/values";
import { formatSigned } from "../../model/format";
import { visibleMessage } from "../../model/visible";
import { groupDigits, phaseWords, plural } from "../../model/words";
import type { ExecutionModel } from "../execution/model";
import { Name, SpanLink, Took, When } from "../parts";

/** Reasons that are shown at first. */
const REASONS = 2;
/** Around the stretch in the timeline, as a share of it. */
const MARGIN = 0.15;

export function EvidenceItem({ model, evidence }: { model: ExecutionModel; evidence: EvidenceJson }) {
  const all = useSignal(false);
  const zero = model.live.execution.value!.startNs;
  const start = timeNs(evidence.startTime) ?? zero;
  const length = Number((timeNs(evidence.endTime) ?? start) - start);
  const margin = Math.max(1e6, length * MARGIN);
  const t0 = Math.round(Number(start - zero) - margin);
  const name = evidence.label || evidence.path || model.path.name; // What is about the execution itself has no path.
  const reasons = evidence.reasons ?? [];
  return (
    <li class="sh-wrap">
      <b>
        <SpanLink model={model} span={evidence.spanId ?? ""} title={name} state={{ t0, t1: Math.round(t0 + length + 2 * margin) }}>
          <Name of={name} />
        </SpanLink>
      </b>{" "}
      <Took ns={length} />{" "}
      <span class="vw-muted">
        from <When ns={start} />
        {evidence.open && ", goes on"}
        {evidence.stale && ", nothing heard for long"}
      </span>
      {evidence.error?.message && <p class="dg-reason vw-warn">{visibleMessage(evidence.error.message)}</p>}
      {reasons.slice(0, all.value ? undefined : REASONS).map(({ occurredAt, phase, message = "", count = 1 }, i) => (
        <p key={i} class="dg-reason">
          <span class="vw-muted">
            {formatSigned(Number((timeNs(occurredAt) ?? start) - start))} {phaseWords(phaseName(phase)).text}
          </span>{" "}
          <bdi>{visibleMessage(message)}</bdi>
          {count > 1 && <b> ×{groupDigits(count)}</b>}
        </p>
      ))}
      {reasons.length > REASONS && (
        <button type="button" class="sh-link vw-target dg-reason" aria-expanded={all.value} onClick={() => (all.value = !all.peek())}>
          {all.value ? "Show fewer" : `Show ${plural(reasons.length - REASONS, "more reason")}`}
        </button>
      )}
    </li>
  );
}
