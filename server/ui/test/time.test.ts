import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";

import { layAxis } from "../src/model/axis";
import { NO_FOLDS, findFolds, makeFolds, toPlace, toTime } from "../src/model/folding";
import { formatDuration, formatExact, formatMoment, formatOffset, formatShare } from "../src/model/format";
import { Scale, clampView, pan, showRange, wholeView, zoomAbout } from "../src/model/scale";
import { SECOND, operation } from "./shapes";
import { makeExecution } from "./synthetic";

afterEach(() => vi.unstubAllEnvs());

const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
const YEAR = 366 * DAY;
/** 2026-03-28 23:30:00 UTC: the night before Europe puts its clocks forward. */
const START = 1_774_740_600_000_000_000n;

describe("durations", () => {
  it("are written as the command line writes them", () => {
    const written = [0, 999, 1500, 8e6, 1e9, 12.5e9, 59.999e9, 187e9, 3723e9, 2 * DAY + 3 * HOUR, -3e9].map(formatDuration);
    expect(written).toEqual(
      ["0s", "999ns", "1µs", "8ms", "1s", "12.5s", "59.99s", "3m 07s", "1h 02m 03s", "2d 03h 00m 00s", "−3s"],
    );
  });

  it("are exact to the nanosecond where that matters", () => {
    const written = [0, 350, 8_250_000, 3_723_000_000_004, 60e9, DAY + 1, -1500].map(formatExact);
    expect(written).toEqual(
      ["0s", "350ns", "8.25ms", "1h 02m 03.000000004s", "1m 00s", "1d 00h 00m 00.000000001s", "−1.5µs"],
    );
    expect([formatOffset(8e6), formatOffset(-3e9), formatOffset(0)]).toEqual(["+8ms", "−3s", "+0s"]);
  });

  it("add up again when they are read back", () => {
    const units: Record<string, number> = { d: DAY, h: HOUR, m: 60 * SECOND, s: SECOND, ms: 1e6, "µs": 1e3, ns: 1 };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 52 }), (ns) => {
        let sum = 0;
        for (const part of formatExact(ns).split(" ")) {
          const [, number, unit] = /^([\d.]+)(\D+)$/.exec(part)!;
          const [whole, fraction = ""] = number.split(".");
          const digits = Math.round(Math.log10(units[unit]));
          sum += Number(whole) * units[unit] + Number(fraction.padEnd(digits, "0").slice(0, digits));
        }
        expect(sum).toBe(ns);
      }),
    );
  });

  it("are shares of a whole in words", () => {
    expect([formatShare(1, 8), formatShare(1, 1000), formatShare(0, 5), formatShare(1, 0)]).toEqual(
      ["13 %", "less than 1 %", "0 %", "0 %"],
    );
  });
});

describe("moments", () => {
  it("are exact to the nanosecond, by UTC or by the local clock", () => {
    vi.stubEnv("TZ", "Europe/Berlin");
    expect(formatMoment(START, 1, "utc")).toBe("2026-03-28 23:30:00.000000001 UTC");
    expect(formatMoment(START, 0, "local")).toBe("2026-03-29 00:30:00 UTC+01:00");
    expect(formatMoment(START, 2 * HOUR, "local")).toBe("2026-03-29 03:30:00 UTC+02:00");
    expect(formatMoment(0n, -1, "utc")).toBe("1969-12-31 23:59:59.999999999 UTC");
    vi.stubEnv("TZ", "America/New_York");
    expect(formatMoment(START, -500_000_000, "local")).toBe("2026-03-28 19:29:59.5 UTC−04:00");
  });
});

const folds = makeFolds([10 * HOUR, 40 * HOUR], [30 * HOUR, 45 * HOUR], 50 * HOUR);

