// What the execution is and how it stands.

import { useSignal, useSignalEffect } from "@preact/signals";
import type { Header } from "../../data/execution";
import { listHref } from "../../shell/links";
import { nameOf, PhaseMark, Took, When } from "../parts";
import { formatQuery, parseQuery } from "../list/query";
import type { ExecutionModel } from "./model";

export function Heading({ model }: { model: ExecutionModel }) {
  const { path, live } = model;
  const execution = live.execution.value;
  const status = live.status.value;
  return (
    <header class="ex-heading">
      <div class="ex-names">
        <h1 tabIndex={-1} title={nameOf(path)}>
          <bdi>{path.name}</bdi>
        </h1>
        <a
          class="sh-link ex-where"
          href={listHref(formatQuery({ ...parseQuery({}), project: path.project, domain: path.domain }))}
          title={`All executions in ${path.project}/${path.domain}`}
        >
          <bdi>
            {path.project}/{path.domain}
          </bdi>
        </a>
        {execution !== null && <Workflow header={execution.header} />}
      </div>
      {execution !== null && (
        <div class="ex-facts">
          <PhaseMark phase={execution.header.phase} />
          <When ns={execution.startNs + BigInt(Math.round(execution.spans.start[0] ?? 0))} />
          <Length model={model} />
          {execution.header.stale && <span class="vw-warn">nothing heard for long</span>}
        </div>
      )}
      {status === "lost" && <LostBar />}
      {status === "gone" && <GoneBar />}
      {execution?.header.error != null && execution.header.error.message !== "" && <ErrorText header={execution.header} />}
    </header>
  );
}

function Workflow({ header }: { header: Header }) {
  if (header.workflow === null) return null;
  const { name, version } = header.workflow;
  return (
    <span class="ex-workflow" title={version === "" ? name : `${name}, version ${version}`}>
      <bdi>{name}</bdi> <bdi class="vw-muted">{version}</bdi>
    </span>
  );
}

function Length({ model }: { model: ExecutionModel }) {
  const { live } = model;
  const now = useSignal(0);
  useSignalEffect(() => {
    const execution = live.execution.value;
    const readAt = live.readAtMs.value;
    if (execution === null) return;
    const tick = (): void => {
      now.value = execution.asOfOffset + Math.max(0, performance.now() - readAt) * 1e6;
    };
    tick();
    if (!Number.isNaN(execution.endOffset) || live.status.value !== "live") return;
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  });
  const execution = live.execution.value!;
  const start = execution.spans.start[0] ?? 0;
  if (!Number.isNaN(execution.endOffset)) return <Took ns={Math.max(0, execution.endOffset - start)} />;
  return <Took ns={Math.max(0, Math.floor((now.value - start) / 1e9) * 1e9)} suffix=" so far" />;
}

function ErrorText({ header }: { header: Header }) {
  const { kind, code, message } = header.error!;
  const isOpen = useSignal(false);
  const [first, ...rest] = message.split("\n");
  const isLong = rest.length > 0 || first.length > 160;
  const name = [kind === "UNSPECIFIED" ? "" : kind, code].filter((part) => part !== "").join(" ");
  return (
    <div class="ex-error">
      {name !== "" && <b>{name}: </b>}
      {isOpen.value ? <pre class="sh-message">{message}</pre> : <bdi class="ex-error-line">{first}</bdi>}
      {isLong && (
        <button type="button" class="sh-button" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.peek())}>
          {isOpen.value ? "Less" : "All of it"}
        </button>
      )}
    </div>
  );
}

function LostBar() {
  return (
    <div class="vw-bar is-warning" role="alert">
      The server does not answer. What is shown is how it stood; it is tried again by itself.
    </div>
  );
}

function GoneBar() {
  return (
    <div class="vw-bar is-warning" role="alert">
      This execution was deleted from the server. What is shown is how it stood; a reload shows nothing of it.
    </div>
  );
}
