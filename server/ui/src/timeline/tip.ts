// What a tooltip is about, and where it stands.

export type TipSubject =
  | { what: "reasons"; item: number; reasons: number[] }
  | { what: "bar"; item: number; segment: number; lead: boolean };

export interface Tip {
  subject: TipSubject;
  /** Point of the page, in CSS pixels of the window, that it belongs to. */
  x: number;
  /** Upper and lower edge of what it belongs to: it stands below, or else above. */
  top: number;
  bottom: number;
  /** Whether the keyboard asked for it: then it stays until Esc or until the keyboard goes on. */
  byKeyboard: boolean;
}

export function sameSubject(a: TipSubject | undefined, b: TipSubject | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export interface Place {
  left: number;
  top: number;
}

const EDGE_PX = 8;
const GAP_PX = 1;

/** Upper left corner of a box of a size so that it is whole in the window and hides nothing that it is about. */
export function placeTip(tip: Tip, width: number, height: number, windowWidth: number, windowHeight: number): Place {
  const left = Math.max(EDGE_PX, Math.min(tip.x - Math.min(width / 2, 80), windowWidth - width - EDGE_PX));
  const below = tip.bottom + GAP_PX;
  if (below + height <= windowHeight - EDGE_PX) return { left, top: below };
  const above = tip.top - GAP_PX - height;
  if (above >= EDGE_PX) return { left, top: above };
  // There is no room above or below: the larger side, cut off by its own scroll bar.
  return { left, top: tip.top > windowHeight - tip.bottom ? EDGE_PX : Math.min(below, windowHeight - height - EDGE_PX) };
}
