// Which other execution to compare with: recent ones of the same workflow, or any by its name.

import { useSignal } from "@preact/signals";
import { useAnswer } from "../../data/answer";
import { listExecutions } from "../../data/answers";
import { formatPlace, readName } from "../../model/place";
import type { ExecutionModel } from "../execution/model";
import { rowOf, tookNs } from "../list/rows";
import { Busy, Failure, nameOf, PhaseMark, Took, When } from "../parts";

const RECENT = 20;

export function Picker({ model }: { model: ExecutionModel }) {
  const workflow = model.live.execution.value!.header.workflow?.name ?? "";
  return (
    <div class="vw-page cm">
      <h2>Compare with another execution</h2>
      <NameBox model={model} />
      {workflow !== "" && <Recent model={model} workflow={workflow} />}
      {workflow === "" && (
        <p class="vw-note">The workflow of this execution is not known, so none can be offered.</p>
      )}
    </div>
  );
}

function NameBox({ model }: { model: ExecutionModel }) {
  const text = useSignal("");
  const wrong = useSignal("");
  const submit = (event: Event): void => {
    event.preventDefault();
    const written = text.peek().trim();
    const { project, domain } = model.path;
    const path = written.includes("/") ? readName(written) : written === "" ? null : { project, domain, name: written };
    if (path === null) wrong.value = "Write PROJECT/DOMAIN/NAME, or the name of one in the same project and domain.";
    else model.go({ with: path });
  };
  return (
    <form class="cm-open" onSubmit={submit}>
      <input
        type="text"
        aria-label="The other execution"
        aria-describedby="cm-wrong"
        placeholder="PROJECT/DOMAIN/NAME, or NAME in this project and domain"
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      <button class="sh-button" type="submit">
        Compare
      </button>
      <span id="cm-wrong" class="vw-warn" role="alert">
        {wrong}
      </span>
    </form>
  );
}

function Recent({ model, workflow }: { model: ExecutionModel; workflow: string }) {
  const { project, domain } = model.path;
  const answer = useAnswer(workflow, "", (signal) => listExecutions({ project, domain, search: workflow, page_size: "100" }, signal));
  const error = answer.error.value;
  if (error !== null) return <Failure error={error} had={false} onAgain={answer.again} />;
  if (answer.value.value === null) return <Busy what="Looking for executions of the same workflow" />;
  const rows = (answer.value.value.executions ?? [])
    .map(rowOf)
    .filter((row) => row.workflow === workflow && nameOf(row.path) !== nameOf(model.path))
    .slice(0, RECENT);
  if (rows.length === 0) return <p class="vw-note">No other recent execution of {workflow} is known here.</p>;
  return (
    <section>
      <h3 class="cm-recent sh-wrap">Recent ones of {workflow}</h3>
      <div class="vw-scroll-x">
        <table class="vw-table">
          <caption class="sr-only">Recent executions of the same workflow</caption>
          <thead>
            <tr>
              <th scope="col">Execution</th>
              <th scope="col">Phase</th>
              <th scope="col">Start</th>
              <th scope="col" class="is-number">
                Duration
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key}>
                <th scope="row" class="ls-name">
                  <a class="sh-link vw-target" href={formatPlace(model.placeOf({ with: row.path }))} title={`Compare with ${nameOf(row.path)}`}>
                    <bdi>{row.path.name}</bdi>
                  </a>
                </th>
                <td>
                  <PhaseMark phase={row.phase} />
                </td>
                <td>{row.startNs !== null && <When ns={row.startNs} />}</td>
                <td class="is-number">{row.endNs !== null && <Took ns={tookNs(row, 0n)} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