describe("folds", () => {
  it("map time to place and back", () => {
    fc.assert(
      fc.property(fc.double({ min: -HOUR, max: 60 * HOUR, noNaN: true }), (time) => {
        expect(Math.abs(toTime(folds, toPlace(folds, time)) - time)).toBeLessThan(1000);
      }),
    );
  });

  it("grow with time, and are all as long", () => {
    fc.assert(
      fc.property(fc.nat(60 * 3600), fc.integer({ min: 1, max: 3600 }), (a, more) => {
        expect(toPlace(folds, (a + more) * SECOND)).toBeGreaterThan(toPlace(folds, a * SECOND));
      }),
    );
    const lengths = [0, 1].map((i) => toPlace(folds, folds.end[i]) - toPlace(folds, folds.start[i]));
    expect(lengths[0]).toBeCloseTo(lengths[1], 0);
    expect(lengths[0]).toBeLessThan(HOUR);
  });

  it("are found where a night goes by with nothing but waiting, not where something runs", () => {
    const run = (name: "NODE_IDLE" | "TASK_RUNTIME", reasons: { at: number; message: string }[] = []) =>
      makeExecution({
        spans: [
          { name: "f", depth: 0, start: 0, end: 14 * HOUR, phase: "SUCCEEDED", reasons },
          { name: "n", depth: 1, start: HOUR, end: 13 * HOUR, kind: "NODE", phase: "SUCCEEDED" },
          operation(name, 2, HOUR, 13 * HOUR),
        ],
      });
    const found = findFolds(run("NODE_IDLE"), 14 * HOUR);
    expect([Array.from(found.start), Array.from(found.end)]).toEqual([[HOUR], [13 * HOUR]]);
    expect(findFolds(run("TASK_RUNTIME"), 14 * HOUR).count).toBe(0);
    const split = findFolds(run("NODE_IDLE", [{ at: 2 * HOUR, message: "still waiting" }]), 14 * HOUR);
    expect([Array.from(split.start), Array.from(split.end)]).toEqual([[2 * HOUR], [13 * HOUR]]);
  });

  it("are none where a run has no gap", () => {
    expect(findFolds(makeExecution(), 1e9)).toEqual(NO_FOLDS);
  });
});

const views = fc
  .record({
    end: fc.constantFrom(1e6, SECOND, HOUR, YEAR),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    share: fc.double({ min: 1e-9, max: 1, noNaN: true }),
    width: fc.integer({ min: 100, max: 4000 }),
    folded: fc.boolean(),
  })
  .map(({ end, at, share, width, folded }) => {
    const whole = wholeView(0, end);
    const some = folded ? makeFolds([end * 0.2], [end * 0.7], end) : NO_FOLDS;
    const view = clampView({ t0: end * at, t1: end * (at + share) }, width, some, whole);
    return { whole, width, folds: some, view, scale: new Scale(view, width, some) };
  });

describe("the view", () => {
  it("maps pixels to time and back", () => {
    fc.assert(
      fc.property(views, fc.double({ min: 0, max: 1, noNaN: true }), ({ scale, width }, share) => {
        expect(Math.abs(scale.x(scale.time(share * width)) - share * width)).toBeLessThan(1);
        expect(scale.x(scale.view.t0)).toBeCloseTo(0, 0);
        expect(scale.x(scale.view.t1)).toBeCloseTo(width, 0);
      }),
    );
  });

  it("keeps the moment under the pointer while zooming in, and never leaves the run", () => {
    fc.assert(
      fc.property(
        views,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0.1, max: 10, noNaN: true }),
        ({ scale, width, folds: some, whole }, share, factor) => {
          const x = share * width;
          const next = zoomAbout(scale, x, factor, whole);
          expect(next.t0).toBeGreaterThanOrEqual(whole.t0);
          expect(next.t1).toBeLessThanOrEqual(whole.t1);
          expect(next.t1).toBeGreaterThan(next.t0);
          if (factor > 1) return;
          const after = new Scale(next, width, some);
          const off = Math.abs(after.x(scale.time(x)) - x);
          expect(off).toBeLessThan(1.5);
        },
      ),
    );
  });

  it("can be zoomed to one microsecond on a hundred pixels, also at the end of a year, and no further", () => {
    const whole = wholeView(0, YEAR);
    let scale = new Scale(whole, 1000);
    for (let i = 0; i < 400; i++) scale = new Scale(zoomAbout(scale, 999, 0.8, whole), 1000);
    const length = scale.view.t1 - scale.view.t0;
    expect(Math.abs(length - 10_000)).toBeLessThanOrEqual(16);
    for (let i = 0; i < 400; i++) scale = new Scale(zoomAbout(scale, 500, 1.25, whole), 1000);
    expect(scale.view).toEqual(whole);
  });

  it("moves by pixels and stops at the ends", () => {
    const whole = { t0: 0, t1: 1e12 };
    const scale = new Scale({ t0: 1e11, t1: 2e11 }, 1000);
    expect(pan(scale, 10, whole)).toEqual({ t0: 1.01e11, t1: 2.01e11 });
    expect(pan(scale, -1e9, whole)).toEqual({ t0: 0, t1: 1e11 });
    expect(pan(scale, 1e9, whole).t1).toBe(1e12);
  });

  it("shows a stretch with room around, however short", () => {
    const whole = { t0: 0, t1: 1e12 };
    expect(showRange(4e11, 5e11, 1000, NO_FOLDS, whole, 0.1)).toEqual({ t0: 3.9e11, t1: 5.1e11 });
    const short = showRange(4e11, 4e11, 1000, NO_FOLDS, whole);
    expect([short.t1 - short.t0, (short.t0 + short.t1) / 2]).toEqual([10_000, 4e11]);
  });

  it("is made of any two numbers", () => {
    fc.assert(
      fc.property(fc.double(), fc.double(), (t0, t1) => {
        const whole = wholeView(0, DAY);
        const view = clampView({ t0, t1 }, 1000, NO_FOLDS, whole);
        expect(view.t1).toBeGreaterThan(view.t0);
        expect(view.t0).toBeGreaterThanOrEqual(whole.t0);
        expect(view.t1).toBeLessThanOrEqual(whole.t1);
      }),
    );
  });
});

