// Search, filters and the buttons that do what keys do.

import type { Signal } from "@preact/signals";
import { groupDigits } from "../model/words";
import * as actions from "./actions";
import { FilterMenu } from "./FilterMenu";
import { Icon, type IconName } from "./Icon";
import type { Store } from "./store";

interface Props {
  store: Store;
  search: { current: HTMLInputElement | null };
  /** The reader is done with the search field. */
  onDone: () => void;
}

export function Toolbar({ store, search, onDone }: Props) {
  const { state } = store;
  return (
    <div class="tl-toolbar" role="toolbar" aria-label="Timeline tools">
      <SearchBox store={store} search={search} onDone={onDone} />
      <FilterMenu store={store} />
      <div class="tl-buttons" role="group" aria-label="Zoom">
        <Button icon="minus" label="Zoom out" keys="s" onClick={() => actions.zoom(store, actions.ZOOM_STEP)} />
        <Button icon="plus" label="Zoom in" keys="w" onClick={() => actions.zoom(store, 1 / actions.ZOOM_STEP)} />
        <Button icon="fit" label="Fit the selected span" keys="f" onClick={() => actions.fitActive(store)} />
        <Button icon="all" label="Show the whole run" keys="0" onClick={() => actions.showAll(store)} />
      </div>
      <div class="tl-buttons" role="group" aria-label="Rows">
        <Button icon="collapseAll" label="Collapse all" keys="x" onClick={() => actions.setAllOpen(store, false)} />
        <Button icon="expandAll" label="Expand all" keys="Shift+X" onClick={() => actions.setAllOpen(store, true)} />
      </div>
      <div class="tl-buttons" role="group" aria-label="Show">
        <Toggle icon="path" label="Critical path" keys="c" on={state.cp} />
        <Toggle icon="fold" label="Fold long gaps" on={state.fold} />
        {store.isOpen.value && (
          <Button
            icon="follow"
            label="Follow the end"
            keys="l"
            pressed={store.follow.value}
            text="Follow"
            onClick={() => store.toggleFollow()}
          />
        )}
      </div>
      <div class="tl-buttons tl-mode" role="group" aria-label="Layout">
        <ModeButton store={store} mode="tree" label="Tree" />
        <ModeButton store={store} mode="packed" label="Packed" />
      </div>
    </div>
  );
}

interface ButtonProps {
  icon: IconName;
  label: string;
  keys?: string;
  text?: string;
  pressed?: boolean;
  onClick: () => void;
}

function Button({ icon, label, keys, text, pressed, onClick }: ButtonProps) {
  const title = keys === undefined ? label : `${label} (${keys})`;
  return (
    <button type="button" class="tl-button" aria-label={label} title={title} aria-pressed={pressed} onClick={onClick}>
      <Icon name={icon} />
      {text !== undefined && <span class="tl-button-text">{text}</span>}
    </button>
  );
}

function Toggle({ icon, label, keys, on }: { icon: IconName; label: string; keys?: string; on: Signal<boolean> }) {
  return (
    <Button
      icon={icon}
      label={label}
      text={label}
      pressed={on.value}
      onClick={() => (on.value = !on.peek())}
      {...(keys === undefined ? {} : { keys })}
    />
  );
}

function ModeButton({ store, mode, label }: { store: Store; mode: "tree" | "packed"; label: string }) {
  const chosen = store.state.mode;
  return (
    <button type="button" class="tl-button" aria-pressed={chosen.value === mode} onClick={() => (chosen.value = mode)}>
      {label}
    </button>
  );
}

function SearchBox({ store, search, onDone }: Props) {
  const { q } = store.state;
  const found = store.work.found.value;
  const place = store.work.hitPlace.value;
  const key = (event: KeyboardEvent): void => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    store.work.goToHit(event.shiftKey ? -1 : 1);
    if (event.ctrlKey) onDone();
  };
  return (
    <div class="tl-search" role="search">
      <Icon name="search" />
      <input
        ref={search}
        type="text"
        aria-label="Search names, ids and reasons"
        placeholder="Search names, ids, reasons  /"
        spellcheck={false}
        autocomplete="off"
        value={q.value}
        onInput={(event) => (q.value = event.currentTarget.value)}
        onKeyDown={key}
      />
      {q.value !== "" && (
        <>
          <span class="tl-search-count">
            {found === null ? "…" : countText(place, found.spans.length)}
          </span>
          <Button icon="previous" label="Previous match" keys="N" onClick={() => store.work.goToHit(-1)} />
          <Button icon="next" label="Next match" keys="n" onClick={() => store.work.goToHit(1)} />
          <Button icon="close" label="Clear the search" keys="Esc" onClick={() => (q.value = "")} />
        </>
      )}
    </div>
  );
}

function countText(place: number, count: number): string {
  if (count === 0) return "nothing found";
  return place < 0 ? groupDigits(count) : `${groupDigits(place + 1)} / ${groupDigits(count)}`;
}
