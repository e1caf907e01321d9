// What cost most, why, and what to do about it.

import { useAnswer } from "../../data/answer";
import { fetchDiagnosis, type DiagnosisJson, type FindingJson } from "../../data/answers";
import { durationNs, operationName, timeNs } from "../../data/values";
import { formatDuration, formatShare } from "../../model/format";
import { visibleMessage } from "../../model/visible";
import { operationWords, plural } from "../../model/words";
import type { ExecutionModel } from "../execution/model";
import { Asked, Button, nameOf, Share, State, Took } from "../parts";
import { EvidenceItem } from "./Evidence";
import { History } from "./History";
import { areaPath, parallelismWords, sumUp } from "./parallelism";

const FINDINGS = 5;
const MOST_FINDINGS = 50;

export function DiagnosisView({ model }: { model: ExecutionModel }) {
  const { path, revision } = model;
  const most = model.parameter("all") === "1" ? MOST_FINDINGS : FINDINGS;
  const answer = useAnswer(`${nameOf(path)} ${most}`, revision, (signal) => fetchDiagnosis(path, most, signal));
  return (
    <div class="vw-page">
      <Asked answer={answer} busy="Looking for causes">
        {(value) => (
          <>
            <Findings model={model} value={value} />
            <ParallelismChart value={value} />
            {value.history && <History model={model} value={value} />}
          </>
        )}
      </Asked>
    </div>
  );
}

/** What was found, in a sentence. */
export function summaryOf({ summary, operation }: FindingJson): string {
  return visibleMessage(summary ?? operationWords(operationName(operation)));
}

function Findings({ model, value }: { model: ExecutionModel; value: DiagnosisJson }) {
  const { findings, open, leftOutCount = 0 } = value;
  if (findings === undefined) {
    return (
      <State title={open ? "Nothing has cost time yet" : "Nothing stands out"}>
        <p>No event tells of time that was spent on the critical path.</p>
      </State>
    );
  }
  const isWhole = model.parameter("all") === "1";
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">What cost most</h2>
      <p class="vw-note">
        Shares are of the {formatDuration(durationNs(value.criticalPath))} that the run {open ? "has taken so far" : "took"}. Only time
        on the critical path counts: what lies beside it made nobody wait.
        {value.approximate && " Its order was worked out from times, as the workflow is not known."}
      </p>
      <ol class="vw-list">
        {findings.map((finding) => (
          <Finding key={`${finding.cause} ${finding.operation}`} model={model} finding={finding} />
        ))}
      </ol>
      {leftOutCount > 0 && (
        <p class="vw-note">
          {plural(leftOutCount, "smaller finding")}, together {formatDuration(durationNs(value.leftOutCost))}.{" "}
          {!isWhole && <Button onClick={() => model.setParameter("all", "1")}>Show more</Button>}
        </p>
      )}
    </section>
  );
}

function Finding({ model, finding }: { model: ExecutionModel; finding: FindingJson }) {
  const { share = 0, advice, evidence = [], leftOutCount = 0 } = finding;
  return (
    <li class="dg-finding">
      <div class="dg-cost">
        <b>{formatShare(share, 1)}</b>
        <Took ns={durationNs(finding.cost)} />
        <Share of={share} />
      </div>
      <div class="dg-text sh-wrap">
        <h3>{summaryOf(finding)}</h3>
        {finding.open && <p class="vw-warn">It still goes on.</p>}
        {advice && (
          <ul aria-label="What to do">
            {advice.map(({ text = "", source = "" }) => (
              <li key={text}>
                {text} <Source text={source} />
              </li>
            ))}
          </ul>
        )}
        <ul class="vw-list dg-evidence" aria-label="What it rests on">
          {evidence.map((each, i) => (
            <EvidenceItem key={i} model={model} evidence={each} />
          ))}
        </ul>
        {leftOutCount > 0 && (
          <p class="vw-muted">
            and {plural(leftOutCount, "more stretch", "more stretches")}, together {formatDuration(durationNs(finding.leftOutCost))}
          </p>
        )}
      </div>
    </li>
  );
}

/** Where advice is written. Only what is an address for a browser becomes a link. */
function Source({ text }: { text: string }) {
  if (!/^https:\/\/\S+$/.test(text)) return text && <span class="vw-muted">({text})</span>;
  return (
    <a class="sh-link" href={text} target="_blank" rel="noreferrer noopener" title={text}>
      {new URL(text).hostname}
    </a>
  );
}

const WIDTH = 600;
const HEIGHT = 56;

function ParallelismChart({ value }: { value: DiagnosisJson }) {
  const steps = value.parallelism ?? [];
  const first = timeNs(steps[0]?.startTime);
  if (first === null) return null;
  const offset = (time: string | undefined) => Number((timeNs(time) ?? first) - first);
  const sum = sumUp(
    steps.map(({ startTime, runningAttempts = 0 }) => ({ at: offset(startTime), running: runningAttempts })),
    value.open ? offset(value.asOf) : 0,
  );
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