describe("the axis", () => {
  const measure = (text: string) => 7 * text.length;
  const texts = (t0: number, t1: number, by: "utc" | "local", width = 700) =>
    layAxis(new Scale({ t0, t1 }, width), { startNs: START, by }).map((mark) =>
      mark.date === "" ? mark.label : `${mark.label} (${mark.date})`,
    );

  it("has labels that never overlap, inside the view, in order, and some of them", () => {
    fc.assert(
      fc.property(views, fc.constantFrom("utc" as const, "local" as const), ({ scale, width }, by) => {
        const marks = layAxis(scale, { startNs: START, by });
        let labelEnd = -Infinity;
        let dateEnd = -Infinity;
        for (const { x, label, date, offset } of marks) {
          expect(x - measure(label) / 2).toBeGreaterThanOrEqual(labelEnd);
          labelEnd = x + measure(label) / 2;
          if (date !== "") {
            expect(x - measure(date) / 2).toBeGreaterThanOrEqual(dateEnd);
            dateEnd = x + measure(date) / 2;
          }
          expect(offset).toBeGreaterThanOrEqual(scale.view.t0);
          expect(offset).toBeLessThanOrEqual(scale.view.t1);
        }
        if (width >= 700) expect(marks.length).toBeGreaterThan(0);
      }),
    );
  });

  it("carries the date where it changes", () => {
    expect(texts(0, 2 * HOUR, "utc", 500)).toEqual(
      ["23:30 (28 Mar)", "23:45", "00:00 (29 Mar)", "00:15", "00:30", "00:45", "01:00", "01:15", "01:30"],
    );
  });

  it("leaves out the hour that the local clock leaps over", () => {
    vi.stubEnv("TZ", "Europe/Berlin");
    expect(texts(0, 5 * HOUR, "local", 500)).toEqual(
      ["01:00 (29 Mar)", "03:00", "04:00", "05:00", "06:00"],
    );
  });

  it("goes from years to microseconds", () => {
    expect(texts(0, YEAR, "utc", 900)[1]).toMatch(/^\d+ \w{3}$/);
    expect(texts(0, 7 * DAY, "utc")[0]).toBe("29 Mar (2026)");
    expect(texts(0, 60 * SECOND, "utc").slice(0, 2)).toEqual(["23:30:00 (28 Mar)", "23:30:10"]);
    expect(texts(5_000, 12_000, "utc").slice(0, 2)).toEqual(["23:30:00.000006 (28 Mar)", "23:30:00.000008"]);
  });

  it("leaps over folds", () => {
    const end = 100 * DAY;
    const some = makeFolds([HOUR], [end - HOUR], end);
    const marks = layAxis(new Scale({ t0: 0, t1: end }, 800, some), { startNs: START, by: "utc" });
    expect(marks.length).toBeGreaterThan(4);
    expect(marks.length).toBeLessThan(30);
  });
});
