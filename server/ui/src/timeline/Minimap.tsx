// The overview: the whole run in a strip, and the part of it that is in view as a window that can be dragged.

import { useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { drawOverview, OVERVIEW_PX } from "../draw/overview";
import { sizeCanvas } from "../draw/surface";
import { Scale, type View } from "../model/scale";
import { formatOffset } from "../model/format";
import { panBy, showTime, zoom } from "./actions";
import { followPress } from "./drag";
import type { Renderer } from "./renderer";
import type { Store } from "./store";

/** Movement up to which a press is a click. */
const CLICK_PX = 3;
const EDGE_HIT_PX = 7;
const LEAST_WINDOW_PX = 6;
const PAN_SHARE = 0.1;

type Grip = "window" | "left" | "right" | "new";

interface Props {
  store: Store;
  renderer: ReadonlySignal<Renderer | null>;
}

export function Minimap({ store, renderer }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const strip = useRef<HTMLDivElement>(null);
  const marked = useSignal<[number, number] | null>(null);

  useSignalEffect(() => {
    const minimap = store.work.minimap.value;
    const around = renderer.value?.surroundings.value;
    const width = store.width.value;
    if (minimap === null || around === undefined || canvas.current === null || width === 0) return;
    drawOverview(sizeCanvas(canvas.current, width, OVERVIEW_PX), minimap, around.theme, around.patterns, width);
  });

  const scale = store.scale.value;
  const whole = new Scale(store.whole.value, Math.max(1, store.width.value), scale.folds);
  const [from, to] = windowOf(scale.view, whole);

  const gripAt = (x: number): Grip => {
    const isWhole = to - from >= whole.width - 1;
    if (Math.abs(x - from) <= EDGE_HIT_PX && !isWhole) return "left";
    if (Math.abs(x - to) <= EDGE_HIT_PX && !isWhole) return "right";
    return x > from && x < to && !isWhole ? "window" : "new";
  };
  const down = (event: PointerEvent): void => {
    const element = strip.current!;
    const left = element.getBoundingClientRect().left;
    const startX = event.clientX - left;
    const grip = gripAt(startX);
    let moved = false;
    store.follow.value = false;
    const move = (next: PointerEvent): void => {
      const x = Math.max(0, Math.min(whole.width, next.clientX - left));
      if (!moved && Math.abs(x - startX) <= CLICK_PX) return;
      moved = true;
      if (grip === "new") marked.value = x < startX ? [x, startX] : [startX, x];
      else if (grip === "left") showTime(store, whole.time(Math.min(x, to - 1)), whole.time(to));
      else if (grip === "right") showTime(store, whole.time(from), whole.time(Math.max(x, from + 1)));
      else {
        const shift = Math.max(-from, Math.min(x - startX, whole.width - to));
        showTime(store, whole.time(from + shift), whole.time(to + shift));
      }
    };
    followPress(element, event, move, (isReleased) => {
      const range = marked.peek();
      marked.value = null;
      if (!isReleased) return;
      if (range !== null) showTime(store, whole.time(range[0]), whole.time(range[1]));
      else if (!moved) {
        const half = (to - from) / 2;
        const middle = Math.max(half, Math.min(startX, whole.width - half));
        showTime(store, whole.time(middle - half), whole.time(middle + half));
      }
    });
  };
  const key = (event: KeyboardEvent): void => {
    const width = store.width.peek();
    if (event.key === "ArrowLeft") panBy(store, -width * PAN_SHARE);
    else if (event.key === "ArrowRight") panBy(store, width * PAN_SHARE);
    else if (event.key === "ArrowUp") zoom(store, 0.8);
    else if (event.key === "ArrowDown") zoom(store, 1.25);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const box = marked.value ?? [from, Math.max(to, from + LEAST_WINDOW_PX)];
  return (
    <div class="tl-minimap-row">
      <div class="tl-minimap-side">
        <Legend />
      </div>
      <div
        class="tl-minimap"
        ref={strip}
        role="slider"
        tabIndex={0}
        aria-label="Part of the run that is in view"
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round((100 * (from + to)) / 2 / whole.width)}
        aria-valuetext={`${formatOffset(round(scale.view.t0))} to ${formatOffset(round(scale.view.t1))}`}
        onPointerDown={down}
        onKeyDown={key}
      >
        <canvas ref={canvas} />
        <span class="tl-minimap-shade" style={{ left: 0, width: `${Math.max(0, box[0])}px` }} />
        <span class="tl-minimap-shade" style={{ left: `${box[1]}px`, right: 0 }} />
        <span class="tl-minimap-window" style={{ left: `${box[0]}px`, width: `${box[1] - box[0]}px` }} />
      </div>
    </div>
  );
}

/** What the colours mean. */
function Legend() {
  return (
    <ul class="tl-legend">
      <li>
        <span class="tl-swatch is-setup" /> Set-up
      </li>
      <li>
        <span class="tl-swatch is-runtime" /> Runtime
      </li>
      <li>
        <span class="tl-swatch is-teardown" /> Teardown
      </li>
      <li>
        <span class="tl-swatch is-waiting" /> Waiting
      </li>
      <li>
        <span class="tl-swatch is-failure" /> Failed
      </li>
      <li>
        <span class="tl-swatch is-reason" /> Reason
      </li>
      <li>
        <span class="tl-swatch is-critical" /> Critical path
      </li>
    </ul>
  );
}

function windowOf(view: View, whole: Scale): [number, number] {
  return [Math.max(0, whole.x(view.t0)), Math.min(whole.width, whole.x(view.t1))];
}

function round(ns: number): number {
  return Math.round(ns / 1e6) * 1e6;
}
