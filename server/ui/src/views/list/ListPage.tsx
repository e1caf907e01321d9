// The list of executions, newest first: filters, the table, pages, and a comparison of two.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { formatPath } from "../../model/url";
import { visible } from "../../model/visible";
import { groupDigits, plural } from "../../model/words";
import { executionHref, listHref, listPlace } from "../../shell/links";
import { navigate, replace } from "../../shell/route";
import { say } from "../../shell/say";
import { Busy, Button, Failure, Name, State } from "../parts";
import { Filters } from "./Filters";
import { ListLoader } from "./loader";
import { formatQuery, isFiltered, parseQuery, questionOf, type ListQuery } from "./query";
import type { ListRow } from "./rows";
import { ListTable } from "./ListTable";

export function ListPage({ parameters }: { parameters: Readonly<Record<string, string>> }) {
  const query = parseQuery(parameters);
  const question = questionOf(query);
  const loader = useSignal<ListLoader | null>(null);
  const attempt = useSignal(0);
  const before = useRef<ListRow[]>([]);
  useEffect(() => {
    document.title = "Executions · spanwise";
  }, []);
  useEffect(() => {
    const made = new ListLoader(query, Date.now());
    loader.value = made;
    return () => {
      before.current = made.rows.peek() ?? before.current;
      made.close();
    };
  }, [question, attempt.value]);
  const placeOf = (changes: Partial<ListQuery>) => listPlace(formatQuery({ ...query, ...changes }));
  // The way back leads to what was filtered before; while somebody writes on, to what it was before that.
  const filter = (changes: Partial<ListQuery>, goesOn = false): void =>
    (goesOn ? replace : navigate)(placeOf({ page: "", ...changes }));
  const pick = (row: ListRow): void => {
    const others = query.picked.filter((path) => formatPath(path) !== row.key);
    const isPicked = others.length < query.picked.length;
    replace(placeOf({ picked: isPicked ? others : [...others, row.path].slice(-2) }));
    say(`${visible(row.path.name)} is ${isPicked ? "not picked any more" : "picked for a comparison"}`);
  };
  const shown = loader.value;
  return (
    <div class="vw-page">
      <h1 class="ls-title" tabIndex={-1}>
        Executions
      </h1>
      <Filters query={query} onChange={filter} />
      <Picked query={query} onClear={() => replace(placeOf({ picked: [] }))} />
      {shown !== null && (
        <Found key={question} loader={shown} before={before.current} query={query} onPick={pick} onAgain={() => (attempt.value += 1)} />
      )}
    </div>
  );
}

interface FoundProps {
  loader: ListLoader;
  /** What was shown for the question before: it stays, dimmed, until the answer comes. */
  before: ListRow[];
  query: ListQuery;
  onPick: (row: ListRow) => void;
  onAgain: () => void;
}

function Found({ loader, before, query, onPick, onAgain }: FoundProps) {
  const rows = loader.rows.value;
  const error = loader.error.value;
  const newer = loader.newer.value.length;
  const isBusy = loader.isBusy.value;
  const told = useComputed(() =>
    loader.rows.value === null || loader.isBusy.value ? "" : `${plural(loader.rows.value.length, "execution")} shown`,
  );
  useSignalEffect(() => {
    if (told.value !== "") say(told.value);
  });
  if (rows === null && error !== null) return <Failure error={error} had={false} onAgain={onAgain} />;
  const visibleRows = rows ?? before;
  const isEmpty = rows?.length === 0 && !isBusy && error === null && !loader.hasPaused.value;
  return (
    <>
      {error !== null && <Failure error={error} had onAgain={onAgain} />}
      {newer > 0 && (
        <div class="vw-bar">
          <Button onClick={() => loader.showNewer()}>Show {plural(newer, "newer execution")}</Button>
        </div>
      )}
      {isEmpty && (isFiltered(query) || query.page !== "" ? <NothingFound /> : <NothingYet />)}
      {visibleRows.length > 0 ? (
        <ListTable rows={visibleRows} isOld={rows === null} picked={query.picked} onPick={onPick} />
      ) : (
        rows === null && <Busy what="Reading the list" />
      )}
      <Foot loader={loader} query={query} />
    </>
  );
}

function Foot({ loader, query }: { loader: ListLoader; query: ListQuery }) {
  const looked = loader.lookedAt.value;
  const isBusy = loader.isBusy.value;
  const isPaused = loader.hasPaused.value;
  const next = loader.next.value;
  const page = (words: string, changes: Partial<ListQuery>) => (
    <a class="sh-button" href={listHref(formatQuery({ ...query, ...changes }))}>
      {words}
    </a>
  );
  return (
    <div class="vw-row vw-muted">
      {looked > 0 && (
        <span role="status">
          {isBusy ? "Looking on: " : "Looked at "}
          {groupDigits(looked)} executions{isBusy && " looked at so far"}
        </span>
      )}
      {isPaused && <Button onClick={() => loader.look()}>Look further back</Button>}
      {query.page !== "" && page("Newest", { page: "" })}
      {next !== "" && !isBusy && !isPaused && page("Older", { page: next, at: String(loader.beganMs) })}
    </div>
  );
}

function Picked({ query, onClear }: { query: ListQuery; onClear: () => void }) {
  const [first, second] = query.picked;
  if (first === undefined) return null;
  return (
    <div class="vw-bar">
      <span class="sh-wrap">
        {second === undefined ? "Pick another one to compare with " : "Picked: "}
        <b>
          <Name of={first.name} />
        </b>
        {second !== undefined && (
          <>
            {" and "}
            <b>
              <Name of={second.name} />
            </b>
          </>
        )}
      </span>
      {second !== undefined && (
        <a class="sh-button is-strong" href={executionHref(second, { view: "compare", with: first })}>
          Compare them
        </a>
      )}
      <Button onClick={onClear}>Pick none</Button>
    </div>
  );
}

function NothingFound() {
  return (
    <State title="No execution is like that">
      <p>
        <a class="sh-link" href={listHref()}>
          Show all executions
        </a>
      </p>
    </State>
  );
}

function NothingYet() {
  return (
    <State title="No execution has been heard of yet">
      <p>Executions appear here as soon as events of them come in. Either point FlytePropeller's event sink at this server:</p>
      <pre class="sh-message">{"admin:\n  endpoint: spanwise.flyte.svc:8089\n  insecure: true\nevent:\n  type: admin"}</pre>
      <p>or play a sample execution into it, at the gRPC address that the server printed when it started:</p>
      <pre class="sh-message">spanwise demo --endpoint 127.0.0.1:8089</pre>
    </State>
  );
}
