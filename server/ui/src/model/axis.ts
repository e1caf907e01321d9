/** Marks of the time axis: where they are and what they say, from days to microseconds. */

import { type Zone, pad, zoneOffsetMinutes } from "./format";
import type { Scale } from "./scale";

const SECOND = 1e9;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** Lengths between marks, ascending. */
const STEPS: readonly number[] = [
  ...[1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND],
  ...[MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR],
  ...[DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 56 * DAY, 112 * DAY, 364 * DAY],
];

/** Room between two labels. */
const GAP_PX = 16;
/** No axis has more marks, whatever is asked for. */
const MOST_MARKS = 400;

export interface Mark {
  /** Moment, as an offset in nanoseconds. */
  offset: number;
  x: number;
  label: string;
  /** The date, where it is another one than that of the mark before, and at the first mark; else "". */
  date: string;
}

export interface AxisOptions {
  /** Zero of offsets, in nanoseconds since 1970. */
  startNs: bigint;
  /** The zone whose clock they show. */
  by: Zone;
  /** Width of a text in pixels; 7 a character unless given. */
  measure?: (text: string) => number;
}

/**
 * Gives the marks in view, from left to right. Labels, centred at their marks, never overlap; nor do
 * dates, in a line of their own.
 */
export function layAxis(scale: Scale, options: AxisOptions): Mark[] {
  const measure = options.measure ?? ((text: string) => 7 * text.length);
  const clock = makeClock(options);
  const step = chooseStep(scale, clock, measure);
  const marks: Mark[] = [];
  let labelEnd = -Infinity;
  let lastDay = NaN;
  let dateEnd = -Infinity;
  for (let wall = firstAtOrAfter(clock.wallOf(scale.view.t0), step); ; ) {
    const offset = clock.offsetOf(wall);
    const x = scale.x(offset);
    if (offset > scale.view.t1 || marks.length >= MOST_MARKS) break;
    const text = clock.label(wall, step);
    const half = measure(text) / 2;
    const isReal = Math.abs(clock.wallOf(offset) - wall) < MINUTE / 2; // else the clock leapt over it
    if (isReal && offset >= scale.view.t0 && x - half >= labelEnd) {
      const mark = { offset, x, label: text, date: "" };
      const day = clock.day(wall, step);
      const date = clock.date(wall, step);
      if (date !== "" && day !== lastDay) {
        const halfDate = measure(date) / 2;
        if (x - halfDate >= dateEnd) {
          mark.date = date;
          dateEnd = x + halfDate + GAP_PX;
          lastDay = day;
        }
      }
      marks.push(mark);
      labelEnd = x + half + GAP_PX;
    }
    // Past what is still covered by this label, which also leaps over folds.
    const least = clock.wallOf(scale.time(Math.max(x, labelEnd + half - 1)));
    const next = firstAtOrAfter(least, step);
    wall = next > wall ? next : wall + step;
  }
  return marks;
}

/** How marks count: as the hours of a clock. Walls are exact multiples. */
interface Clock {
  wallOf(offset: number): number;
  offsetOf(wall: number): number;
  label(wall: number, step: number): string;
  date(wall: number, step: number): string;
  day(wall: number, step: number): number;
}

/** A clock on the wall; its zero is midnight of the day of the start, by the clock at the start. */
function makeClock({ startNs, by }: AxisOptions): Clock {
  const startMs = Number(startNs / 1_000_000n);
  const atStart = zoneOffsetMinutes(startMs, by);
  const wallStart = startNs + BigInt(atStart) * BigInt(MINUTE);
  const day0 = Math.floor(Number(wallStart / 1_000_000n) / 86_400_000);
  const intoDay = Number(wallStart - BigInt(day0) * BigInt(DAY));
  /** Nanoseconds that the clock was put forward by since the start. */
  const shift = (offset: number) =>
    by === "utc" ? 0 : (zoneOffsetMinutes(startMs + offset / 1e6, by) - atStart) * MINUTE;
  const dayOf = (wall: number) => Math.floor(wall / DAY);
  return {
    wallOf: (offset) => offset + intoDay + shift(offset),
    offsetOf(wall) {
      const guess = wall - intoDay;
      return guess - shift(guess - shift(guess));
    },
    label(wall, step) {
      if (step >= DAY) return dayText(day0 + dayOf(wall));
      return timeText(wall - dayOf(wall) * DAY, step);
    },
    date(wall, step) {
      const day = day0 + dayOf(wall);
      return step >= DAY ? String(new Date(day * 86_400_000).getUTCFullYear()) : dayText(day);
    },
    day(wall, step) {
      const day = day0 + dayOf(wall);
      return step >= DAY ? new Date(day * 86_400_000).getUTCFullYear() : day;
    },
  };
}

function dayText(day: number): string {
  const date = new Date(day * 86_400_000);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

/** Time of day, as exact as the step. */
function timeText(ns: number, step: number): string {
  const text = `${pad(Math.floor(ns / HOUR), 2)}:${pad(Math.floor(ns / MINUTE) % 60, 2)}`;
  if (step >= MINUTE) return text;
  const seconds = `${text}:${pad(Math.floor(ns / SECOND) % 60, 2)}`;
  if (step >= SECOND) return seconds;
  const digits = step >= 1e6 ? 3 : step >= 1e3 ? 6 : 9;
  return `${seconds}.${pad(ns % SECOND, 9).slice(0, digits)}`;
}

/** The shortest step whose labels have room. */
function chooseStep(scale: Scale, clock: Clock, measure: (text: string) => number): number {
  const { t0, t1 } = scale.view;
  for (const step of STEPS) {
    if (step < scale.nsPerPx) continue;
    const sample = clock.label(firstAtOrAfter(clock.wallOf((t0 + t1) / 2), step), step);
    const edge = clock.label(firstAtOrAfter(clock.wallOf(t1), step), step);
    const room = Math.max(measure(sample), measure(edge), measure("00 Mmm")) + GAP_PX;
    if (step / scale.nsPerPx >= room) return step;
  }
  return STEPS[STEPS.length - 1];
}

function firstAtOrAfter(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}
