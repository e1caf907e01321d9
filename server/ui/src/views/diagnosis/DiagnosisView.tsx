// What cost most, why, and what to do about it.

import { useAnswer } from "../../data/answer";
import { fetchDiagnosis, type DiagnosisJson, type FindingJson } from "../../data/answers";
import { durationNs, operationName, timeNs } from "../../data/values";
import { formatDuration, formatExact, formatShare } from "../../model/format";
import { operationWords, plural } from "../../model/words";
import type { ExecutionModel } from "../execution/model";
import { Busy, Failure, nameOf, State } from "../parts";
import { EvidenceItem } from "./Evidence";
import { History } from "./History";
import { areaPath, parallelismWords, sumUp } from "./parallelism";

const FINDINGS = 5;
const MOST_FINDINGS = 50;

export function DiagnosisView({ model }: { model: ExecutionModel }) {
  const revision = model.live.execution.value!.header.revision;
  const most = model.parameter("all") === "1" ? MOST_FINDINGS : FINDINGS;
  const answer = useAnswer(`${nameOf(model.path)} ${most}`, revision, (signal) => fetchDiagnosis(model.path, most, signal));
  const value = answer.value.value;
  const error = answer.error.value;
  if (value === null) {
    return error === null ? <Busy what="Looking for causes" /> : <Failure error={error} had={false} onAgain={answer.again} />;
  }
  return (
    <div class="vw-page dg">
      {error !== null && <Failure error={error} had onAgain={answer.again} />}
      <Findings model={model} value={value} />
      <ParallelismChart value={value} />
      {(value.history ?? []).length > 0 && <History model={model} value={value} />}
    </div>
  );
}

function Findings({ model, value }: { model: ExecutionModel; value: DiagnosisJson }) {
  const findings = value.findings ?? [];
  if (findings.length === 0) {
    return (
      <State title={value.open === true ? "Nothing has cost time yet" : "Nothing stands out"}>
        <p>No event tells of time that was spent on the critical path.</p>
      </State>
    );
  }
  const critical = durationNs(value.criticalPath);
  const left = value.leftOutCount ?? 0;
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">What cost most</h2>
      <p class="vw-note">
        Shares are of the {formatDuration(critical)} that the run {value.open === true ? "has taken so far" : "took"}. Only time on
        the critical path counts: what lies beside it made nobody wait.
        {value.approximate === true && " Its order was worked out from times, as the workflow is not known."}
      </p>
      <ol class="dg-findings">
        {findings.map((finding) => (
          <Finding key={`${finding.cause ?? ""} ${finding.operation ?? ""}`} model={model} finding={finding} />
        ))}
      </ol>
      {left > 0 && (
        <p class="dg-more">
          {plural(left, "smaller finding")}, together {formatDuration(durationNs(value.leftOutCost))}
          {model.parameter("all") === "1" ? "." : ". "}
          {model.parameter("all") !== "1" && (
            <button type="button" class="sh-button" onClick={() => model.setParameter("all", "1")}>
              Show more
            </button>
          )}
        </p>
      )}
    </section>
  );
}

function Finding({ model, finding }: { model: ExecutionModel; finding: FindingJson }) {
  const cost = durationNs(finding.cost);
  const share = finding.share ?? 0;
  const evidence = finding.evidence ?? [];
  const advice = finding.advice ?? [];
  const left = finding.leftOutCount ?? 0;
  return (
    <li class="dg-finding">
      <div class="dg-cost">
        <b class="vw-number">{formatShare(share, 1)}</b>
        <span class="vw-number" title={formatExact(cost)}>
          {formatDuration(cost)}
        </span>
        <span class="dg-bar" aria-hidden="true">
          <span style={{ width: `${Math.min(100, share * 100)}%` }} />
        </span>
      </div>
      <div class="dg-text">
        <h3 class="sh-wrap">{finding.summary ?? operationWords(operationName(finding.operation))}</h3>
        {finding.open === true && <p class="vw-warn">It still goes on.</p>}
        {advice.length > 0 && (
          <ul class="dg-advice" aria-label="What to do">
            {advice.map(({ text = "", source = "" }) => (
              <li key={text}>
                {text} <Source text={source} />
              </li>
            ))}
          </ul>
        )}
        <ul class="dg-evidence" aria-label="What it rests on">
          {evidence.map((each, i) => (
            <EvidenceItem key={i} model={model} evidence={each} />
          ))}
        </ul>
        {left > 0 && (
          <p class="vw-muted">
            and {plural(left, "more stretch", "more stretches")}, together {formatDuration(durationNs(finding.leftOutCost))}
          </p>
        )}
      </div>
    </li>
  );
}

/** Where advice is written. Only what is an address for a browser becomes a link. */
function Source({ text }: { text: string }) {
  if (text === "") return null;
  if (!/^https:\/\/[^\s]+$/.test(text)) return <span class="vw-muted">({text})</span>;
  const host = new URL(text).hostname;
  return (
    <a class="sh-link" href={text} target="_blank" rel="noreferrer noopener" title={text}>
      {host}
    </a>
  );
}

const WIDTH = 600;
const HEIGHT = 56;

function ParallelismChart({ value }: { value: DiagnosisJson }) {
  const steps = value.parallelism ?? [];
  const first = timeNs(steps[0]?.startTime);
  if (first === null) return null;
  const asOf = timeNs(value.asOf) ?? first;
  const end = value.open === true ? Number(asOf - first) : 0;
  const sum = sumUp(
    steps.map((step) => ({ at: Number((timeNs(step.startTime) ?? first) - first), running: step.runningAttempts ?? 0 })),
    end,
  );
  if (sum === null) return null;
  const words = parallelismWords(sum);
  return (
    <section aria-labelledby="parallelism">
      <h2 id="parallelism">How much ran at once</h2>
      <p class="vw-note">{words}</p>
      {sum.most > 0 && (
        <figure class="dg-chart">
          <span class="dg-most" aria-hidden="true">
            {sum.most}
          </span>
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={words}>
            <path d={areaPath(sum, WIDTH, HEIGHT)} />
          </svg>
          <figcaption aria-hidden="true">
            <span>0s</span>
            <span>{formatDuration(sum.length)}</span>
          </figcaption>
        </figure>
      )}
    </section>
  );
}
