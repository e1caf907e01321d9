// What the execution is and how it stands.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Execution, Header } from "../../data/execution";
import type { LiveStatus } from "../../data/live";
import { visible, visibleMessage } from "../../model/visible";
import { listHref } from "../../shell/links";
import { Button, Name, nameOf, PhaseMark, Took, versionOf, Warning, When } from "../parts";
import type { ExecutionModel } from "./model";

/** What to tell of a server that has nothing new to tell. */
const TROUBLES: Partial<Record<LiveStatus, string>> = {
  lost: "No answer from the server: what is shown may be out of date. It is tried again by itself.",
  gone: "This execution was deleted from the server. What is shown is how it stood; a reload shows nothing of it.",
};

export function Heading({ model }: { model: ExecutionModel }) {
  const { path, live } = model;
  const { project, domain } = path;
  const execution = live.execution.value;
  const header = execution?.header;
  const trouble = TROUBLES[live.status.value];
  return (
    <header class="ex-heading">
      <div class="ex-names">
        <h1 tabIndex={-1} title={visible(nameOf(path))}>
          <Name of={path.name} />
        </h1>
        <a class="sh-link vw-target" href={listHref({ project, domain })} title={`All executions in ${visible(`${project}/${domain}`)}`}>
          <Name of={`${project}/${domain}`} />
        </a>
        {header?.workflow && <Workflow {...header.workflow} />}
      </div>
      {execution && (
        <div class="ex-facts">
          <PhaseMark phase={execution.header.phase} />
          <When ns={execution.startNs + BigInt(Math.round(startOf(execution)))} />
          <Length model={model} execution={execution} />
          {execution.header.stale && <span class="vw-warn">nothing heard for long</span>}
        </div>
      )}
      {trouble && <Warning>{trouble}</Warning>}
      {header?.error?.message && <ErrorText {...header.error} />}
    </header>
  );
}

function Workflow({ name, version }: { name: string; version: string }) {
  return (
    <span title={versionOf(name, version)}>
      <Name of={name} /> {version && (
        <span class="vw-muted">
          <Name of={version} />
        </span>
      )}
    </span>
  );
}

function startOf({ spans }: Execution): number {
  return spans.start[0] ?? 0;
}

function Length({ model, execution }: { model: ExecutionModel; execution: Execution }) {
  const { live } = model;
  const { endOffset, asOfOffset } = execution;
  const isOpen = Number.isNaN(endOffset);
  const ticks = isOpen && live.status.value === "live";
  const nowMs = useSignal(0);
  useEffect(() => {
    if (!ticks) return;
    const timer = setInterval(() => (nowMs.value = performance.now()), 1000);
    return () => clearInterval(timer);
  }, [ticks]);
  const ns = Math.max(0, (isOpen ? asOfOffset + Math.max(0, nowMs.value - live.readAtMs.value) * 1e6 : endOffset) - startOf(execution));
  return isOpen ? <Took ns={Math.floor(ns / 1e9) * 1e9}> so far</Took> : <Took ns={ns} />;
}

function ErrorText({ kind, code, message }: NonNullable<Header["error"]>) {
  const isOpen = useSignal(false);
  const text = visibleMessage(message.trim());
  const [first] = text.split("\n", 1);
  const isLong = first !== text || first.length > 160;
  const name = [kind === "UNSPECIFIED" ? "" : kind, code].filter(Boolean).join(" ");
  return (
    <div class="ex-error">
      {name !== "" && <b>{visible(name)}: </b>}
      {isOpen.value ? <pre class="sh-message">{text}</pre> : <bdi>{first}</bdi>}
      {isLong && (
        <Button aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.peek())}>
          {isOpen.value ? "Less" : "All of it"}
        </Button>
      )}
    </div>
  );
}
