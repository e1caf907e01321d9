// The lowest layer: rows, grid and bars.

import { layRuns, reachOf, type Bar } from "../model/bars";
import { GROUP } from "../model/codes";
import { formatDuration } from "../model/format";
import { drawGlyph } from "./glyphs";
import { BAR_PX, BAR_TOP_PX, barBox, ROW_PX, rowTop, type BarBox, type Scene } from "./scene";

const GLYPH_PX = 12;
/** Leaves room for the head of a tick at the end of the bar. */
const LABEL_GAP_PX = 10;
/** A cap is drawn on bars that leave room for what is behind it. */
const CAP_PX = 3;
const LEAST_WITH_CAP_PX = 10;
/** What lies outside of its bar is drawn at least that wide. */
const LEAST_OUTSIDE_PX = 2;

export function drawBars(context: CanvasRenderingContext2D, scene: Scene, gridX: readonly number[]): void {
  const { theme, width, height } = scene;
  context.fillStyle = theme.ground;
  context.fillRect(0, 0, width, height);
  drawRowGrounds(context, scene);
  context.fillStyle = theme.grid;
  for (const x of gridX) context.fillRect(Math.round(x), 0, 1, Math.min(height, rowTop(scene, scene.rows.count)));
  drawFolds(context, scene);
  for (let row = scene.first; row < scene.last; row++) drawBar(context, scene, row);
}

function drawRowGrounds(context: CanvasRenderingContext2D, scene: Scene): void {
  const { theme, width } = scene;
  for (let row = scene.first; row < scene.last; row++) {
    const top = rowTop(scene, row);
    if (row === scene.activeRow) {
      context.fillStyle = theme.groundSelected;
      context.fillRect(0, top, width, ROW_PX);
    }
    context.fillStyle = theme.grid;
    context.fillRect(0, top + ROW_PX - 1, width, 1);
  }
}

/** A fold is a strip with torn edges; how much time it stands for is told at the axis. */
function drawFolds(context: CanvasRenderingContext2D, scene: Scene): void {
  context.fillStyle = scene.theme.gap;
  for (const [x0, x1] of foldsInView(scene)) context.fillRect(x0, 0, x1 - x0, scene.height);
}

function foldsInView({ scale, width }: Scene): [x0: number, x1: number][] {
  const places: [number, number][] = [];
  for (let i = 0; i < scale.folds.count; i++) {
    const x0 = scale.x(scale.folds.start[i]);
    const x1 = scale.x(scale.folds.end[i]);
    if (x1 >= 0 && x0 <= width) places.push([x0, x1]);
  }
  return places;
}

/** Torn edges of the folds, over the bars that go on behind them. */
export function drawFoldEdges(context: CanvasRenderingContext2D, scene: Scene): void {
  for (const [x0, x1] of foldsInView(scene)) {
    const middle = (x0 + x1) / 2;
    for (const x of [middle - 3, middle + 3]) {
      context.beginPath();
      for (let y = -6, left = true; y <= scene.height + 6; y += 6, left = !left) context.lineTo(x + (left ? -2 : 2), y);
      context.strokeStyle = scene.theme.ground;
      context.lineWidth = 4;
      context.stroke();
      context.strokeStyle = scene.theme.lineStrong;
      context.lineWidth = 1;
      context.stroke();
    }
  }
}

function drawBar(context: CanvasRenderingContext2D, scene: Scene, row: number): void {
  const bar = scene.bars.of(scene.rows.item[row]);
  const box = barBox(scene, bar.span);
  const y = Math.round(rowTop(scene, row)) + BAR_TOP_PX;
  const reach = reachBox(scene, bar, box);
  drawLead(context, scene, bar, box, y);
  if (reach.x1 >= 0 && reach.x0 <= scene.width) {
    drawFrame(context, scene, bar, box, y);
    drawRuns(context, scene, bar, box, y);
    drawEdges(context, scene, bar, box, y);
  }
  drawLabel(context, scene, bar, reach, y);
}

/** The box of a bar with what of its span lies before or behind it. */
function reachBox(scene: Scene, bar: Bar, box: BarBox): BarBox {
  const [start, end] = reachOf(bar, scene.now);
  const isBefore = start < bar.start;
  const isBehind = end > bar.end;
  return {
    x0: isBefore ? Math.min(scene.scale.x(start), box.x0 - LEAST_OUTSIDE_PX) : box.x0,
    x1: isBehind ? Math.max(scene.scale.x(end), box.x1) + LEAST_OUTSIDE_PX : box.x1,
  };
}

