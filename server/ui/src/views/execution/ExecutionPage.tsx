// One execution: what it is, and five views of it.

import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useAnswer } from "../../data/answer";
import { fetchDiagnosis } from "../../data/answers";
import { formatPlace } from "../../model/place";
import { VIEWS, type ExecutionPath, type ExecutionState, type ViewName } from "../../model/url";
import { visible } from "../../model/visible";
import { ErrorBoundary } from "../../shell/ErrorBoundary";
import { isTyping } from "../../shell/keys";
import { listHref } from "../../shell/links";
import { say } from "../../shell/say";
import type { PageCommand } from "../../timeline/keys";
import type { Source } from "../../timeline/store";
import { TimelineView } from "../../timeline/TimelineView";
import { CompareView } from "../compare/CompareView";
import { DiagnosisView, summaryOf } from "../diagnosis/DiagnosisView";
import { OperationsView } from "../operations/OperationsView";
import { ReasonsView } from "../reasons/ReasonsView";
import { Busy, Failure, nameOf, State } from "../parts";
import { Heading } from "./Heading";
import { ExecutionModel } from "./model";

export const VIEW_WORDS: Record<ViewName, string> = {
  timeline: "Timeline",
  operations: "Operations",
  reasons: "Reasons",
  diagnosis: "Diagnosis",
  compare: "Compare",
};

interface Props {
  path: ExecutionPath;
  state: ExecutionState;
  onHelp: () => void;
  onTheme: () => void;
}

/** To be mounted anew for another execution. */
export function ExecutionPage({ path, state, onHelp, onTheme }: Props) {
  const model = useMemo(() => new ExecutionModel(path, state), []);
  const panel = useRef<HTMLDivElement>(null);
  const view = model.view.value;
  const isFirst = useRef(true);
  useEffect(() => () => model.close(), [model]);
  useEffect(() => {
    // Another address of the same execution: a link, or the way back.
    if (formatPlace(model.place.peek()) !== formatPlace({ page: "execution", path, state })) model.apply(state);
  }, [state]);
  useEffect(() => {
    document.title = `${visible(path.name)} · ${VIEW_WORDS[view]} · spanwise`;
    if (isFirst.current) isFirst.current = false;
    else if (!document.activeElement?.closest("[role=tablist]")) {
      const inside = panel.current!.querySelector<HTMLElement>("[data-keys=tree], [data-first]");
      (inside ?? panel.current!).focus({ preventScroll: true });
    }
  }, [view]);
  useAnnouncements(model);
  const onPageCommand = (command: PageCommand): void => {
    if (command === "help") onHelp();
    else if (command === "theme") onTheme();
    else model.go({ view: VIEWS[Number(command.slice(4)) - 1] });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || isTyping(event) || !/^[1-5]$/.test(event.key)) return;
    event.preventDefault();
    onPageCommand(`view${event.key}` as PageCommand);
  };
  return (
    <div class="ex" onKeyDown={onKeyDown}>
      <Heading model={model} />
      <div class="ex-bar">
        <Tabs model={model} />
        <WhySoLong model={model} />
      </div>
      <div class="ex-panel" id="view" role="tabpanel" tabIndex={-1} aria-labelledby={`tab-${view}`} ref={panel}>
        <ErrorBoundary key={view}>
          <View model={model} onPageCommand={onPageCommand} />
        </ErrorBoundary>
      </div>
    </div>
  );
}

function View({ model, onPageCommand }: { model: ExecutionModel; onPageCommand: (command: PageCommand) => void }) {
  const { live, path } = model;
  const source = useMemo(() => ({ key: path, ...live }) as Source, [model]); // There is an execution where it is used.
  const status = live.status.value;
  const view = model.view.value;
  if (status === "waiting") {
    return (
      <State title="No such execution yet">
        <p>
          Nothing has been heard of <b>{visible(nameOf(path))}</b>. If it is about to start, wait: it is shown as soon as its first
          event has come. If not, look for its name among{" "}
          <a class="sh-link" href={listHref()}>
            all executions
          </a>
          .
        </p>
      </State>
    );
  }
  if (status === "failed") return <Failure error={live.error.value!} had={false} onAgain={() => location.reload()} />;
  if (live.execution.value === null) return <Busy what="Reading the execution" />;
  if (view === "timeline") return <TimelineView source={source} state={model.state} onPageCommand={onPageCommand} />;
  const Chosen = { operations: OperationsView, reasons: ReasonsView, diagnosis: DiagnosisView, compare: CompareView }[view];
  return <Chosen model={model} />;
}

/** The server looks for causes for about a second in an execution of this many spans: in larger ones only when it is asked to. */
const MOST_SPANS = 20_000;

/** The way to the diagnosis: what it begins with, once it is known. Nothing while it is in view anyway. */
function WhySoLong({ model }: { model: ExecutionModel }) {
  const execution = model.live.execution.value;
  if (execution === null || model.view.value === "diagnosis") return null;
  return execution.spans.count > MOST_SPANS ? <Why model={model} words="What cost most?" /> : <FirstFinding model={model} />;
}

function FirstFinding({ model }: { model: ExecutionModel }) {
  const answer = useAnswer(nameOf(model.path), model.revision, (signal) => fetchDiagnosis(model.path, 1, signal));
  const finding = answer.value.value?.findings?.[0];
  return finding ? <Why model={model} words={summaryOf(finding)} /> : null;
}

function Why({ model, words }: { model: ExecutionModel; words: string }) {
  return (
    <a class="sh-link ex-finding" href={formatPlace(model.placeOf({ view: "diagnosis" }))} title={`${words} Show the diagnosis`}>
      {words}
    </a>
  );
}

function Tabs({ model }: { model: ExecutionModel }) {
  const chosen = model.view.value;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current!.querySelector("[aria-selected=true]")!.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [chosen]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = VIEWS.indexOf(chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: VIEWS.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const view = VIEWS.at(to % VIEWS.length)!;
    document.getElementById(`tab-${view}`)!.focus();
    model.go({ view });
  };
  return (
    <div class="ex-tabs" ref={list} role="tablist" aria-label="Views" onKeyDown={onKeyDown}>
      {VIEWS.map((view, i) => (
        <a
          key={view}
          id={`tab-${view}`}
          role="tab"
          aria-selected={view === chosen}
          aria-controls="view"
          tabIndex={view === chosen ? 0 : -1}
          title={`${VIEW_WORDS[view]} (${i + 1})`}
          href={formatPlace(model.placeOf({ view }))}
        >
          {VIEW_WORDS[view]}
        </a>
      ))}
    </div>
  );
}

/** What is said when it changes by itself: the end of the run, and whether the server is there. */
const SAID: Record<string, string> = {
  "lost live": "The server answers again",
  "live lost": "The server does not answer",
  "live ended": "The execution has ended",
  "waiting live": "The first event has come",
};

function useAnnouncements(model: ExecutionModel): void {
  const before = useRef("");
  useSignalEffect(() => {
    const status = model.live.status.value;
    const words = status === "gone" ? "The execution was deleted from the server" : SAID[`${before.current} ${status}`];
    if (words) say(words);
    before.current = status;
  });
}
