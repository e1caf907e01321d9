// The names of the rows as a tree grid. Only rows in view are in the document; each says its place in the whole.

import { useComputed, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { endOf } from "../model/codes";
import { formatDuration, momentOf } from "../model/format";
import { ROW_LEAF, ROW_OPEN, rowOfSpan, setSize } from "../model/rows";
import { groupDigits, phaseWords } from "../model/words";
import { select, setOpen } from "./actions";
import { Icon, PhaseGlyph } from "./Icon";
import { groupSummary, labelOf, spanName } from "./rowFacts";
import { ROW_PX } from "../draw/scene";
import type { Shown, Store } from "./store";

/** Names are not indented further than this many levels, so that they stay readable. */
const MOST_INDENTED = 14;
const INDENT_PX = 12;
const SPARE_ROWS = 4;

export const COLUMNS = ["Name", "Phase", "Start", "Duration", "Where the time went", "Reasons"] as const;

/** Id in the document of the row of a span. */
export function rowElementId(span: number): string {
  return `tl-row-${span}`;
}

export function Tree({ store }: { store: Store }) {
  const first = useComputed(() => Math.max(0, Math.floor(store.scrollTop.value / ROW_PX) - SPARE_ROWS));
  const last = useComputed(() => {
    return Math.min(store.rows.value.count, first.value + Math.ceil(store.height.value / ROW_PX) + 2 * SPARE_ROWS + 1);
  });
  const body = useRef<HTMLDivElement>(null);
  useSignalEffect(() => {
    const top = first.value * ROW_PX - store.scrollTop.value;
    if (body.current !== null) body.current.style.transform = `translateY(${top}px)`;
  });

  const shown = store.shown.value;
  const rows = store.rows.value;
  const active = store.activeRow.value;
  const selected = store.selected.value;
  // What has no row of its own is selected in the row that shows it.
  const selectedRow = selected < 0 ? -1 : rowOfSpan(shown.tree, rows, selected);
  const hits = store.work.hitRows.value;
  const visible = [];
  // Rows take over the elements of those that have gone: to make new ones at each step of a scroll is what costs.
  const slots = Math.max(1, last.value - first.value);
  for (let row = first.value; row < last.value; row++) {
    const span = rows.span[row];
    visible.push(
      <TreeRow
        key={row % slots}
        store={store}
        shown={shown}
        row={row}
        span={span}
        level={shown.tree.level[rows.item[row]]}
        state={rows.state[row]}
        position={rows.position[row]}
        size={setSize(shown.tree, rows, row)}
        isActive={row === active}
        isSelected={row === selectedRow}
        hit={hits === null ? 0 : hits[row]}
      />,
    );
  }
  const activeShown = active >= first.value && active < last.value;
  return (
    <div
      class="tl-tree"
      role="treegrid"
      aria-label="Spans"
      aria-rowcount={rows.count + 1}
      aria-colcount={COLUMNS.length}
      aria-activedescendant={activeShown ? rowElementId(rows.span[active]) : undefined}
      tabIndex={0}
      data-keys="tree"
      onFocus={(event) => showFocus(store, event.currentTarget)}
    >
      <div role="rowgroup" class="sr-only">
        <div role="row" aria-rowindex={1}>
          {COLUMNS.map((name) => (
            <span role="columnheader">{name}</span>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="tl-rows" ref={body}>
        {visible}
      </div>
    </div>
  );
}

/** Somebody came by the keyboard: there is always a row that shows where they are. */
function showFocus(store: Store, grid: HTMLElement): void {
  if (!grid.matches(":focus-visible")) return;
  const rows = store.rows.peek();
  const row = store.activeRow.peek();
  if (row >= 0) store.revealRow(row);
  else if (rows.count > 0) {
    const first = Math.min(rows.count - 1, Math.ceil(store.scrollTop.peek() / ROW_PX));
    store.active.value = store.idOf(rows.span[first]);
  }
}

/** The headings that are seen; the grid has its own for screen readers. */
export function TreeHead() {
  return (
    <div class="tl-tree-head" aria-hidden="true">
      <span class="tl-head-name">Name</span>
      <span class="tl-cell tl-cell-phase">Phase</span>
      <span class="tl-cell tl-cell-start">Start</span>
      <span class="tl-cell tl-cell-duration">Duration</span>
      <span class="tl-cell tl-cell-groups">Where the time went</span>
      <span class="tl-cell tl-cell-reasons">Reasons</span>
    </div>
  );
}

interface RowProps {
  store: Store;
  shown: Shown;
  row: number;
  span: number;
  level: number;
  state: number;
  position: number;
  size: number;
  isActive: boolean;
  isSelected: boolean;
  /** 1 if the search found it, 2 if it hides what the search found. */
  hit: number;
}

function TreeRow({ store, shown, row, span, level, state, position, size, isActive, isSelected, hit }: RowProps) {
  const { execution, codes } = shown;
  const { spans, header } = execution;
  const isOpen = Number.isNaN(spans.end[span]);
  const now = isOpen ? store.now.value : store.now.peek();
  const phase = header.phases[spans.phase[span]];
  const name = spanName(shown, span);
  const reasons = shown.reasons.of(shown.tree.itemOfSpan[span], state !== ROW_OPEN).count;
  const label = labelOf(shown, span);
  const isCached = codes.cacheHit === spans.cache[span];
  const toggle = (event: MouseEvent): void => {
    event.stopPropagation();
    setOpen(store, row, state !== ROW_OPEN);
  };
  return (
    <div
      id={rowElementId(span)}
      class={`tl-row${isActive ? " is-active" : ""}${isSelected ? " is-selected" : ""}`}
      role="row"
      aria-level={level}
      aria-rowindex={row + 2}
      aria-setsize={size}
      aria-posinset={position}
      aria-expanded={state === ROW_LEAF ? undefined : state === ROW_OPEN}
      aria-selected={isSelected}
      onClick={() => select(store, span, { quiet: true })}
      onDblClick={() => state !== ROW_LEAF && setOpen(store, row, state !== ROW_OPEN)}
    >
      <span role="gridcell" class="tl-name" style={{ paddingLeft: `${4 + INDENT_PX * Math.min(level - 1, MOST_INDENTED)}px` }}>
        {state === ROW_LEAF ? (
          <span class="tl-twist" />
        ) : (
          <span class="tl-twist" onClick={toggle}>
            <Icon name={state === ROW_OPEN ? "open" : "shut"} />
          </span>
        )}
        <PhaseGlyph phase={phase} failed={codes.failed[spans.phase[span]] === 1} />
        <span class={`tl-name-text${hit === 1 ? " is-hit" : hit === 2 ? " is-above-hit" : ""}`}>{name}</span>
        {isCached && <span class="tl-badge">cached</span>}
        {label !== "" && label !== name && <span class="tl-label">{label}</span>}
      </span>
      <span role="gridcell" class="tl-cell tl-cell-phase">
        {phaseWords(phase).text}
      </span>
      <span role="gridcell" class="tl-cell tl-cell-start">
        {momentOf(execution.startNs, spans.start[span], store.state.tz.value).time.slice(0, 8)}
      </span>
      <span role="gridcell" class="tl-cell tl-cell-duration">
        {formatDuration(endOf(execution, span, now) - spans.start[span])}
      </span>
      <span role="gridcell" class="tl-cell tl-cell-groups">
        {groupSummary(shown, span, now)}
      </span>
      <span role="gridcell" class="tl-cell tl-cell-reasons">
        {reasons === 0 ? "" : groupDigits(reasons)}
      </span>
    </div>
  );
}
