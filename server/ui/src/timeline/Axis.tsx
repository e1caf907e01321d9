// The time axis: round times, the moment of the pointer, and what is folded. A range dragged on it is shown.

import { useComputed, useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Mark } from "../model/axis";
import { formatDuration, formatOffset, momentOf } from "../model/format";
import type { Scale } from "../model/scale";
import { showTime } from "./actions";
import { followPress } from "./drag";
import { wheel } from "./pointer";
import type { Renderer } from "./renderer";
import type { Store } from "./store";

const CHARACTER_PX = 6.6;
const LEAST_RANGE_PX = 4;

interface Props {
  store: Store;
  ticks: ReadonlySignal<Mark[]>;
  renderer: ReadonlySignal<Renderer | null>;
}

export function Axis({ store, ticks, renderer }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const drag = useSignal<[number, number] | null>(null);

  useEffect(() => {
    const axis = element.current!;
    const onWheel = (event: WheelEvent): void => {
      if (wheel(store, event, event.clientX - axis.getBoundingClientRect().left, !event.shiftKey)) event.preventDefault();
    };
    axis.addEventListener("wheel", onWheel, { passive: false });
    return () => axis.removeEventListener("wheel", onWheel);
  }, [store]);

  const showRangeOnPlot = (range: [number, number] | null): void => {
    const plot = renderer.peek();
    if (plot !== null) plot.hover.value = { ...plot.hover.peek(), range };
  };
  const down = (event: PointerEvent): void => {
    const axis = element.current!;
    const left = axis.getBoundingClientRect().left;
    const from = event.clientX - left;
    const move = (moved: PointerEvent): void => {
      const to = Math.max(0, Math.min(axis.clientWidth, moved.clientX - left));
      drag.value = from < to ? [from, to] : [to, from];
      showRangeOnPlot(drag.value);
    };
    followPress(axis, event, move, (isReleased) => {
      const range = drag.peek();
      drag.value = null;
      showRangeOnPlot(null);
      if (!isReleased || range === null || range[1] - range[0] < LEAST_RANGE_PX) return;
      const scale = store.scale.peek();
      store.follow.value = false;
      showTime(store, scale.time(range[0]), scale.time(range[1]));
    });
  };

  const { startNs } = store.shown.value.execution;
  const scale = store.scale.value;
  const folds = foldLabels(scale);
  return (
    <div class="tl-axis" ref={element} onPointerDown={down} title="Drag to zoom into a range">
      {placeMarks(ticks.value, folds, store.width.value).map(({ mark, x }) => (
        <span class="tl-axis-tick" key={mark.offset} style={{ transform: `translateX(${x}px)` }}>
          <span class="tl-axis-date">{mark.date}</span>
          <span class="tl-axis-time">{mark.label}</span>
        </span>
      ))}
      {folds.map(({ x, text }) => (
        <span class="tl-axis-fold" key={x} style={{ left: `${x}px` }} title={`${text.slice(2)} in which nothing happened, folded`}>
          {text}
        </span>
      ))}
      <Pointed store={store} renderer={renderer} startNs={startNs} />
      {drag.value !== null && (
        <span class="tl-axis-range" style={{ left: `${drag.value[0]}px`, width: `${drag.value[1] - drag.value[0]}px` }}>
          {formatDuration(scale.time(drag.value[1]) - scale.time(drag.value[0]))}
        </span>
      )}
    </div>
  );
}

/** Where labels go: centred at their marks, but whole; at the edges one gives way to its neighbour. */
function placeMarks(marks: readonly Mark[], folds: readonly FoldLabel[], width: number): { mark: Mark; x: number }[] {
  const placed: { mark: Mark; x: number; half: number }[] = [];
  for (const mark of marks) {
    const half = (CHARACTER_PX * Math.max(mark.label.length, mark.date.length)) / 2 + 2;
    const x = Math.round(Math.max(half, Math.min(mark.x, width - half)));
    if (folds.some((fold) => Math.abs(fold.x - x) < fold.half + half)) continue;
    const before = placed[placed.length - 1];
    if (before === undefined || x - half >= before.x + before.half) placed.push({ mark, x, half });
    else if (before.x > before.mark.x && mark.date === "") placed[placed.length - 1] = { mark: { ...mark, date: before.mark.date }, x, half };
  }
  return placed;
}

interface FoldLabel {
  x: number;
  half: number;
  text: string;
}

/** How much time each fold stands for. */
function foldLabels(scale: Scale): FoldLabel[] {
  const labels: FoldLabel[] = [];
  for (let i = 0; i < scale.folds.count; i++) {
    const text = `⌇ ${formatDuration(scale.folds.end[i] - scale.folds.start[i])}`;
    const half = (CHARACTER_PX * text.length) / 2 + 6;
    const middle = (scale.x(scale.folds.start[i]) + scale.x(scale.folds.end[i])) / 2;
    if (middle >= 0 && middle <= scale.width) labels.push({ x: Math.max(half, Math.min(middle, scale.width - half)), half, text });
  }
  return labels;
}

function Pointed({ store, renderer, startNs }: { store: Store; renderer: ReadonlySignal<Renderer | null>; startNs: bigint }) {
  const x = useComputed(() => renderer.value?.hover.value.x ?? Number.NaN);
  if (Number.isNaN(x.value)) return null;
  const scale = store.scale.value;
  // No finer than a pixel: more digits would say nothing.
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(scale.nsPerPx)));
  const time = Math.round(scale.time(x.value) / unit) * unit;
  const moment = momentOf(startNs, time, store.state.tz.value);
  const isRight = x.value > scale.width / 2;
  const place = isRight ? { right: `${scale.width - x.value}px` } : { left: `${x.value}px` };
  return (
    <span class={`tl-axis-pointed${isRight ? " is-right" : ""}`} style={place} aria-hidden="true">
      {moment.time} {moment.zone} <b>{formatOffset(time)}</b>
    </span>
  );
}
