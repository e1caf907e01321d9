// The pointer on the plot: hover, click, drag to move, wheel to zoom.

import { NO_HOVER } from "../draw/hover";
import { BAR_PX, BAR_TOP_PX, ROW_PX } from "../draw/scene";
import { hitRow, rowAt, type Hit } from "../model/hit";
import { rectAt, type Lanes } from "../model/lanes";
import { fitActive, panBy, select, zoom } from "./actions";
import { bumpReason } from "./reasonSteps";
import { rectsInView } from "./packedLanes";
import type { Renderer } from "./renderer";
import type { Store } from "./store";
import type { Tip, TipSubject } from "./tip";
import type { TipControl } from "./tipControl";

/** Movement up to which a press is a click. */
const CLICK_PX = 4;
/** One step of a common wheel is 100 pixels: it zooms by a quarter. */
const WHEEL_ZOOM = 0.0022;
const LINE_PX = 16;

export interface Found {
  /** Row, or lane in packed mode. */
  row: number;
  /** Span of the row, or what is under the pointer in the lane; -1 for none. */
  span: number;
  hit: Hit;
  tip: Tip | null;
}

/** Wheel movement in pixels. */
export function wheelPixels(event: WheelEvent): { dx: number; dy: number } {
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? 400 : 1;
  return { dx: event.deltaX * unit, dy: event.deltaY * unit };
}

/** Zooms or moves by a wheel. Gives whether the wheel is used up by it. */
export function wheel(store: Store, event: WheelEvent, x: number, zooms: boolean): boolean {
  const { dx, dy } = wheelPixels(event);
  if (zooms || event.ctrlKey || event.metaKey) zoom(store, Math.exp(dy * WHEEL_ZOOM), x);
  else if (event.shiftKey) panBy(store, dx === 0 ? dy : dx);
  else if (Math.abs(dx) > Math.abs(dy)) panBy(store, dx);
  else return false;
  return true;
}

export class PlotPointer {
  /** Fingers on the plot, by id of the pointer. */
  private readonly fingers = new Map<number, { x: number; y: number }>();
  private drag: { id: number; x: number; y: number; scrollTop: number; moved: boolean } | null = null;

  constructor(
    private readonly store: Store,
    private readonly renderer: Renderer,
    private readonly tips: TipControl,
    private readonly element: HTMLElement,
    private readonly scroller: HTMLElement,
  ) {
    element.addEventListener("pointermove", this.move);
    element.addEventListener("pointerleave", this.leave);
    element.addEventListener("pointerdown", this.down);
    element.addEventListener("pointerup", this.up);
    element.addEventListener("pointercancel", this.cancel);
    element.addEventListener("dblclick", this.fit);
    element.addEventListener("wheel", this.onWheel, { passive: false });
  }

  dispose(): void {
    this.element.removeEventListener("wheel", this.onWheel);
  }

  /** What is at a point of the window. */
  find(clientX: number, clientY: number): Found | null {
    const scene = this.renderer.scene();
    const box = this.element.getBoundingClientRect();
    const x = clientX - box.left;
    const lanes = this.store.lanes.peek();
    if (this.store.state.mode.peek() === "packed") return lanes === null ? null : this.findPacked(lanes, x, clientX, clientY - box.top);
    const row = rowAt({ rowHeight: ROW_PX, scrollTop: scene.scrollTop, rowCount: scene.rows.count }, clientY - box.top);
    if (row < 0) return null;
    const item = scene.rows.item[row];
    const span = scene.rows.span[row];
    const { ticks, reasons } = this.renderer.ticksOf(row);
    const hit = hitRow(scene.bars.of(item), ticks, scene.scale, scene.now, x);
    const top = box.top + row * ROW_PX - scene.scrollTop;
    if (hit.what === "tick") {
      const subject: TipSubject = {
        what: "reasons",
        item,
        reasons: Array.from(reasons.reason.subarray(ticks.first[hit.tick], ticks.end[hit.tick])),
      };
      return { row, span, hit, tip: { subject, x: box.left + ticks.x[hit.tick], top, bottom: top + ROW_PX, byKeyboard: false } };
    }
    if (hit.what === "nothing") return { row, span, hit, tip: null };
    const segment = hit.what === "segment" ? hit.segment : -1;
    const subject: TipSubject = { what: "bar", item, segment, lead: hit.what === "lead" };
    return {
      row,
      span,
      hit,
      tip: { subject, x: clientX, top: top + BAR_TOP_PX - 4, bottom: top + BAR_TOP_PX + BAR_PX + 4, byKeyboard: false },
    };
  }

  private findPacked(lanes: Lanes, x: number, clientX: number, y: number): Found | null {
    const scrollTop = this.store.scrollTop.peek();
    const lane = rowAt({ rowHeight: ROW_PX, scrollTop, rowCount: lanes.count }, y);
    if (lane < 0) return null;
    const rects = rectsInView(this.store, lanes);
    const rect = rectAt(rects, lane, x);
    if (rect < 0) return { row: lane, span: -1, hit: { what: "nothing" }, tip: null };
    const span = rects.span[rect];
    const item = this.store.shown.peek().tree.itemOfSpan[span];
    const top = this.element.getBoundingClientRect().top + lane * ROW_PX - scrollTop;
    const subject: TipSubject = { what: "bar", item, segment: -1, lead: false };
    return { row: lane, span, hit: { what: "bar" }, tip: { subject, x: clientX, top, bottom: top + ROW_PX, byKeyboard: false } };
  }

