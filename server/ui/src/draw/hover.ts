// The upper layer: what the pointer or the keyboard is at. It alone is drawn when the pointer moves.

import { BAR_PX, BAR_TOP_PX, barBox, ROW_PX, rowTop, type Scene } from "./scene";

export interface Hover {
  /** Row under the pointer; -1 for none. */
  row: number;
  /** Pixel of the pointer; NaN when it is elsewhere. */
  x: number;
  /** Moment of the tick that is pointed at; NaN for none. */
  tickTime: number;
  /** Row and moment of the reason that the keyboard is at. */
  reasonRow: number;
  reasonTime: number;
  /** Row of the selected span. */
  selectedRow: number;
  /** Part of the view that is being picked, in pixels. */
  range: [number, number] | null;
}

export const NO_HOVER: Hover = {
  row: -1,
  x: Number.NaN,
  tickTime: Number.NaN,
  reasonRow: -1,
  reasonTime: Number.NaN,
  selectedRow: -1,
  range: null,
};

export function drawHover(context: CanvasRenderingContext2D, scene: Scene, hover: Hover): void {
  const { theme, width, height, scale } = scene;
  context.clearRect(0, 0, width, height);
  if (hover.row >= 0 && hover.row !== scene.activeRow) {
    context.strokeStyle = theme.grid;
    context.lineWidth = 1;
    context.strokeRect(-1, rowTop(scene, hover.row) - 0.5, width + 2, ROW_PX);
  }
  drawPointerLine(context, scene, hover.x);
  if (hover.selectedRow >= 0) {
    const box = barBox(scene, scene.rows.span[hover.selectedRow]);
    const x0 = Math.max(-8, box.x0 - 3);
    const x1 = Math.min(width + 8, box.x1 + 3);
    if (x1 > x0) {
      context.strokeStyle = theme.accent;
      context.lineWidth = 1.5;
      context.strokeRect(x0, rowTop(scene, hover.selectedRow) + BAR_TOP_PX - 3, x1 - x0, BAR_PX + 6);
    }
  }
  if (hover.row >= 0) drawTickMark(context, scene, hover.row, scale.x(hover.tickTime));
  if (hover.reasonRow >= 0) drawTickMark(context, scene, hover.reasonRow, scale.x(hover.reasonTime));
  drawRange(context, scene, hover.range);
}

export function drawPointerLine(context: CanvasRenderingContext2D, scene: Scene, x: number): void {
  if (Number.isNaN(x)) return;
  context.fillStyle = scene.theme.lineStrong;
  context.globalAlpha = 0.5;
  context.fillRect(Math.round(x), 0, 1, scene.height);
  context.globalAlpha = 1;
}

export function drawRange(context: CanvasRenderingContext2D, { theme, height }: Scene, range: [number, number] | null): void {
  if (range === null) return;
  const [from, to] = range;
  context.fillStyle = theme.accent;
  context.globalAlpha = 0.15;
  context.fillRect(from, 0, to - from, height);
  context.globalAlpha = 1;
  context.fillRect(from, 0, 1, height);
  context.fillRect(to - 1, 0, 1, height);
}

/** The tick that is meant stands out, also from its neighbours. */
function drawTickMark(context: CanvasRenderingContext2D, scene: Scene, row: number, x: number): void {
  if (Number.isNaN(x)) return;
  const top = rowTop(scene, row);
  context.fillStyle = scene.theme.ground;
  context.fillRect(x - 3, top, 6, ROW_PX - 1);
  context.fillStyle = scene.theme.accent;
  context.fillRect(x - 1.5, top, 3, ROW_PX - 1);
  context.beginPath();
  context.arc(x, top + 4, 4, 0, 2 * Math.PI);
  context.fill();
}
