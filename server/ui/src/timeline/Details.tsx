// What is known of the selected span, beside the timeline; on a narrow page a sheet below it.

import { useEffect } from "preact/hooks";
import type { SpanJson } from "../data/api";
import type { Execution } from "../data/execution";
import { endOf } from "../model/codes";
import { formatDuration, formatExact, formatMoment, formatOffset, formatShare } from "../model/format";
import { visible, visibleMessage } from "../model/visible";
import { cacheWords, kindWords, operationWords, phaseWords, plural, qualityWords } from "../model/words";
import { select } from "./actions";
import { Attributes, Links } from "./Attributes";
import { Groups } from "./BarTip";
import { GroupBar } from "./GroupBar";
import { Icon, PhaseGlyph } from "./Icon";
import { PhaseHistory } from "./PhaseHistory";
import { ReasonList } from "./ReasonList";
import { flagsOf, kindHint, labelOf, spanName, subtasksOf } from "./rowFacts";
import { spanDetails } from "./spanDetails";
import type { Shown, Store } from "./store";

/** Attempts whose own details are read with those of their node. */
const MOST_ATTEMPTS = 4;
/** Time that somebody who steps through rows stays at one: only then the server is asked. */
const REST_MS = 150;

interface Props {
  store: Store;
  onClosed: () => void;
}

export function Details({ store, onClosed }: Props) {
  const shown = store.shown.value;
  const span = store.selected.value;
  if (span < 0 || !store.state.panel.value) return null;
  const close = (): void => {
    store.state.panel.value = false;
    onClosed();
  };
  return (
    <aside class="tl-details" tabIndex={-1} aria-label={`Details of ${spanName(shown, span)}`} data-keys="details">
      <button type="button" class="tl-button tl-details-close" aria-label="Close the details" title="Close (Esc)" onClick={close}>
        <Icon name="close" />
      </button>
      <SpanDetailsView key={store.idOf(span)} store={store} shown={shown} span={span} />
    </aside>
  );
}

interface ViewProps {
  store: Store;
  shown: Shown;
  span: number;
}

function SpanDetailsView({ store, shown, span }: ViewProps) {
  const { execution, codes } = shown;
  const { spans, header } = execution;
  const attempts = attemptsOf(shown, span);
  const asked = [span, ...attempts.slice(0, MOST_ATTEMPTS)].map((each) => spanDetails(store, store.idOf(each)));
  useEffect(() => {
    const timer = setTimeout(() => asked.forEach((each) => void each.load()), REST_MS);
    return () => clearTimeout(timer);
  }, [execution, span]);

  const own = asked[0].span.value;
  const ofAttempts = asked.slice(1).map((each) => each.span.value);
  const error = asked.map((each) => each.error.value).find((each) => each !== null);
  const isOpen = Number.isNaN(spans.end[span]);
  const now = isOpen ? store.now.value : store.now.peek();
  const length = endOf(execution, span, now) - spans.start[span];
  const zone = store.state.tz.value;
  const phase = header.phases[spans.phase[span]];
  const isOperation = spans.kind[span] === codes.kinds.operation;
  const critical = criticalTime(shown, span);
  const flags = flagsOf(shown, span);
  const label = labelOf(shown, span);
  const subtasks = isOperation ? "" : subtasksOf(shown, span);
  const cache = cacheWords(header.cache_statuses[spans.cache[span]]);
  const attempt = ofAttempts.length === 1 ? ofAttempts[0] : null;
  return (
    <>
      <h2>
        {!isOperation && <PhaseGlyph phase={phase} failed={codes.failed[spans.phase[span]] === 1} />}
        {isOperation ? operationWords(header.operations[spans.operation[span]]) : spanName(shown, span)}
      </h2>
      <p class="tl-muted tl-wrap">
        {[kindHint(shown, span) || kindWords(header.kinds[spans.kind[span]]).toLowerCase(), label].filter(Boolean).join(" · ")}
      </p>
      <dl class="tl-facts">
        {!isOperation && <Fact name="Phase">{phaseWords(phase).text}</Fact>}
        <Fact name="Duration">
          <b>{formatDuration(length)}</b> {isOpen ? "so far" : formatExact(length) === formatDuration(length) ? "" : `(${formatExact(length)})`}
        </Fact>
        <Fact name="Started">
          {formatMoment(execution.startNs, spans.start[span], zone)}
          <br />
          <span class="tl-muted">{formatOffset(spans.start[span])} from the start of the run</span>
        </Fact>
        <Fact name="Ended">{isOpen ? "not yet" : formatMoment(execution.startNs, spans.end[span], zone)}</Fact>
        {critical > 0 && (
          <Fact name="Critical path">
            {formatDuration(critical)}, {formatShare(critical, pathLength(shown))} of it
          </Fact>
        )}
        {subtasks !== "" && <Fact name="Sub-tasks">{subtasks}</Fact>}
        {cache !== "" && <Fact name="Cache">{cache}</Fact>}
        {!isOperation && <Fact name="Self time">{formatDuration(selfTime(execution, span, now))}</Fact>}
      </dl>
      <Failure spans={[own, ...ofAttempts]} owners={["", ...attempts.map((each) => spanName(shown, each))]} />
      {flags.length > 0 && (
        <ul class="tl-flags">
          {flags.map(({ owner, quality }) => (
            <li key={`${owner} ${quality}`}>
              {owner !== "" && `${owner}: `}
              <b>{qualityWords(quality).title}.</b> {qualityWords(quality).meaning}
            </li>
          ))}
        </ul>
      )}
      {!isOperation && (
        <section>
          <h3>Where the time went</h3>
          <GroupBar shown={shown} span={span} now={now} />
          <Groups shown={shown} span={span} now={now} />
        </section>
      )}
      <Links spans={[own, ...ofAttempts]} />
      {attempts.length > 1 && <Attempts store={store} shown={shown} attempts={attempts} now={now} />}
      <ReasonList key={span} store={store} shown={shown} span={span} />
      <PhaseHistory store={store} shown={shown} span={attempt ?? own} />
      <Attributes span={own} attempt={attempt} />
      {own === null && error === undefined && <p class="tl-muted">Reading more…</p>}
      {error !== undefined && error !== null && <p role="alert">More cannot be read: {error.message}</p>}
    </>
  );
}

