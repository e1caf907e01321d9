// What is known of a span by name, and where it leads.

import type { EntityVersionJson, SpanJson } from "../data/api";
import { visible } from "../model/visible";
import { nodeKindWords } from "../model/words";
import { Fact } from "./Details";

/** Only these lead anywhere; an address of any other kind is shown as text. */
const SAFE = /^https?:\/\//i;

export function Links({ spans }: { spans: (SpanJson | null)[] }) {
  const links = spans.flatMap((span) => [...(span?.taskAttempt?.logs ?? []), ...(span?.subtask?.logs ?? [])]);
  if (links.length === 0) return null;
  return (
    <section>
      <h3>Links</h3>
      <ul class="tl-links">
        {links.map(({ name, uri = "" }, i) => (
          <li key={i}>
            {SAFE.test(uri) ? (
              <a href={uri} rel="noopener noreferrer" target="_blank">
                {visible(name || uri)}
              </a>
            ) : (
              <span class="tl-wrap">
                {visible(`${name} ${uri}`)}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Attributes({ span, attempt }: { span: SpanJson | null; attempt: SpanJson | null }) {
  if (span === null) return null;
  const { execution, node, subtask, operation } = span;
  const task = span.taskAttempt ?? attempt?.taskAttempt;
  const facts: [string, string | undefined][] = [
    ["Execution", execution?.executionId && [execution.executionId.project, execution.executionId.domain, execution.executionId.name].join("/")],
    ["Workflow", entity(execution?.workflowId)],
    ["Reported by", span.producerIds?.join(", ")],
    ["Node", node?.nodeId],
    ["In the workflow", node?.specNodeId === node?.nodeId ? undefined : node?.specNodeId],
    ["Kind", node?.kind && nodeKindWords(node.kind.replace("NODE_KIND_", ""))],
    ["Runs", entity(node?.targetId)],
    ["Waited for", node?.upstreamNodeIds?.join(", ")],
    ["Made by attempt", node?.retryGroup],
    ["Group", node?.group],
    ["Task", entity(task?.taskId)],
    ["Task type", task?.taskType],
    ["Interruptible", task?.interruptible ? "yes" : undefined],
    ["Index", subtask && String(subtask.index ?? 0)],
    ["Attempt", subtask?.retryAttempt ? String(subtask.retryAttempt) : undefined],
    ["External id", subtask?.externalId],
    ["Leads to", operation?.nodeId],
    ["Last heard", span.lastHeardAt],
    ["Span id", span.spanId],
  ];
  return (
    <section>
      <h3>Attributes</h3>
      <dl class="tl-facts">
        {facts.map(([name, value]) =>
          value === undefined || value === "" ? null : (
            <Fact key={name} name={name}>
              <span class="tl-wrap">{visible(value)}</span>
            </Fact>
          ),
        )}
      </dl>
    </section>
  );
}

function entity(id: EntityVersionJson | undefined): string | undefined {
  if (id?.name === undefined) return undefined;
  return id.version ? `${id.name} ${id.version}` : id.name;
}