  private readonly move = (event: PointerEvent): void => {
    if (this.fingers.has(event.pointerId) && this.fingers.size === 2) {
      this.pinch(event);
      return;
    }
    if (this.drag !== null && event.pointerId === this.drag.id) {
      this.moveDrag(event);
      return;
    }
    if (event.pointerType === "touch") return;
    this.hoverAt(event.clientX, event.clientY);
  };

  /** Two fingers zoom about the point between them. */
  private pinch(event: PointerEvent): void {
    const before = this.spread();
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const after = this.spread();
    const left = this.element.getBoundingClientRect().left;
    panBy(this.store, before.middle - after.middle);
    if (before.distance > 0 && after.distance > 0) zoom(this.store, before.distance / after.distance, after.middle - left);
  }

  private spread(): { middle: number; distance: number } {
    const [a, b] = [...this.fingers.values()];
    return { middle: (a.x + b.x) / 2, distance: Math.abs(a.x - b.x) };
  }

  private hoverAt(clientX: number, clientY: number): void {
    const found = this.find(clientX, clientY);
    const x = clientX - this.element.getBoundingClientRect().left;
    if (found === null) {
      this.renderer.hover.value = { ...NO_HOVER, x };
      this.tips.pointAway();
      return;
    }
    let tickTime = Number.NaN;
    if (found.hit.what === "tick") {
      const { ticks, reasons } = this.renderer.ticksOf(found.row);
      tickTime = reasons.at[ticks.first[found.hit.tick]];
    }
    this.renderer.hover.value = { ...NO_HOVER, row: found.row, x, tickTime };
    this.element.classList.toggle("is-pointing", found.tip !== null);
    if (found.tip === null) this.tips.pointAway();
    else this.tips.pointAt(found.tip);
  }

  private readonly leave = (): void => {
    this.renderer.hover.value = NO_HOVER;
    this.tips.pointAway();
  };

  private readonly down = (event: PointerEvent): void => {
    if (event.pointerType === "touch") {
      this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (this.fingers.size > 1) {
        this.drag = null;
        this.element.setPointerCapture(event.pointerId);
        return;
      }
    }
    if (event.button !== 0 || !event.isPrimary) return;
    // The keys are those of the tree: who clicks a bar can go on with them.
    this.element.closest(".tl")?.querySelector<HTMLElement>("[data-keys=tree]")?.focus({ preventScroll: true });
    event.preventDefault();
    this.drag = { id: event.pointerId, x: event.clientX, y: event.clientY, scrollTop: this.scroller.scrollTop, moved: false };
  };

  private moveDrag(event: PointerEvent): void {
    const drag = this.drag!;
    const dx = event.clientX - drag.x;
    if (!drag.moved) {
      if (Math.abs(dx) <= CLICK_PX && Math.abs(event.clientY - drag.y) <= CLICK_PX) return;
      drag.moved = true;
      this.element.setPointerCapture(drag.id);
      this.element.classList.add("is-dragging");
      this.tips.hide();
      this.renderer.hover.value = NO_HOVER;
    }
    panBy(this.store, -dx);
    drag.x = event.clientX;
    // A finger scrolls by itself (touch-action: pan-y).
    if (event.pointerType !== "touch") this.scroller.scrollTop = drag.scrollTop + drag.y - event.clientY;
  }

  private readonly up = (event: PointerEvent): void => {
    const drag = this.drag;
    this.cancel(event);
    if (drag === null || drag.moved) return;
    const found = this.find(event.clientX, event.clientY);
    if (found === null) return;
    if (found.span < 0) return;
    if (found.tip?.subject.what === "reasons" && found.hit.what === "tick") {
      bumpReason(this.store, found.span, found.tip.subject.reasons[0]);
      if (event.pointerType === "touch") this.tips.show(found.tip);
      return;
    }
    this.tips.dismiss();
    select(this.store, found.span, { quiet: true });
    if (event.pointerType === "touch" && found.tip !== null) this.tips.show(found.tip);
  };

  private readonly cancel = (event: PointerEvent): void => {
    this.fingers.delete(event.pointerId);
    this.drag = null;
    this.element.classList.remove("is-dragging");
  };

  private readonly fit = (event: MouseEvent): void => {
    const found = this.find(event.clientX, event.clientY);
    if (found !== null && found.hit.what !== "nothing") fitActive(this.store);
  };

  private readonly onWheel = (event: WheelEvent): void => {
    const x = event.clientX - this.element.getBoundingClientRect().left;
    if (!wheel(this.store, event, x, false)) {
      this.tips.hide();
      return;
    }
    event.preventDefault();
    this.tips.hide();
    this.hoverAt(event.clientX, event.clientY);
  };
}