/** The way from the node before: a thin dotted line that leads to the bar. */
function drawLead(context: CanvasRenderingContext2D, scene: Scene, bar: Bar, box: BarBox, y: number): void {
  if (Number.isNaN(bar.leadStart)) return;
  const from = Math.max(0, scene.scale.x(bar.leadStart));
  const to = Math.min(scene.width, box.x0);
  if (to - from < 3) return;
  context.fillStyle = scene.theme.waiting;
  const middle = y + BAR_PX / 2;
  context.fillRect(from, middle - 3, 1, 7);
  for (let x = from; x < to; x += 4) context.fillRect(x, middle, Math.min(2, to - x), 1);
}

function drawFrame(context: CanvasRenderingContext2D, scene: Scene, bar: Bar, box: BarBox, y: number): void {
  const x0 = Math.max(-4, box.x0);
  const x1 = Math.min(scene.width + 4, box.x1);
  context.fillStyle = scene.theme.frame;
  for (const piece of bar.pieces) {
    const from = Math.max(x0, scene.scale.x(piece.start));
    const to = Math.min(x1, Math.max(scene.scale.x(Math.min(piece.end, Math.max(scene.now, piece.start))), from + 1));
    if (to > from) context.fillRect(from, y, to - from, BAR_PX);
  }
  // What is between attempts is only a line, so that each attempt is seen as one.
  if (bar.pieces.length > 1 && x1 > x0) context.fillRect(x0, y + BAR_PX / 2 - 1, x1 - x0, 2);
}

function drawRuns(context: CanvasRenderingContext2D, scene: Scene, bar: Bar, box: BarBox, y: number): void {
  const { theme, runs, now } = scene;
  const { fills, plain } = scene.patterns;
  if (bar.isCached) {
    // Nothing ran: the bar is hollow.
    context.strokeStyle = theme.frameLine;
    context.lineWidth = 1;
    context.strokeRect(box.x0 + 0.5, y + 0.5, Math.max(1, box.x1 - box.x0 - 1), BAR_PX - 1);
    return;
  }
  layRuns(bar, scene.scale, now, runs);
  for (let i = 0; i < runs.count; i++) {
    if (runs.group[i] === GROUP.none) continue;
    context.fillStyle = fills[runs.group[i]];
    let x0 = runs.x0[i];
    let x1 = runs.x1[i];
    if (x0 < box.x0) x0 = Math.min(x0, Math.min(x1, box.x0) - LEAST_OUTSIDE_PX);
    if (x1 > box.x1) x1 = Math.max(x1, Math.max(x0, box.x1) + LEAST_OUTSIDE_PX);
    context.fillRect(x0, y, x1 - x0, BAR_PX);
  }
  // A bar that is shorter than two pixels still shows what it is made of.
  const drawn = scene.scale.x(Math.min(bar.end, now)) - box.x0;
  if (drawn < box.x1 - box.x0) {
    const group = runs.count > 0 ? runs.group[runs.count - 1] : bar.count > 0 ? bar.group[0] : GROUP.none;
    context.fillStyle = plain[group];
    context.fillRect(box.x0, y, box.x1 - box.x0, BAR_PX);
  }
  if (bar.end === Infinity) hatchOpen(context, scene, bar, box, y);
}

/** What still goes on is hatched: of a bar that knows its parts the last one. */
function hatchOpen(context: CanvasRenderingContext2D, scene: Scene, bar: Bar, box: BarBox, y: number): void {
  const last = bar.count - 1;
  const since = last >= 0 && bar.segmentEnd[last] === Infinity ? bar.segmentStart[last] : bar.start;
  const from = Math.max(0, scene.scale.x(since), box.x0);
  const to = Math.min(scene.width, box.x1);
  if (to <= from) return;
  context.fillStyle = scene.patterns.going;
  context.fillRect(from, y, to - from, BAR_PX);
}

