// The overview strip: how much of each group went on, what failed, and where reasons are.

import { GROUP } from "../model/codes";
import type { Minimap } from "../model/minimap";
import type { Patterns } from "./patterns";
import type { Theme } from "./theme";

export const OVERVIEW_PX = 48;
const FAILURE_PX = 5;
const REASON_PX = 4;
const LEAST_PX = 1;

/** Draws the strip; its columns are stretched to the width. */
export function drawOverview(context: CanvasRenderingContext2D, minimap: Minimap, theme: Theme, patterns: Patterns, width: number): void {
  context.clearRect(0, 0, width, OVERVIEW_PX);
  const perColumn = width / minimap.width;
  const floor = OVERVIEW_PX - REASON_PX - 2;
  const high = floor - FAILURE_PX - 1;
  // A hatch would be lost in a column as wide as a pixel.
  const fills = theme.isForced ? patterns.fills : patterns.plain;
  for (let column = 0; column < minimap.width; column++) {
    const x = column * perColumn;
    const wide = Math.max(perColumn, 1);
    let y = floor;
    if (minimap.most > 0) {
      for (const group of [GROUP.runtime, GROUP.setup, GROUP.teardown, GROUP.waiting]) {
        const share = minimap.groups[group][column] / minimap.most;
        if (share <= 0) continue;
        const part = Math.max(share * high, share > 0.001 ? LEAST_PX : 0);
        context.fillStyle = fills[group];
        context.fillRect(x, y - part, wide, part);
        y -= part;
      }
    }
    if (minimap.failures[column] > 0) {
      context.fillStyle = theme.failure;
      context.fillRect(x - 1, 0, wide + 2, FAILURE_PX);
    }
    if (minimap.reasons[column] > 0) {
      const density = minimap.reasons[column] / Math.max(1, minimap.mostReasons);
      context.fillStyle = theme.ink;
      const part = density > 0.5 ? REASON_PX : density > 0.1 ? REASON_PX - 1 : REASON_PX - 2;
      context.fillRect(x, OVERVIEW_PX - part, wide, part);
    }
  }
  context.fillStyle = theme.grid;
  context.fillRect(0, floor, width, 1);
}
