// Filters: what failed, what took long, and what has time of a group.

import { useEffect, useRef } from "preact/hooks";
import { isEmptyFilter, NO_FILTER, type Filter } from "../model/filter";
import { groupDigits, GROUP_NAMES, groupWords, operationWords, phaseWords, plural, type GroupName } from "../model/words";
import { Icon } from "./Icon";
import type { Store } from "./store";

const SHARES = [1, 2, 5, 10, 25, 50];

export function FilterMenu({ store }: { store: Store }) {
  const details = useRef<HTMLDetailsElement>(null);
  const filter = store.state.filter.value;
  const count = store.filtered.value?.count;
  const isSet = !isEmptyFilter(filter);
  const set = (change: Partial<Filter>): void => {
    store.state.filter.value = { ...store.state.filter.peek(), ...change };
    const left = store.filtered.peek()?.count;
    store.say(left === undefined ? "No filter" : plural(left, "match", "matches"));
  };
  useEffect(() => {
    const closeOutside = (event: PointerEvent): void => {
      const menu = details.current;
      if (menu !== null && !menu.contains(event.target as Node)) menu.open = false;
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, []);
  const key = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !details.current!.open) return;
    event.preventDefault();
    event.stopPropagation();
    details.current!.open = false;
    details.current!.querySelector("summary")!.focus();
  };
  return (
    <div class="tl-filter">
      <button type="button" class="tl-button" aria-pressed={filter.failed} onClick={() => set({ failed: !filter.failed })}>
        Failed
      </button>
      <details ref={details} onKeyDown={key}>
        <summary class={`tl-button${isSet ? " is-set" : ""}`}>
          <Icon name="filter" /> Filter
          {isSet && <span> {count === undefined ? "" : groupDigits(count)}</span>}
        </summary>
        <div class="tl-filter-menu">
          <label>
            Longer than
            <select
              value={String(filter.longerThan)}
              onChange={(event) => set({ longerThan: Number(event.currentTarget.value) })}
            >
              <option value="0">any</option>
              {(SHARES.includes(filter.longerThan) || filter.longerThan === 0 ? SHARES : [...SHARES, filter.longerThan]).map((share) => (
                <option key={share} value={String(share)}>
                  {share} % of the run
                </option>
              ))}
            </select>
          </label>
          <fieldset>
            <legend>With time in</legend>
            {GROUP_NAMES.filter((group) => group !== "none").map((group) => (
              <label key={group}>
                <input
                  type="checkbox"
                  checked={filter.groups.includes(group)}
                  onChange={(event) => set({ groups: toggled(filter.groups, group, event.currentTarget.checked) })}
                />
                <span class={`tl-swatch is-${group}`} /> {groupWords(group)}
              </label>
            ))}
          </fieldset>
          {[...filter.operations.map(operationWords), ...filter.phases.map((phase) => phaseWords(phase).text)].map((name) => (
            <p key={name}>Also: {name}</p>
          ))}
          <button type="button" class="tl-button" disabled={!isSet} onClick={() => set(NO_FILTER)}>
            Clear all filters
          </button>
        </div>
      </details>
    </div>
  );
}

function toggled(groups: readonly GroupName[], group: GroupName, on: boolean): GroupName[] {
  return on ? [...groups, group] : groups.filter((each) => each !== group);
}
