// What tests may see: where things are drawn, and how long drawing takes. Only with ?test=1, and read-only.

import { tickBoxes } from "../draw/marks";
import { BAR_PX, BAR_TOP_PX, barBox, ROW_PX, rowTop } from "../draw/scene";
import { setText, type FrameStats } from "../draw/surface";
import { countFont } from "../draw/theme";
import type { Renderer } from "./renderer";
import type { Store } from "./store";

/** In CSS pixels of the window. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface TickLayout extends Box {
  /** Number of reasons in it: more than 1 for a cluster. */
  count: number;
  /** Where the line is: the pixel to point at. */
  lineX: number;
  /** Numbers of the reasons in the execution. */
  reasons: number[];
}

export interface RowLayout {
  row: number;
  span: number;
  spanId: string;
  name: string;
  bar: Box;
  ticks: TickLayout[];
}

export interface TestHook {
  /** Resolves once the first execution is drawn. */
  ready: Promise<void>;
  /** The rows in view. */
  layout(): { plot: Box; rows: RowLayout[] };
  /** Times of drawing and between frames in milliseconds, the newest last, and the number of frames so far. */
  stats(): FrameStats;
  /** Revision that is drawn. */
  rev(): string;
}

declare global {
  interface Window {
    __spanwise?: TestHook;
  }
}

/** Whether the address of the page asks for what tests may see. */
export function isUnderTest(): boolean {
  return new URLSearchParams(location.search).get("test") === "1";
}

/** Gives what takes it away again. */
export function installTestHook(store: Store, renderer: Renderer): (() => unknown) | undefined {
  if (!isUnderTest()) return undefined;
  // After the frame in which it is drawn.
  const ready = new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
  const hook: TestHook = {
    ready,
    layout: () => layout(store, renderer),
    stats: () => structuredClone(renderer.clock.stats),
    rev: () => store.source.execution.peek().header.revision,
  };
  window.__spanwise = Object.freeze(hook);
  return () => delete window.__spanwise;
}

function layout(store: Store, renderer: Renderer): { plot: Box; rows: RowLayout[] } {
  const { left, top, width, height } = renderer.element.getBoundingClientRect();
  const rows: RowLayout[] = [];
  const scene = renderer.scene();
  const context = document.createElement("canvas").getContext("2d")!;
  setText(context, countFont(scene.theme));
  const { spans, strings } = scene.execution;
  for (let row = scene.first; row < scene.last; row++) {
    const span = scene.rows.span[row];
    const bar = barBox(scene, span);
    const y = top + rowTop(scene, row);
    const rowTicks = renderer.ticksOf(row);
    rows.push({
      row,
      span,
      spanId: store.idOf(span),
      name: strings.get(spans.name[span]),
      bar: { x: left + bar.x0, y: y + BAR_TOP_PX, width: bar.x1 - bar.x0, height: BAR_PX },
      ticks: tickBoxes(context, scene, rowTicks).map((box, i) => ({
        x: left + box.x0,
        y,
        width: box.x1 - box.x0,
        height: ROW_PX,
        lineX: left + box.x,
        count: box.count,
        reasons: Array.from(rowTicks.reasons.reason.subarray(rowTicks.ticks.first[i], rowTicks.ticks.end[i])),
      })),
    });
  }
  return { plot: { x: left, y: top, width, height }, rows };
}