export function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** What a span and its attempts failed with, and which of them did. What the span itself says is not told of attempts again. */
function Failure({ spans, owners }: { spans: (SpanJson | null)[]; owners: readonly string[] }) {
  const told = new Map<string, { error: NonNullable<SpanJson["error"]>; by: string[] }>();
  spans.forEach((span, i) => {
    if (span?.error === undefined) return;
    const key = span.error.message ?? "";
    const before = told.get(key);
    if (before === undefined) told.set(key, { error: span.error, by: [owners[i]] });
    else if (before.by[0] !== "") before.by.push(owners[i]);
  });
  return (
    <>
      {Array.from(told, ([key, { error: { code, kind = "", message = "" }, by }]) => (
        <section class="tl-error" key={key}>
          <h3>
            {by[0] !== "" && `${by.join(", ")}: `}
            {code ? visible(code) : "Error"}
            {kind !== "" && <span class="tl-muted"> ({kind.replace("ERROR_KIND_", "").toLowerCase()} error)</span>}
          </h3>
          <pre>{visibleMessage(message)}</pre>
        </section>
      ))}
    </>
  );
}

function Attempts({ store, shown, attempts, now }: { store: Store; shown: Shown; attempts: number[]; now: number }) {
  const { execution, codes } = shown;
  const { spans, header } = execution;
  return (
    <section>
      <h3>{plural(attempts.length, "attempt")}</h3>
      <ul class="tl-attempts">
        {attempts.map((attempt) => (
          <li key={attempt}>
            <button type="button" class="tl-link" onClick={() => select(store, attempt, { reveal: true })}>
              <PhaseGlyph phase={header.phases[spans.phase[attempt]]} failed={codes.failed[spans.phase[attempt]] === 1} />
              {spanName(shown, attempt)}
            </button>
            <span>{phaseWords(header.phases[spans.phase[attempt]]).text}</span>
            <span class="tl-number">{formatDuration(endOf(execution, attempt, now) - spans.start[attempt])}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function attemptsOf({ execution, codes }: Shown, span: number): number[] {
  const { spans } = execution;
  const attempts: number[] = [];
  for (let i = span + 1; i < spans.subtreeEnd[span]; i = spans.subtreeEnd[i]) {
    if (spans.kind[i] === codes.kinds.attempt) attempts.push(i);
  }
  return attempts;
}

/** Time of the critical path that went into a span or anything in it. */
function criticalTime({ execution }: Shown, span: number): number {
  const { critical, subtreeEnd } = execution.spans;
  let sum = 0;
  for (let i = span; i < subtreeEnd[span]; i++) sum += critical[i];
  return sum;
}

function pathLength({ execution }: Shown): number {
  const { segments } = execution;
  return segments.count === 0 ? 0 : segments.end[segments.count - 1] - segments.start[0];
}

/** Time that nothing inside of a span covers. The server would add up the whole execution for it. */
function selfTime(execution: Execution, span: number, now: number): number {
  const { start, subtreeEnd } = execution.spans;
  const end = endOf(execution, span, now);
  let reached = start[span];
  let self = 0;
  for (let i = span + 1; i < subtreeEnd[span]; i = subtreeEnd[i]) {
    self += Math.max(0, Math.min(start[i], end) - reached);
    reached = Math.max(reached, endOf(execution, i, now));
  }
  return self + Math.max(0, end - reached);
}
