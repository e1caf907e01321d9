// One execution: what it is, and five views of it.

import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { formatPlace } from "../../model/place";
import { VIEWS, type ExecutionPath, type ExecutionState, type ViewName } from "../../model/url";
import { ErrorBoundary } from "../../shell/ErrorBoundary";
import { isTyping } from "../../shell/keys";
import { say } from "../../shell/say";
import type { PageCommand } from "../../timeline/keys";
import { TimelineView } from "../../timeline/TimelineView";
import { CompareView } from "../compare/CompareView";
import { DiagnosisView } from "../diagnosis/DiagnosisView";
import { OperationsView } from "../operations/OperationsView";
import { ReasonsView } from "../reasons/ReasonsView";
import { Busy, Failure, State } from "../parts";
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
  useSignalEffect(() => {
    document.title = `${path.name} · ${VIEW_WORDS[model.view.value]} · spanwise`;
  });
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else if (!document.activeElement?.closest("[role=tablist]")) focusView(panel.current);
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
      <Tabs model={model} />
      <div class="ex-panel" id="view" role="tabpanel" tabIndex={-1} aria-labelledby={`tab-${view}`} ref={panel}>
        <ErrorBoundary of={view}>
          <View model={model} onPageCommand={onPageCommand} />
        </ErrorBoundary>
      </div>
    </div>
  );
}

function View({ model, onPageCommand }: { model: ExecutionModel; onPageCommand: (command: PageCommand) => void }) {
  const source = useMemo(() => ({ key: model.path, ...model.live }), [model]);
  if (model.view.value === "timeline") return <TimelineView source={source} state={model.state} onPageCommand={onPageCommand} />;
  const execution = model.live.execution.value;
  if (execution === null) return <Nothing model={model} />;
  switch (model.view.value) {
    case "operations":
      return <OperationsView model={model} />;
    case "reasons":
      return <ReasonsView model={model} />;
    case "diagnosis":
      return <DiagnosisView model={model} />;
    case "compare":
      return <CompareView model={model} />;
  }
}

/** Instead of a view that has nothing to show. */
function Nothing({ model }: { model: ExecutionModel }) {
  const error = model.live.error.value;
  const status = model.live.status.value;
  if (status === "waiting") {
    return (
      <State title="No such execution yet">
        <p class="sh-wrap">{error?.message}</p>
        <p>It is shown as soon as its first event has come.</p>
      </State>
    );
  }
  if (status !== "failed" || error === null) return <Busy what="Reading the execution" />;
  return <Failure error={error} had={false} onAgain={() => location.reload()} />;
}

function Tabs({ model }: { model: ExecutionModel }) {
  const chosen = model.view.value;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [chosen]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = VIEWS.indexOf(chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: VIEWS.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const next = VIEWS[(to + VIEWS.length) % VIEWS.length];
    document.getElementById(`tab-${next}`)?.focus();
    model.go({ view: next });
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

function focusView(panel: HTMLElement | null): void {
  const inside = panel?.querySelector<HTMLElement>("[data-keys=tree], [data-first]");
  (inside ?? panel)?.focus({ preventScroll: true });
}

/** Says what changes by itself: the end of the run, and whether the server is there. */
function useAnnouncements(model: ExecutionModel): void {
  const before = useRef("");
  useSignalEffect(() => {
    const status = model.live.status.value;
    if (before.current === "lost" && status === "live") say("The server answers again");
    if (before.current === "live" && status === "lost") say("The server does not answer");
    if (before.current === "live" && status === "ended") say("The execution has ended");
    if (before.current === "waiting" && status === "live") say("The first event has come");
    if (status === "gone") say("The execution was deleted from the server");
    before.current = status;
  });
}
