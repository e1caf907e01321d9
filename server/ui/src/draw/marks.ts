// The middle layer: critical path, search hits and ticks.

import { criticalInView, type CriticalRows } from "../model/critical";
import type { RowReasons, Ticks } from "../model/ticks";
import { groupDigits } from "../model/words";
import { drawFoldEdges } from "./bars";
import { BAR_PX, BAR_TOP_PX, barBox, ROW_PX, rowTop, type Scene } from "./scene";
import type { Theme } from "./theme";

const CRITICAL_PX = 3;
const HEAD_PX = 5;
const TICK_PX = 1.5;
const PILL_PX = 11;
/** Ticks closer than this have no halo: there would be nothing left of the bar between them. */
const HALO_FROM_PX = 9;

/** A tick or cluster as it is drawn. */
export interface TickBox {
  /** Pixel of the line. */
  x: number;
  /** Bounds of the head. */
  x0: number;
  x1: number;
  count: number;
}

export interface RowTicks {
  reasons: RowReasons;
  ticks: Ticks;
}

export interface Marks {
  critical: CriticalRows | null;
  /** 1 for rows that the search found, 2 for those that hide what it found, by row. */
  hits: Uint8Array | null;
  ticksOf: (row: number) => RowTicks;
}

export function drawMarks(context: CanvasRenderingContext2D, scene: Scene, marks: Marks): void {
  context.clearRect(0, 0, scene.width, scene.height);
  for (let row = scene.first; row < scene.last; row++) {
    if (marks.hits !== null && marks.hits[row] !== 0) drawHit(context, scene, row, marks.hits[row] === 2);
    if (marks.critical !== null) drawCritical(context, scene, row, marks.critical);
  }
  drawFoldEdges(context, scene);
  for (let row = scene.first; row < scene.last; row++) drawTicks(context, scene, row, marks.ticksOf(row));
}

function drawHit(context: CanvasRenderingContext2D, scene: Scene, row: number, isHidden: boolean): void {
  const box = barBox(scene, scene.rows.span[row]);
  const x0 = Math.max(-6, box.x0 - 3);
  const x1 = Math.min(scene.width + 6, box.x1 + 3);
  if (x1 < x0) return;
  const y = rowTop(scene, row) + BAR_TOP_PX;
  context.lineWidth = 2;
  context.strokeStyle = scene.theme.hit;
  context.setLineDash(isHidden ? [4, 3] : []);
  context.strokeRect(x0, y - 3, x1 - x0, BAR_PX + 6);
  context.setLineDash([]);
}

/** A line under the bar with a halo of the ground, so that it stands out from whatever is above it. */
function drawCritical(context: CanvasRenderingContext2D, scene: Scene, row: number, critical: CriticalRows): void {
  const { scale, width, theme } = scene;
  const [from, to] = criticalInView(critical, row, scale.time(0), scale.time(width));
  if (from >= to) return;
  const y = rowTop(scene, row) + BAR_TOP_PX + BAR_PX;
  context.fillStyle = theme.ground;
  let drawnTo = -Infinity;
  for (const isHalo of [true, false]) {
    context.fillStyle = isHalo ? theme.ground : theme.ink;
    const grow = isHalo ? 1 : 0;
    drawnTo = -Infinity;
    for (let i = from; i < to; i++) {
      const x0 = Math.max(scale.x(critical.start[i]), drawnTo, -2);
      const x1 = Math.min(Math.max(scale.x(critical.end[i]), x0 + 1), width + 2);
      if (x1 <= drawnTo) continue;
      if (critical.approximate[i] === 1 && !isHalo) {
        for (let x = x0; x < x1; x += 6) context.fillRect(x, y, Math.min(4, x1 - x), CRITICAL_PX);
      } else context.fillRect(x0 - grow, y - grow, x1 - x0 + 2 * grow, CRITICAL_PX + 2 * grow);
      drawnTo = x1;
    }
  }
}

