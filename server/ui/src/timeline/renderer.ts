// Draws the plot: turns what the store holds into scenes, and frames only when something has changed.

import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { drawBars, drawFoldEdges } from "../draw/bars";
import { drawHover, NO_HOVER, type Hover } from "../draw/hover";
import { drawMarks, type Marks, type RowTicks } from "../draw/marks";
import { drawPacked, drawPackedHover } from "../draw/packed";
import { makePatterns, type Patterns } from "../draw/patterns";
import { ROW_PX, type Scene } from "../draw/scene";
import { ALL, BARS, FrameClock, HOVER, MARKS, setText, sizeCanvas } from "../draw/surface";
import { countFont, labelFont, readTheme, watchTheme, type Theme } from "../draw/theme";
import { makeRuns, type Runs } from "../model/bars";
import { criticalRows } from "../model/critical";
import { rowsInView } from "../model/hit";
import { ROW_OPEN, rowOfSpan } from "../model/rows";
import type { Scale } from "../model/scale";
import { layTicks } from "../model/ticks";
import { packedBox, packedName, rectsInView } from "./packedLanes";
import type { Store } from "./store";

/** What is not in the store but changes what is drawn. */
interface Surroundings {
  theme: Theme;
  /** For the present resolution of the screen. */
  patterns: Patterns;
}

export class Renderer {
  readonly clock: FrameClock;
  /** What the pointer is at. */
  readonly hover = signal<Hover>(NO_HOVER);
  readonly surroundings: Signal<Surroundings>;
  private readonly contexts: CanvasRenderingContext2D[] = [];
  private runs: Runs = makeRuns(1);
  private ticks = new Map<number, RowTicks>();
  private ticksFor: { scale: Scale | null; rows: object | null } = { scale: null, rows: null };
  private readonly disposers: (() => void)[] = [];
  private readonly critical = computed(() => {
    const { execution, tree } = this.store.shown.value;
    const rows = this.store.rows.value;
    return this.store.state.cp.value ? criticalRows(execution, tree, rows) : null;
  });

  constructor(
    private readonly store: Store,
    readonly element: HTMLElement,
    private readonly canvases: HTMLCanvasElement[],
    private readonly gridX: ReadonlySignal<readonly number[]>,
  ) {
    this.clock = new FrameClock((dirty) => this.draw(dirty));
    const look = (): Surroundings => {
      const theme = readTheme(element);
      return { theme, patterns: makePatterns(canvases[0].getContext("2d")!, theme) };
    };
    this.surroundings = signal(look());
    const read = (): void => void (this.surroundings.value = look());
    this.disposers.push(watchTheme(read));
    this.watchRatio(read);
    this.disposers.push(
      effect(() => {
        const { width, height } = { width: store.width.value, height: store.height.value };
        const { theme } = this.surroundings.value;
        if (width === 0 || height === 0) return;
        this.contexts.length = 0;
        for (const canvas of this.canvases) this.contexts.push(sizeCanvas(canvas, width, height));
        setText(this.contexts[0], labelFont(theme));
        setText(this.contexts[1], countFont(theme));
        this.runs = makeRuns(width);
        // Setting the size clears a canvas: without a frame in the same turn it would flash.
        this.draw(ALL);
      }),
      effect(() => {
        store.shown.value;
        store.rows.value;
        store.scale.value;
        store.scrollTop.value;
        store.activeRow.value;
        store.lanes.value;
        store.state.mode.value;
        this.gridX.value;
        if (store.isOpen.value) store.now.value;
        this.clock.mark(ALL);
      }),
      effect(() => {
        this.critical.value;
        store.work.hitRows.value;
        this.clock.mark(MARKS);
      }),
      effect(() => {
        this.hover.value;
        store.reason.value;
        store.selected.value;
        this.clock.mark(HOVER);
      }),
    );
  }

  dispose(): void {
    this.clock.stop();
    for (const dispose of this.disposers) dispose();
  }

