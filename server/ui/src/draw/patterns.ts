// Hatches: what waits and what goes on are told by pattern as well as by colour.

import type { Theme } from "./theme";

const TILE = 6;

export interface Patterns {
  /** Falling lines, close together: somebody waits. */
  waiting: CanvasPattern | string;
  /** Rising lines, wide apart, over the colour of each group: it goes on. */
  going: CanvasPattern | string;
}

/** Makes the patterns of a theme for the present resolution of the screen. */
export function makePatterns(context: CanvasRenderingContext2D, theme: Theme): Patterns {
  return {
    waiting: hatch(context, theme.waiting, theme.ground, 1, 2.2),
    going: hatch(context, "transparent", theme.ground, -1, 1.6),
  };
}

function hatch(
  context: CanvasRenderingContext2D,
  fill: string,
  stroke: string,
  slope: 1 | -1,
  lineWidth: number,
): CanvasPattern | string {
  const ratio = Math.max(1, Math.round(window.devicePixelRatio || 1));
  const tile = document.createElement("canvas");
  tile.width = TILE * ratio;
  tile.height = TILE * ratio;
  const drawing = tile.getContext("2d")!;
  drawing.scale(ratio, ratio);
  drawing.fillStyle = fill;
  drawing.fillRect(0, 0, TILE, TILE);
  drawing.strokeStyle = stroke;
  drawing.lineWidth = lineWidth;
  drawing.beginPath();
  // Three lines, so that the corners of neighbouring tiles join.
  for (const shift of [-TILE, 0, TILE]) {
    const from = slope > 0 ? -1 : TILE + 1;
    const to = slope > 0 ? TILE + 1 : -1;
    drawing.moveTo(shift + from, -1);
    drawing.lineTo(shift + to, TILE + 1);
  }
  drawing.stroke();
  const pattern = context.createPattern(tile, "repeat");
  pattern?.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern ?? fill;
}
