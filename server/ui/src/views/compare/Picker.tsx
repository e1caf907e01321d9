// Which other execution to compare with: recent ones of the same workflow, or any by its name.

import { useSignal } from "@preact/signals";
import { useAnswer } from "../../data/answer";
import { listExecutions } from "../../data/answers";
import { formatPlace, readName } from "../../model/place";
import { visible } from "../../model/visible";
import type { ExecutionModel } from "../execution/model";
import { TextInput } from "../fields";
import { COLUMNS, useClock } from "../list/ListTable";
import { rowOf } from "../list/rows";
import { Asked, Name, nameOf } from "../parts";
import { Table } from "../Table";

const RECENT = 20;

export function Picker({ model }: { model: ExecutionModel }) {
  const workflow = model.live.execution.value!.header.workflow?.name ?? "";
  return (
    <>
      <h2>Compare with another execution</h2>
      <NameBox model={model} />
      {workflow === "" ? (
        <p class="vw-note">The workflow of this execution is not known, so none can be offered.</p>
      ) : (
        <Recent model={model} workflow={workflow} />
      )}
    </>
  );
}

function NameBox({ model }: { model: ExecutionModel }) {
  const text = useSignal("");
  const wrong = useSignal("");
  const submit = (event: Event): void => {
    event.preventDefault();
    const name = text.peek().trim();
    const path = name.includes("/") ? readName(name) : name && { ...model.path, name };
    if (!path) wrong.value = "Write PROJECT/DOMAIN/NAME, or the name of one in the same project and domain.";
    else model.go({ with: path });
  };
  return (
    <form class="vw-row" onSubmit={submit}>
      <TextInput
        aria-label="The other execution"
        aria-describedby="cm-wrong"
        placeholder="PROJECT/DOMAIN/NAME, or NAME in this project and domain"
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
  useClock(true);
  const answer = useAnswer(workflow, "", (signal) => listExecutions({ project, domain, search: workflow, page_size: "100" }, signal));
  return (
    <Asked answer={answer} busy="Looking for executions of the same workflow">
      {({ executions = [] }) => {
        const rows = executions
          .map(rowOf)
          .filter((row) => row.workflow === workflow && nameOf(row.path) !== nameOf(model.path))
          .slice(0, RECENT);
        if (rows.length === 0) return <p class="vw-note">No other recent execution of {visible(workflow)} is known here.</p>;
        return (
          <section>
            <h2 class="sh-wrap">Recent ones of {visible(workflow)}</h2>
            <Table
              caption="Recent executions of the same workflow"
              kind="is-cards"
              rows={rows}
              columns={[
                {
                  title: "Execution",
                  kind: "ls-name is-first",
                  cell: ({ path }) => (
                    <a class="sh-link" href={formatPlace(model.placeOf({ with: path }))} title={`Compare with ${visible(nameOf(path))}`}>
                      <Name of={path.name} />
                    </a>
                  ),
                },
                COLUMNS.phase,
                COLUMNS.start,
                COLUMNS.duration,
              ]}
            />
          </section>
        );
      }}
    </Asked>
  );
}