  /** What is drawn now. */
  scene(): Scene {
    const { store } = this;
    const rows = store.rows.peek();
    const height = store.height.peek();
    const scrollTop = store.scrollTop.peek();
    const [first, last] = rowsInView({ rowHeight: ROW_PX, scrollTop, rowCount: rows.count }, height);
    return {
      ...store.shown.peek(),
      ...this.surroundings.peek(),
      rows,
      scale: store.scale.peek(),
      now: store.now.peek(),
      width: store.width.peek(),
      height,
      scrollTop,
      first,
      last,
      activeRow: store.activeRow.peek(),
      runs: this.runs,
    };
  }

  /** The ticks of a row in the present view. */
  ticksOf = (row: number): RowTicks => {
    const scale = this.store.scale.peek();
    const rows = this.store.rows.peek();
    if (this.ticksFor.scale !== scale || this.ticksFor.rows !== rows) {
      this.ticks = new Map();
      this.ticksFor = { scale, rows };
    }
    let known = this.ticks.get(row);
    if (known === undefined) {
      const reasons = this.store.shown.peek().reasons.of(rows.item[row], rows.state[row] !== ROW_OPEN);
      known = { reasons, ticks: layTicks(reasons, scale) };
      this.ticks.set(row, known);
    }
    return known;
  };

  private draw(dirty: number): void {
    if (this.contexts.length === 0) return;
    const scene = this.scene();
    const [bars, marks, hover] = this.contexts;
    if (this.store.state.mode.peek() === "packed") {
      this.drawPacked(scene, dirty);
      return;
    }
    if (dirty & BARS) drawBars(bars, scene, this.gridX.peek());
    if (dirty & MARKS) drawMarks(marks, scene, this.marks());
    if (dirty & HOVER) drawHover(hover, scene, this.hoverNow());
  }

  private drawPacked(scene: Scene, dirty: number): void {
    const [bars, marks, hover] = this.contexts;
    const lanes = this.store.lanes.peek();
    const shown = this.store.shown.peek();
    if (dirty & (BARS | MARKS)) {
      // What is packed anew after a change stays as it was until then.
      if (lanes === null && this.store.work.packed.peek() === null) {
        marks.clearRect(0, 0, scene.width, scene.height);
        bars.clearRect(0, 0, scene.width, scene.height);
      } else if (lanes !== null) {
        marks.clearRect(0, 0, scene.width, scene.height);
        const rects = rectsInView(this.store, lanes);
        drawPacked(bars, scene, lanes, rects, (span) => packedName(shown, span), this.gridX.peek());
        drawFoldEdges(marks, scene);
      }
    }
    if (dirty & (BARS | HOVER)) {
      const selected = this.store.selected.peek();
      const chosen = lanes === null || selected < 0 ? null : packedBox(this.store, lanes, selected);
      drawPackedHover(hover, scene, this.hover.peek(), chosen);
    }
  }

  private marks(): Marks {
    return { critical: this.critical.peek(), hits: this.store.work.hitRows.peek(), ticksOf: this.ticksOf };
  }

  private hoverNow(): Hover {
    const { store } = this;
    const shown = store.shown.peek();
    const rows = store.rows.peek();
    const selected = store.selected.peek();
    const reason = store.reason.peek();
    return {
      ...this.hover.peek(),
      selectedRow: selected < 0 ? -1 : rowOfSpan(shown.tree, rows, selected),
      reasonRow: reason < 0 ? -1 : rowOfSpan(shown.tree, rows, shown.execution.reasons.span[reason]),
      reasonTime: reason < 0 ? Number.NaN : shown.execution.reasons.at[reason],
    };
  }

  /** The ratio changes when the window goes to another screen or the page is zoomed. */
  private watchRatio(changed: () => void): void {
    let query = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    const listen = (): void => {
      changed();
      query.removeEventListener("change", listen);
      query = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
      query.addEventListener("change", listen);
    };
    query.addEventListener("change", listen);
    this.disposers.push(() => query.removeEventListener("change", listen));
  }
}
