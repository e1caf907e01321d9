// Packed mode: spans side by side in lanes. What falls on one pixel column is one rectangle.

import type { Lanes, Rects } from "../model/lanes";
import { drawGlyph } from "./glyphs";
import { drawPointerLine, drawRange, type Hover } from "./hover";
import { ROW_PX, type Scene } from "./scene";

const TOP_PX = 3;
const HIGH_PX = 16;
const LEAST_NAME_PX = 34;
const GLYPH_PX = 12;

export function drawPacked(
  context: CanvasRenderingContext2D,
  scene: Scene,
  lanes: Lanes,
  rects: Rects,
  nameOf: (span: number) => string,
  gridX: readonly number[],
): void {
  const { theme, width, height, scrollTop, codes } = scene;
  context.fillStyle = theme.ground;
  context.fillRect(0, 0, width, height);
  context.fillStyle = theme.grid;
  const bottom = lanes.count * ROW_PX - scrollTop;
  for (const x of gridX) context.fillRect(Math.round(x), 0, 1, Math.min(height, bottom));
  for (let lane = 1; lane <= lanes.count; lane++) {
    // A line where another task begins.
    if (lane === lanes.count || lanes.key[lane] !== lanes.key[lane - 1]) {
      context.fillRect(0, lane * ROW_PX - scrollTop - 1, width, 1);
    }
  }
  const { spans, header } = scene.execution;
  for (let i = 0; i < rects.count; i++) {
    const span = rects.span[i];
    const y = rects.lane[i] * ROW_PX - scrollTop + TOP_PX;
    const x0 = rects.x0[i];
    const wide = Math.max(2, rects.x1[i] - x0 - (rects.x1[i] - x0 > 4 ? 1 : 0));
    const failed = codes.failed[spans.phase[span]] === 1;
    const isOpen = Number.isNaN(spans.end[span]);
    context.fillStyle = theme.frame;
    context.fillRect(x0, y, wide, HIGH_PX);
    context.fillStyle = failed ? theme.failure : codes.cacheHit === spans.cache[span] ? theme.frameLine : theme.runtime;
    context.fillRect(x0, y + HIGH_PX - 3, wide, 3);
    if (isOpen) {
      context.fillStyle = scene.patterns.going;
      context.fillRect(x0, y + HIGH_PX - 3, wide, 3);
    }
    context.strokeStyle = failed ? theme.failure : theme.frameLine;
    context.lineWidth = failed ? 2 : 1;
    const inset = failed ? 1 : 0.5;
    if (wide > 3) context.strokeRect(x0 + inset, y + inset, wide - 2 * inset, HIGH_PX - 2 * inset);
    else if (!failed) {
      context.fillStyle = theme.frameLine;
      context.fillRect(x0, y, wide, HIGH_PX);
    } else {
      context.fillStyle = theme.failure;
      context.fillRect(x0, y, Math.max(3, wide), HIGH_PX);
    }
    if (wide < LEAST_NAME_PX) continue;
    drawGlyph(context, header.phases[spans.phase[span]], x0 + 4, y + 1, failed ? theme.failure : theme.inkMuted);
    context.save();
    context.beginPath();
    context.rect(x0, y, wide - 3, HIGH_PX);
    context.clip();
    context.fillStyle = theme.ink;
    const merged = rects.merged[i] > 1 ? ` +${rects.merged[i] - 1}` : "";
    context.fillText(nameOf(span) + merged, x0 + 4 + GLYPH_PX + 4, y + (HIGH_PX - 3) / 2 + 0.5);
    context.restore();
  }
}

/** The upper layer: the pointer, and the selected span. */
export function drawPackedHover(
  context: CanvasRenderingContext2D,
  scene: Scene,
  hover: Hover,
  chosen: { x0: number; x1: number; top: number } | null,
): void {
  context.clearRect(0, 0, scene.width, scene.height);
  drawPointerLine(context, scene, hover.x);
  if (chosen !== null) {
    const x0 = Math.max(-4, chosen.x0 - 1);
    const x1 = Math.min(scene.width + 4, chosen.x1 + 1);
    context.strokeStyle = scene.theme.accent;
    context.lineWidth = 2.5;
    if (x1 > x0) context.strokeRect(x0, chosen.top + TOP_PX - 1, x1 - x0, HIGH_PX + 2);
  }
  drawRange(context, scene, hover.range);
}
