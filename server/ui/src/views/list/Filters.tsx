// What of the executions is listed. Every change is in the address at once; texts a moment after the last key.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { KNOWN_PHASES, phaseWords } from "../../model/words";
import { zoneOffsetMinutes } from "../../model/format";
import { listHref } from "../../shell/links";
import { zone } from "../../shell/zone";
import { isFiltered, type ListQuery, type Range } from "./query";

const DEBOUNCE_MS = 250;
/** What an execution can be in. */
const PHASES = ["QUEUED", "RUNNING", "SUCCEEDING", "SUCCEEDED", "FAILING", "FAILED", "ABORTING", "ABORTED", "TIMED_OUT"];
const RANGE_WORDS: Record<Range, string> = {
  "": "Any time",
  "1h": "Last hour",
  "24h": "Last day",
  "7d": "Last week",
  custom: "From … to …",
};

interface Props {
  query: ListQuery;
  onChange: (changes: Partial<ListQuery>) => void;
}

export function Filters({ query, onChange }: Props) {
  return (
    <form class="ls-filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <Text label="Search" hint="part of a name or workflow" value={query.search} isWide onChange={(search) => onChange({ search })} />
      <Text label="Project" hint="any" value={query.project} onChange={(project) => onChange({ project })} />
      <Text label="Domain" hint="any" value={query.domain} onChange={(domain) => onChange({ domain })} />
      <label class="ls-field">
        <span>Phase</span>
        <select value={query.phase} onChange={(event) => onChange({ phase: event.currentTarget.value })}>
          <option value="">Any phase</option>
          {[...PHASES, ...(query.phase === "" || PHASES.includes(query.phase) ? [] : [query.phase])].map((phase) => (
            <option key={phase} value={phase}>
              {KNOWN_PHASES.includes(phase) ? phaseWords(phase).text : phase}
            </option>
          ))}
        </select>
      </label>
      <label class="ls-field">
        <span>Started</span>
        <select value={query.range} onChange={(event) => onChange({ range: event.currentTarget.value as Range })}>
          {Object.entries(RANGE_WORDS).map(([range, words]) => (
            <option key={range} value={range}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {query.range === "custom" && (
        <>
          <Moment label="From" value={query.after} onChange={(after) => onChange({ after })} />
          <Moment label="To" value={query.before} onChange={(before) => onChange({ before })} />
        </>
      )}
      <label class="ls-check">
        <input
          type="checkbox"
          checked={query.slower}
          onChange={(event) => onChange({ slower: event.currentTarget.checked })}
        />
        Slower than usual
      </label>
      {isFiltered(query) && (
        <a class="sh-link ls-clear" href={listHref()}>
          Clear
        </a>
      )}
    </form>
  );
}

interface TextProps {
  label: string;
  hint: string;
  value: string;
  isWide?: boolean;
  onChange: (value: string) => void;
}

function Text({ label, hint, value, isWide = false, onChange }: TextProps) {
  const text = useSignal(value);
  const sent = useRef(value);
  const timer = useRef(0);
  // The query of the moment at which the key was pressed is old when the text is sent.
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    // The address was changed from elsewhere: by the way back, or a link.
    if (value !== sent.current) {
      sent.current = value;
      text.value = value;
    }
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const send = (): void => {
    clearTimeout(timer.current);
    const written = text.peek().trim();
    if (written === sent.current) return;
    sent.current = written;
    latest.current(written);
  };
  return (
    <label class={isWide ? "ls-field is-wide" : "ls-field"}>
      <span>{label}</span>
      <input
        type="text"
        data-search={isWide}
        placeholder={hint}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          clearTimeout(timer.current);
          timer.current = window.setTimeout(send, DEBOUNCE_MS);
        }}
        onChange={send}
      />
    </label>
  );
}

/** A moment by the clock that is chosen. */
function Moment({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const atMs = value === "" ? NaN : Date.parse(value);
  const wall = Number.isNaN(atMs) ? "" : new Date(atMs + zoneOffsetMinutes(atMs, zone.value) * 60_000).toISOString().slice(0, 16);
  return (
    <label class="ls-field">
      <span>{label}</span>
      <input
        type="datetime-local"
        value={wall}
        onChange={(event) => {
          const written = event.currentTarget.value;
          const read = new Date(zone.peek() === "utc" ? `${written}Z` : written);
          onChange(written === "" || Number.isNaN(read.getTime()) ? "" : read.toISOString());
        }}
      />
    </label>
  );
}
