import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { placeTip, type Tip } from "../src/timeline/tip";
import { TipControl } from "../src/timeline/tipControl";
import { offsetOf, parseTime } from "../src/timeline/times";

function reasonTip(reason: number): Tip {
  return { subject: { what: "reasons", item: 0, reasons: [reason] }, x: 100, top: 50, bottom: 72, byKeyboard: false };
}

function barTip(item: number): Tip {
  return { subject: { what: "bar", item, segment: 0, lead: false }, x: 100, top: 50, bottom: 72, byKeyboard: false };
}

describe("where a tooltip stands", () => {
  test("it is whole in the window, and beside what it is about if there is room", () => {
    const point = fc.record({ x: fc.nat(1280), top: fc.nat(778), width: fc.integer({ min: 50, max: 440 }), height: fc.integer({ min: 20, max: 500 }) });
    fc.assert(
      fc.property(point, ({ x, top, width, height }) => {
        const tip = { ...reasonTip(1), x, top, bottom: top + 22 };
        const place = placeTip(tip, width, height, 1280, 800);
        expect(place.left).toBeGreaterThanOrEqual(0);
        expect(place.left + width).toBeLessThanOrEqual(1280);
        expect(place.top).toBeGreaterThanOrEqual(0);
        expect(place.top + height).toBeLessThanOrEqual(800);
        const hasRoom = top + 22 + height + 9 <= 800 || top - height - 9 >= 0;
        if (hasRoom) expect(place.top >= tip.bottom || place.top + height <= tip.top).toBe(true);
      }),
    );
  });
});

describe("when a tooltip comes and goes", () => {
  let tips: TipControl;

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("window", globalThis);
    tips = new TipControl();
  });

  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  test("that of a reason comes at once, that of a bar when the pointer rests on it", () => {
    tips.pointAt(reasonTip(1));
    expect(tips.shown.value?.subject).toEqual(reasonTip(1).subject);
    tips.hide();
    tips.pointAt(barTip(1));
    expect(tips.shown.value).toBeNull();
    vi.advanceTimersByTime(1000);
    expect(tips.shown.value?.subject).toEqual(barTip(1).subject);
  });

  test("the pointer can go into it, and it goes when the pointer leaves it", () => {
    tips.pointAt(reasonTip(1));
    tips.pointAway();
    tips.enter();
    vi.advanceTimersByTime(60_000);
    expect(tips.shown.value).not.toBeNull();
    tips.leave();
    vi.advanceTimersByTime(1000);
    expect(tips.shown.value).toBeNull();
  });

  test("it stays while the pointer stays", () => {
    tips.pointAt(reasonTip(1));
    tips.pointAway();
    tips.pointAt(reasonTip(1));
    vi.advanceTimersByTime(60_000);
    expect(tips.shown.value).not.toBeNull();
  });

  test("dismissed, it does not come back before the pointer was elsewhere", () => {
    tips.pointAt(reasonTip(1));
    expect(tips.dismiss()).toBe(true);
    tips.pointAt(reasonTip(1));
    expect(tips.shown.value).toBeNull();
    tips.pointAway();
    tips.pointAt(reasonTip(1));
    expect(tips.shown.value).not.toBeNull();
    tips.hide();
    expect(tips.dismiss()).toBe(false);
  });

  test("one that the keyboard asked for is not taken away by the pointer", () => {
    tips.show({ ...reasonTip(1), byKeyboard: true });
    tips.pointAway();
    vi.advanceTimersByTime(60_000);
    expect(tips.shown.value).not.toBeNull();
  });
});

describe("times in JSON", () => {
  test("they are exact to the nanosecond", () => {
    expect(parseTime("2026-01-01T00:00:00Z")).toBe(1767225600000000000n);
    expect(parseTime("2026-01-01T00:00:00.000000001Z")).toBe(1767225600000000001n);
    expect(parseTime("2026-01-01T00:00:00.5Z")).toBe(1767225600500000000n);
    expect(offsetOf("2026-01-01T00:00:02Z", 1767225600000000000n)).toBe(2e9);
    expect(offsetOf(undefined, 0n)).toBeNaN();
    expect(() => parseTime("yesterday")).toThrow("yesterday");
  });
});