/** Where the ticks of a row are drawn: heads of clusters tell their number where there is room for it. */
export function tickBoxes(context: CanvasRenderingContext2D, scene: Scene, { ticks }: RowTicks): TickBox[] {
  const boxes: TickBox[] = [];
  for (let i = 0; i < ticks.count; i++) {
    const x = ticks.x[i];
    const count = ticks.end[i] - ticks.first[i];
    let half = HEAD_PX / 2;
    if (count > 1) {
      const pill = Math.max(PILL_PX, context.measureText(groupDigits(count)).width + 6) / 2;
      const left = i > 0 ? ticks.x[i - 1] + HEAD_PX : -Infinity;
      const right = i + 1 < ticks.count ? ticks.x[i + 1] - HEAD_PX : Infinity;
      half = x - pill > left && x + pill < right ? pill : HEAD_PX / 2 + 1;
    }
    const shift = half > HEAD_PX ? Math.max(0, half - x) - Math.max(0, x + half - scene.width) : 0;
    boxes.push({ x, x0: x - half + shift, x1: x + half + shift, count });
  }
  return boxes;
}

function drawTicks(context: CanvasRenderingContext2D, scene: Scene, row: number, rowTicks: RowTicks): void {
  const { theme } = scene;
  const { ticks, reasons } = rowTicks;
  if (ticks.count === 0) return;
  const top = rowTop(scene, row);
  const boxes = tickBoxes(context, scene, rowTicks);
  const { error, warning } = scene.codes.severities;
  const looks = boxes.map((box, i): TickLook => {
    const severity = scene.execution.reasons.severity[reasons.reason[ticks.worst[i]]];
    const left = i > 0 ? box.x - boxes[i - 1].x : Infinity;
    const right = i + 1 < boxes.length ? boxes[i + 1].x - box.x : Infinity;
    return {
      isError: severity === error,
      isWarning: severity === warning,
      isCrowded: Math.min(left, right) < HALO_FROM_PX,
    };
  });
  // All halos before all lines: a halo must not wipe out the line beside it.
  context.fillStyle = theme.ground;
  for (let i = 0; i < boxes.length; i++) {
    if (looks[i].isCrowded && !looks[i].isError) continue;
    context.fillRect(boxes[i].x - TICK_PX / 2 - 1, top, TICK_PX + 2, ROW_PX - 1);
  }
  for (let i = 0; i < boxes.length; i++) drawTick(context, theme, top, boxes[i], looks[i]);
}

interface TickLook {
  isError: boolean;
  isWarning: boolean;
  /** Whether another is so close that there is no room for a halo. Errors have one all the same: orange needs it. */
  isCrowded: boolean;
}

function drawTick(context: CanvasRenderingContext2D, theme: Theme, top: number, box: TickBox, look: TickLook): void {
  const { isError, isWarning, isCrowded } = look;
  const color = isError ? theme.failure : theme.ink;
  context.fillStyle = color;
  if (isCrowded && !isError) {
    // Thin and pale, so that the bar behind is still seen.
    context.globalAlpha = 0.45;
    context.fillRect(box.x - 0.5, top, 1, ROW_PX - 1);
    context.globalAlpha = 1;
  } else context.fillRect(box.x - TICK_PX / 2, top, TICK_PX, ROW_PX - 1);
  const wide = box.x1 - box.x0;
  if (wide > 2 * HEAD_PX) {
    context.fillStyle = theme.ground;
    roundRect(context, box.x0 - 1, top - 1, wide + 2, PILL_PX + 2, 6);
    context.fillStyle = color;
    roundRect(context, box.x0, top, wide, PILL_PX, 5);
    context.fillStyle = theme.ground;
    context.textAlign = "center";
    context.fillText(groupDigits(box.count), (box.x0 + box.x1) / 2, top + PILL_PX / 2 + 0.5);
    context.textAlign = "start";
  } else if ((isError || isWarning) && !isCrowded) {
    // A point that looks up: something is not right.
    context.beginPath();
    context.moveTo(box.x - 4, top + 6.5);
    context.lineTo(box.x, top - 0.5);
    context.lineTo(box.x + 4, top + 6.5);
    context.fill();
  } else context.fillRect(box.x0, top, wide, HEAD_PX);
}

function roundRect(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, radius: number): void {
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
  context.fill();
}
