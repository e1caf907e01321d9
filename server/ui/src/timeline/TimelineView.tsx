// The timeline of one execution: names, bars, axis, overview, search, details.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { ROW_PX } from "../draw/scene";
import { layAxis } from "../model/axis";
import { NO_FILTER } from "../model/filter";
import { Axis } from "./Axis";
import { Details } from "./Details";
import { Divider, LEAST_TREE_PX } from "./Divider";
import { LaneNames } from "./LaneNames";
import { pressKey, type Commands, type PageCommand } from "./keys";
import { Minimap } from "./Minimap";
import { Plot } from "./Plot";
import { rowOfReason } from "./reasonSteps";
import type { Renderer } from "./renderer";
import type { ViewState } from "./state";
import { keepLines } from "./standStill";
import { StatusLine } from "./Status";
import { Store, type Source } from "./store";
import { installTestHook } from "./testHook";
import { TipControl } from "./tipControl";
import { Toolbar } from "./Toolbar";
import { Tooltip } from "./Tooltip";
import { Tree, TreeHead } from "./Tree";
import "../styles/timeline.css";
import "../styles/tree.css";
import "../styles/plot.css";
import "../styles/tooltip.css";
import "../styles/details.css";
import "../styles/filter.css";

export interface TimelineProps {
  source: Source;
  /** What makes the view; whoever mounts the timeline mirrors it into the address of the page. */
  state: ViewState;
  /** Asked for by keys that concern the page around: other views, theme, help. */
  onPageCommand?: (command: PageCommand) => void;
}

const NARROW_PX = 640;
const TREE_SHARE = 0.34;
const MOST_TREE_PX = 460;

