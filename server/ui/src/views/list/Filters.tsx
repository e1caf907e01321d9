// What of the executions is listed. Every change is in the address at once; texts a moment after the last key.

import type { ComponentChildren } from "preact";
import { zoneOffsetMinutes } from "../../model/format";
import { phaseWords } from "../../model/words";
import { listHref } from "../../shell/links";
import { zone } from "../../shell/zone";
import { Check, Choice, LazyInput } from "../fields";
import { isFiltered, type ListQuery, type Range } from "./query";

/** What an execution can be in. */
const PHASES = ["QUEUED", "RUNNING", "SUCCEEDING", "SUCCEEDED", "FAILING", "FAILED", "ABORTING", "ABORTED", "TIMED_OUT"];
const RANGES: [Range, string][] = [
  ["", "Any time"],
  ["1h", "Last hour"],
  ["24h", "Last day"],
  ["7d", "Last week"],
  ["custom", "From … to …"],
];

interface Props {
  query: ListQuery;
  /** `goesOn` while somebody goes on to write what was told of before. */
  onChange: (changes: Partial<ListQuery>, goesOn?: boolean) => void;
}

export function Filters({ query, onChange }: Props) {
  const text = (title: string, hint: string, name: "search" | "project" | "domain") => (
    <Field title={title} isWide={name === "search"}>
      <LazyInput
        data-search={name === "search"}
        placeholder={hint}
        value={query[name]}
        onText={(written, goesOn) => onChange({ [name]: written }, goesOn)}
      />
    </Field>
  );
  const phases = new Set([...PHASES, query.phase]);
  phases.delete("");
  return (
    <form class="ls-filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      {text("Search", "part of a name or workflow", "search")}
      {text("Project", "any", "project")}
      {text("Domain", "any", "domain")}
      <Field title="Phase">
        <Choice
          value={query.phase}
          options={[["", "Any phase"], ...Array.from(phases, (phase) => [phase, phaseWords(phase).text] as const)]}
          onChoice={(phase) => onChange({ phase })}
        />
      </Field>
      <Field title="Started">
        <Choice value={query.range} options={RANGES} onChoice={(range) => onChange({ range: range as Range })} />
      </Field>
      {query.range === "custom" && (
        <>
          <Moment title="From" value={query.after} onChange={(after) => onChange({ after })} />
          <Moment title="To" value={query.before} onChange={(before) => onChange({ before })} />
        </>
      )}
      <Check label="Slower than usual" isOn={query.slower} onChange={(slower) => onChange({ slower })} />
      {isFiltered(query) && (
        <a class="sh-link vw-check" href={listHref()}>
          Clear
        </a>
      )}
    </form>
  );
}

function Field({ title, isWide = false, children }: { title: string; isWide?: boolean; children: ComponentChildren }) {
  return (
    <label class={isWide ? "ls-field is-wide" : "ls-field"}>
      <span>{title}</span>
      {children}
    </label>
  );
}

/** A moment by the clock that is chosen. */
function Moment({ title, value, onChange }: { title: string; value: string; onChange: (value: string) => void }) {
  const atMs = Date.parse(value);
  return (
    <Field title={title}>
      <input
        type="datetime-local"
        value={value && new Date(atMs + zoneOffsetMinutes(atMs, zone.value) * 60_000).toISOString().slice(0, 16)}
        onChange={(event) => {
          const written = event.currentTarget.value;
          const readMs = Date.parse(zone.peek() === "utc" ? `${written}Z` : written);
          onChange(readMs ? new Date(readMs).toISOString() : ""); // There is none in a field that is being cleared.
        }}
      />
    </Field>
  );
}
