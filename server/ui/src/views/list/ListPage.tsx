// The list of executions, newest first: filters, the table, pages, and a comparison of two.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { groupDigits, plural } from "../../model/words";
import { executionHref, listHref, listPlace } from "../../shell/links";
import { replace } from "../../shell/route";
import { say } from "../../shell/say";
import { Busy, Failure, nameOf, State } from "../parts";
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
  const change = (changes: Partial<ListQuery>, keepsPage = false): void => {
    const page = keepsPage ? {} : { page: "", at: NaN };
    replace(listPlace(formatQuery({ ...query, ...page, ...changes })));
  };
  const pick = (row: ListRow): void => {
    const others = query.picked.filter((path) => nameOf(path) !== nameOf(row.path));
    const isPicked = others.length < query.picked.length;
    change({ picked: isPicked ? others : [...others, row.path].slice(-2) }, true);
    say(isPicked ? `${row.path.name} is not picked any more` : `${row.path.name} is picked for a comparison`);
  };
  const shown = loader.value;
  return (
    <div class="ls">
      <h1 class="ls-title" tabIndex={-1}>
        Executions
      </h1>
      <Filters key={`${query.page}`} query={query} onChange={change} />
      <Picked query={query} onClear={() => change({ picked: [] }, true)} />
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
  const told = useComputed(() => {
    if (loader.rows.value === null || loader.isBusy.value) return "";
    return `${plural(loader.rows.value.length, "execution")} shown`;
  });
  useSignalEffect(() => {
    if (told.value !== "") say(told.value);
  });
  const isEmpty = rows !== null && rows.length === 0 && !loader.isBusy.value && error === null && !loader.hasPaused.value;
  const visible = rows === null ? before : rows;
  if (rows === null && error !== null) return <Failure error={error} had={false} onAgain={onAgain} />;
  return (
    <>
      {error !== null && <Failure error={error} had onAgain={onAgain} />}
      {loader.newer.value.length > 0 && (
        <div class="vw-bar">
          <button type="button" class="sh-button" onClick={() => loader.showNewer()}>
            Show {plural(loader.newer.value.length, "newer execution")}
          </button>
        </div>
      )}
      {isEmpty && (isFiltered(query) || query.page !== "" ? <NothingFound /> : <NothingYet />)}
      {rows === null && before.length === 0 && <Busy what="Reading the list" />}
      {visible.length > 0 && <ListTable rows={visible} isOld={rows === null} picked={query.picked} onPick={onPick} />}
      <Foot loader={loader} query={query} />
    </>
  );
}

function Foot({ loader, query }: { loader: ListLoader; query: ListQuery }) {
  const looked = loader.lookedAt.value;
  const isLooking = loader.isBusy.value && looked > 0;
  const next = loader.next.value;
  return (
    <div class="ls-foot">
      {looked > 0 && (
        <span role="status">
          {isLooking ? "Looking on: " : "Looked at "}
          {groupDigits(looked)} executions{isLooking ? " looked at so far" : ""}
        </span>
      )}
      {loader.hasPaused.value && (
        <button type="button" class="sh-button" onClick={() => void loader.lookOn()}>
          Look further back
        </button>
      )}
      {query.page !== "" && (
        <a class="sh-button" href={listHref(formatQuery({ ...query, page: "", at: NaN }))}>
          Newest
        </a>
      )}
      {next !== "" && !loader.isBusy.value && !loader.hasPaused.value && (
        <a class="sh-button" href={listHref(formatQuery({ ...query, page: next, at: loader.beganMs }))}>
          Older
        </a>
      )}
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
        <b>{first.name}</b>
        {second !== undefined && (
          <>
            {" and "}
            <b>{second.name}</b>
          </>
        )}
      </span>
      {second !== undefined && (
        <a class="sh-button is-strong" href={executionHref(second, { view: "compare", with: first })}>
          Compare them
        </a>
      )}
      <button type="button" class="sh-button" onClick={onClear}>
        Pick none
      </button>
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
      <pre class="sh-code">{"admin:\n  endpoint: spanwise.flyte.svc:8089\n  insecure: true\nevent:\n  type: admin"}</pre>
      <p>or play a sample execution into it, at the gRPC address that the server printed when it started:</p>
      <pre class="sh-code">spanwise demo --endpoint 127.0.0.1:8089</pre>
    </State>
  );
}