/** What is read once stays: a server that is lost, or an execution that is deleted, takes nothing away. */
export function TimelineView({ source, state, onPageCommand }: TimelineProps) {
  const store = useMemo(() => new Store(source, state), [source, state]);
  const tips = useMemo(() => new TipControl(), []);
  const root = useRef<HTMLElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const renderer = useSignal<Renderer | null>(null);
  const treeWidth = useSignal(0);
  const ticks = useComputed(() => layAxis(store.scale.value, { startNs: source.execution.value.startNs, by: state.tz.value }));

  useEffect(() => () => store.dispose(), [store]);
  useEffect(() => {
    const width = root.current!.clientWidth;
    treeWidth.value = Math.round(width < NARROW_PX ? width * 0.42 : Math.min(width * TREE_SHARE, MOST_TREE_PX));
  }, []);
  useSignalEffect(() => {
    root.current?.style.setProperty("--tree-width", `${treeWidth.value}px`);
  });
  useSignalEffect(() => {
    const plot = renderer.value;
    return plot === null ? undefined : installTestHook(store, plot);
  });

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = (): void => {
      const row = store.activeRow.peek();
      const wasInView = row >= 0 && isInView(element.scrollTop, store.height.peek(), row);
      store.height.value = element.clientHeight;
      if (wasInView && !isInView(element.scrollTop, element.clientHeight, row)) store.revealRow(row);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    store.revealRow = (row) => {
      if (row < 0) return;
      const top = row * ROW_PX;
      const height = element.clientHeight;
      if (top < element.scrollTop + ROW_PX) element.scrollTop = Math.max(0, top - 2 * ROW_PX);
      else if (top + 2 * ROW_PX > element.scrollTop + height) element.scrollTop = top + 3 * ROW_PX - height;
      store.scrollTop.value = element.scrollTop;
    };
    measure();
    return () => observer.disconnect();
  }, [store]);
  useEffect(() => keepLines(store, scroller.current!), [store]);
  useEffect(() => revealSelected(store), [store]);

  const focusTree = (): void => root.current!.querySelector<HTMLElement>("[data-keys=tree]")!.focus({ preventScroll: true });
  useEffect(() => {
    // Keys work at once; but who is somewhere else already stays there.
    if (document.activeElement === document.body) focusTree();
  }, []);
  const commands: Commands = {
    focusSearch: () => search.current?.focus(),
    openDetails: () => {
      if (store.activeSpan.peek() < 0) return;
      tips.hide();
      state.sel.value = store.active.peek();
      state.panel.value = true;
      requestAnimationFrame(() => root.current?.querySelector<HTMLElement>(".tl-details")?.focus());
    },
    showReason: (reason) => {
      const plot = root.current?.querySelector(".tl-plot")?.getBoundingClientRect();
      const row = rowOfReason(store, reason);
      if (plot === undefined || row < 0) return;
      const { execution, tree } = store.shown.peek();
      const top = plot.top + row * ROW_PX - store.scrollTop.peek();
      tips.show({
        subject: { what: "reasons", item: tree.itemOfSpan[execution.reasons.span[reason]], reasons: [reason] },
        x: plot.left + store.scale.peek().x(execution.reasons.at[reason]),
        top,
        bottom: top + ROW_PX,
        byKeyboard: true,
      });
    },
    close: () => {
      if (tips.dismiss()) return true;
      if (root.current?.querySelector(".tl-details:focus-within") !== null) {
        focusTree();
        state.panel.value = false;
        return true;
      }
      if (document.activeElement === search.current) {
        if (state.q.peek() === "") focusTree();
        else state.q.value = "";
        return true;
      }
      if (store.reason.peek() >= 0) store.reason.value = -1;
      else if (state.sel.peek() !== "" && state.panel.peek()) state.panel.value = false;
      else if (state.sel.peek() !== "") state.sel.value = "";
      else return false;
      return true;
    },
    page: (command) => onPageCommand?.(command),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || !pressKey(store, commands, event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onScroll = (): void => {
    store.scrollTop.value = scroller.current!.scrollTop;
    if (tips.shown.peek()?.byKeyboard === false) tips.hide();
  };
  const most = (): number => Math.max(LEAST_TREE_PX, (root.current?.clientWidth ?? 800) - 160);

  return (
    <section class="tl" aria-label="Timeline" ref={root} onKeyDown={onKeyDown}>
      <Toolbar store={store} search={search} onDone={focusTree} />
      <div class="tl-body">
        <div class="tl-main">
          <Minimap store={store} renderer={renderer} />
          <div class="tl-head">
            {state.mode.value === "packed" ? <div class="tl-tree-head">Task</div> : <TreeHead />}
            <Axis store={store} ticks={ticks} renderer={renderer} />
          </div>
          <div class="tl-scroll" ref={scroller} onScroll={onScroll}>
            <Spacer store={store}>
              {state.mode.value === "packed" ? <LaneNames store={store} /> : <Tree store={store} />}
              <Divider width={treeWidth} most={most} />
              <Plot store={store} tips={tips} ticks={ticks} renderer={renderer} scroller={scroller} />
            </Spacer>
            <NothingLeft store={store} />
          </div>
        </div>
        <Details store={store} onClosed={focusTree} />
      </div>
      <StatusLine store={store} />
      <Tooltip store={store} tips={tips} onMore={commands.openDetails} />
      <LiveRegion store={store} />
    </section>
  );
}

/** An address may select what is shut away or far down. */
function revealSelected(store: Store): void {
  const span = store.selected.peek();
  if (span < 0) return;
  store.active.value = store.state.sel.peek();
  store.state.collapse.value = store.state.collapse.peek().expandTo(store.shown.peek().tree, span);
  // The rows are there, but the spacer gets its height in the next frame.
  requestAnimationFrame(() => store.revealRow(store.activeRow.peek()));
}

function isInView(scrollTop: number, height: number, row: number): boolean {
  return row * ROW_PX >= scrollTop && (row + 1) * ROW_PX <= scrollTop + height;
}

/** As high as all rows together, so that the browser's own scroll bar is right; what is seen sticks in it. */
function Spacer({ store, children }: { store: Store; children: preact.ComponentChildren }) {
  const count = store.lineCount.value;
  return (
    <div class="tl-spacer" style={{ height: `${count * ROW_PX}px` }}>
      <div class="tl-viewport" style={{ height: `${store.height.value}px` }}>
        {children}
      </div>
    </div>
  );
}

/** Said where the rows would be, when a filter leaves none. */
function NothingLeft({ store }: { store: Store }) {
  if (store.filtered.value === null || store.lineCount.value > 0) return null;
  return (
    <div class="tl-nothing">
      <p>No span matches the filter.</p>
      <button type="button" class="tl-link" onClick={() => (store.state.filter.value = NO_FILTER)}>
        Clear the filter
      </button>
    </div>
  );
}

function LiveRegion({ store }: { store: Store }) {
  return (
    <div class="sr-only" role="status" aria-live="polite">
      {store.said.value}
    </div>
  );
}
