// When a tooltip comes and goes. It can be entered with the pointer, stays as long as the pointer is on it or on what it
// belongs to, and Esc takes it away (WCAG 2.2, 1.4.13).

import { signal } from "@preact/signals";
import { sameSubject, type Tip, type TipSubject } from "./tip";

/** Rest of the pointer on a bar before its tooltip comes: who crosses bars does not want them. */
const BAR_REST_MS = 300;
/** Time to get from what a tooltip belongs to into the tooltip. */
const LEAVE_MS = 220;

export class TipControl {
  readonly shown = signal<Tip | null>(null);
  private timer = 0;
  private waiting: TipSubject | undefined;
  private dismissed: TipSubject | undefined;
  private inside = false;

  /** The pointer is at something that has a tooltip. */
  pointAt(tip: Tip): void {
    if (this.inside) return;
    const shown = this.shown.peek();
    if (shown !== null && sameSubject(shown.subject, tip.subject)) {
      this.cancel();
      return;
    }
    if (sameSubject(this.dismissed, tip.subject)) return;
    this.dismissed = undefined;
    if (tip.subject.what === "reasons") this.show(tip);
    else if (!sameSubject(this.waiting, tip.subject)) {
      if (shown !== null && !shown.byKeyboard) this.leaveSoon();
      this.cancelRest();
      this.waiting = tip.subject;
      this.rest = window.setTimeout(() => this.show(tip), BAR_REST_MS);
    } else if (shown !== null) this.leaveSoon();
  }

  /** The pointer is at nothing. */
  pointAway(): void {
    this.cancelRest();
    this.dismissed = undefined;
    const shown = this.shown.peek();
    if (shown !== null && !shown.byKeyboard && !this.inside) this.leaveSoon();
  }

  enter(): void {
    this.inside = true;
    this.cancel();
  }

  leave(): void {
    this.inside = false;
    if (this.shown.peek()?.byKeyboard === false) this.leaveSoon();
  }

  show(tip: Tip): void {
    this.cancel();
    this.cancelRest();
    this.shown.value = tip;
  }

  hide(): void {
    this.cancel();
    this.cancelRest();
    this.inside = false;
    if (this.shown.peek() !== null) this.shown.value = null;
  }

  /** Takes the tooltip away until the pointer goes to something else. Gives whether there was one. */
  dismiss(): boolean {
    const shown = this.shown.peek();
    this.cancelRest();
    if (shown === null) return false;
    this.dismissed = shown.subject;
    this.hide();
    return true;
  }

  private rest = 0;

  private leaveSoon(): void {
    if (this.timer !== 0) return;
    this.timer = window.setTimeout(() => this.hide(), LEAVE_MS);
  }

  private cancel(): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
  }

  private cancelRest(): void {
    window.clearTimeout(this.rest);
    this.rest = 0;
    this.waiting = undefined;
  }
}
