// What the groups of time are painted with. What waits and what goes on are told by pattern as well as by colour; all groups
// are where the system gives the colours, for it has no four that can be told apart (forced-colors).

import type { Theme } from "./theme";

const TILE = 6;
type Line = readonly [x0: number, y0: number, x1: number, y1: number];

// Three slanting lines, so that the corners of neighbouring tiles join.
const FALLING: readonly Line[] = [-TILE, 0, TILE].map((x) => [x - 1, -1, x + TILE + 1, TILE + 1]);
const RISING: readonly Line[] = [-TILE, 0, TILE].map((x) => [x + TILE + 1, -1, x - 1, TILE + 1]);
const UPRIGHT: readonly Line[] = [1.5, 4.5].map((x) => [x, -1, x, TILE + 1]);
const LEVEL: readonly Line[] = [1.5, 4.5].map((y) => [-1, y, TILE + 1, y]);

export type Fill = CanvasPattern | string;

export interface Patterns {
  /** By GROUP. */
  fills: readonly Fill[];
  /** The same without a pattern, for what is too narrow to show one. */
  plain: readonly string[];
  /** Rising lines, wide apart, over the fill of each group: it goes on. */
  going: Fill;
}

/** Makes the patterns of a theme for the present resolution of the screen. */
export function makePatterns(context: CanvasRenderingContext2D, theme: Theme): Patterns {
  const striped = (fill: string, lineWidth: number, lines: readonly Line[]): Fill =>
    stripe(context, fill, theme.ground, lineWidth, lines);
  const { setup, runtime, teardown, waiting, frame, frameLine } = theme;
  return {
    fills: [
      theme.isForced ? striped(setup, 1.5, UPRIGHT) : setup,
      runtime,
      theme.isForced ? striped(teardown, 1.5, LEVEL) : teardown,
      striped(waiting, 2.2, FALLING),
      frame,
    ],
    plain: [setup, runtime, teardown, waiting, frameLine],
    going: striped("transparent", 1.6, RISING),
  };
}

function stripe(context: CanvasRenderingContext2D, fill: string, stroke: string, lineWidth: number, lines: readonly Line[]): Fill {
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
  for (const [x0, y0, x1, y1] of lines) {
    drawing.moveTo(x0, y0);
    drawing.lineTo(x1, y1);
  }
  drawing.stroke();
  const pattern = context.createPattern(tile, "repeat");
  pattern?.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern ?? fill;
}