/** Outlines, the cap that tells of the phase, borders between attempts, and the open edge of what goes on. */
function drawEdges(context: CanvasRenderingContext2D, scene: Scene, bar: Bar, box: BarBox, y: number): void {
  const { theme } = scene;
  const failed = scene.codes.failed[bar.phase] === 1;
  const isOpen = bar.end === Infinity;
  const wide = box.x1 - box.x0;
  context.lineWidth = 1;
  if (!failed && wide >= 3) {
    context.fillStyle = theme.frameLine;
    context.fillRect(box.x0, y, wide, 1);
    context.fillRect(box.x0, y + BAR_PX - 1, wide, 1);
    if (!isOpen) context.fillRect(box.x1 - 1, y, 1, BAR_PX);
  }
  if (wide >= LEAST_WITH_CAP_PX) {
    context.fillStyle = failed ? theme.failure : theme.ink;
    context.fillRect(box.x0, y, CAP_PX, BAR_PX);
  }
  if (failed) {
    context.strokeStyle = theme.failure;
    context.lineWidth = 2;
    context.strokeRect(box.x0 - 1, y - 1, wide + 2, BAR_PX + 2);
  }
  if (isOpen && wide >= 4) {
    // Teeth: the end is not known yet.
    context.fillStyle = theme.ground;
    for (let tooth = 0; tooth < 3; tooth++) {
      context.beginPath();
      context.moveTo(box.x1 + 0.5, y + tooth * 4);
      context.lineTo(box.x1 - 3, y + tooth * 4 + 2);
      context.lineTo(box.x1 + 0.5, y + tooth * 4 + 4);
      context.fill();
    }
  }
  drawPieces(context, scene, bar, y);
}

/** Attempts that failed are crossed out at their end; the others end in a line. */
function drawPieces(context: CanvasRenderingContext2D, scene: Scene, bar: Bar, y: number): void {
  if (bar.pieces.length < 2) return;
  for (const piece of bar.pieces) {
    if (piece.end === Infinity) continue;
    const x0 = scene.scale.x(piece.start);
    const x1 = scene.scale.x(piece.end);
    if (x1 < -GLYPH_PX || x0 > scene.width + GLYPH_PX) continue;
    const failed = scene.codes.failed[piece.phase] === 1;
    context.fillStyle = failed ? scene.theme.failure : scene.theme.frameLine;
    context.fillRect(x1 - (failed ? 2 : 1), y - (failed ? 2 : 0), failed ? 2 : 1, BAR_PX + (failed ? 4 : 0));
    if (failed && x1 - x0 >= GLYPH_PX + 8) {
      context.fillStyle = scene.theme.ground;
      context.fillRect(x1 - GLYPH_PX - 3, y, GLYPH_PX + 1, BAR_PX);
      drawGlyph(context, scene.execution.header.phases[piece.phase], x1 - GLYPH_PX - 2.5, y, scene.theme.failure);
    }
  }
}

/** Sign of the phase and length, where there is room: behind the bar, else before it. The row tells them too. */
function drawLabel(context: CanvasRenderingContext2D, scene: Scene, bar: Bar, box: BarBox, y: number): void {
  const { theme, width } = scene;
  if (box.x1 < 0 || box.x0 > width) {
    drawPointer(context, scene, box, y);
    return;
  }
  const phase = scene.execution.header.phases[bar.phase];
  const failed = scene.codes.failed[bar.phase] === 1;
  const end = bar.end === Infinity ? Math.max(scene.now, bar.start) : bar.end;
  const text = formatDuration(end - bar.start) + (bar.isCached ? ", cached" : "");
  const textWidth = context.measureText(text).width;
  const needed = GLYPH_PX + 4 + textWidth;
  let x = box.x1 + LABEL_GAP_PX;
  if (x + needed > width - 2) {
    const leadX = Number.isNaN(bar.leadStart) ? box.x0 : Math.min(box.x0, scene.scale.x(bar.leadStart));
    x = leadX - LABEL_GAP_PX - needed;
    if (x < 2) return;
  }
  drawGlyph(context, phase, x, y, failed ? theme.failure : theme.inkMuted);
  context.fillStyle = theme.inkMuted;
  context.fillText(text, x + GLYPH_PX + 4, y + BAR_PX / 2 + 0.5);
}

/** A bar that is out of view is pointed at from the edge that it lies behind. */
function drawPointer(context: CanvasRenderingContext2D, scene: Scene, box: BarBox, y: number): void {
  const isLeft = box.x1 < 0;
  const x = isLeft ? 3 : scene.width - 3;
  const turn = isLeft ? 4 : -4;
  context.strokeStyle = scene.theme.lineStrong;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x + turn, y + 2);
  context.lineTo(x, y + BAR_PX / 2);
  context.lineTo(x + turn, y + BAR_PX - 2);
  context.stroke();
}
