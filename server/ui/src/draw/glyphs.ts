// One sign for each phase, drawn alike by the canvas and by the tree: strokes on a field of 12 by 12.
// Own paths and not characters, because fonts lack some of them and draw others in colours.

const CHECK = "M2 6.5 4.8 9.3 10 3";
const CROSS = "M2.8 2.8 9.2 9.2M9.2 2.8 2.8 9.2";
const FLOOR = "M2.5 11.2H9.5";
const RING = "M10.6 6A4.6 4.6 0 1 1 1.4 6 4.6 4.6 0 0 1 10.6 6Z";

const PHASE_PATHS: Record<string, string> = {
  UNSPECIFIED: "M4 4.2A2.1 2.1 0 1 1 6 6.6V7.6M6 9.8V10.2",
  QUEUED: "M2 6H2.2M6 6H6.2M9.8 6H10",
  WAITING_FOR_RESOURCES: "M3 1.6H9M3 10.4H9M3.6 1.6 8.4 10.4M8.4 1.6 3.6 10.4",
  INITIALIZING: `${RING}M6 1.4V10.6M7.6 2.4V9.6M9.2 3.6V8.4`,
  RUNNING: "M3.4 2 9.6 6 3.4 10ZM4.6 4.2V7.8L7.4 6Z",
  DYNAMIC_RUNNING: "M1.6 2.6 6 6 1.6 9.4ZM6.4 2.6 10.8 6 6.4 9.4Z",
  PAUSED: "M4 2.2V9.8M8 2.2V9.8",
  SUCCEEDING: `M2.4 5.4 4.9 7.9 9.6 2.2${FLOOR}`,
  FAILING: `M3.4 1.8 8.6 7.8M8.6 1.8 3.4 7.8${FLOOR}`,
  ABORTING: `M9 4.6A3 3 0 1 1 3 4.6 3 3 0 0 1 9 4.6ZM3.9 6.7 8.1 2.5${FLOOR}`,
  RETRYABLE_FAILED: "M9.8 3.4A4.4 4.4 0 1 0 10.4 6.6M10.2 1.2V3.8H7.6",
  SUCCEEDED: CHECK,
  FAILED: CROSS,
  ABORTED: `${RING}M2.8 9.2 9.2 2.8`,
  TIMED_OUT: `${RING}M6 3.2V6L8 7.6`,
  SKIPPED: "M1.8 2.8 5.2 6 1.8 9.2M5.8 2.8 9.2 6 5.8 9.2M10.6 2.4V9.6",
  RECOVERED: `${RING}M3.6 6.2 5.3 7.9 8.5 4.1`,
};

/** SVG path of the sign of a phase, by the phase's name. */
export function phasePath(phase: string): string {
  return PHASE_PATHS[phase] ?? PHASE_PATHS["UNSPECIFIED"];
}

const paths = new Map<string, Path2D>();

/** Draws the sign of a phase with its upper left corner at x, y. */
export function drawGlyph(context: CanvasRenderingContext2D, phase: string, x: number, y: number, color: string): void {
  let path = paths.get(phase);
  if (path === undefined) {
    path = new Path2D(phasePath(phase));
    paths.set(phase, path);
  }
  context.save();
  context.translate(x, y);
  context.strokeStyle = color;
  context.lineWidth = 1.6;
  context.lineCap = "round";
  context.lineJoin = "round";
  context.stroke(path);
  context.restore();
}
