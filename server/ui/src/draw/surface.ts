// A stack of canvases of one size, and the clock that draws them: a frame is asked for only when something is dirty.

/** What has to be drawn again: a sum of bits. */
export const BARS = 1;
export const MARKS = 2;
export const HOVER = 4;
export const ALL = BARS | MARKS | HOVER;

/** Makes one canvas the size of `width` by `height` CSS pixels, sharp on the screen it is on. */
export function sizeCanvas(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const deviceWidth = Math.max(1, Math.round(width * ratio));
  const deviceHeight = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== deviceWidth) canvas.width = deviceWidth;
  if (canvas.height !== deviceHeight) canvas.height = deviceHeight;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d")!;
  context.setTransform(deviceWidth / Math.max(1, width), 0, 0, deviceHeight / Math.max(1, height), 0, 0);
  return context;
}

/**
 * Sets how text looks on a layer, once for each size: to set a font has the browser bring all styles of the document up to
 * date, which costs more than the drawing of a frame.
 */
export function setText(context: CanvasRenderingContext2D, font: string): void {
  context.font = font;
  context.textBaseline = "middle";
}

export interface FrameStats {
  frames: number;
  drawMs: number[];
  gapsMs: number[];
}

const KEPT_SAMPLES = 2000;
const REST_MS = 50;

function keep(samples: number[], value: number): void {
  if (samples.length >= KEPT_SAMPLES) samples.splice(0, KEPT_SAMPLES / 2);
  samples.push(value);
}

/** Collects what is dirty and calls `draw` once in the next frame with the sum. */
export class FrameClock {
  readonly stats: FrameStats = { frames: 0, drawMs: [], gapsMs: [] };
  private dirty = 0;
  private handle = 0;
  private lastFrame = Number.NaN;
  private askedAt = 0;

  constructor(private readonly draw: (dirty: number) => void) {}

  mark(what: number): void {
    this.dirty |= what;
    if (this.handle !== 0 || this.dirty === 0) return;
    this.askedAt = performance.now();
    this.handle = requestAnimationFrame(this.frame);
  }

  stop(): void {
    cancelAnimationFrame(this.handle);
    this.handle = 0;
    this.dirty = 0;
  }

  private readonly frame = (now: number): void => {
    const dirty = this.dirty;
    this.dirty = 0;
    this.handle = 0;
    // Text on a canvas needs styles that are up to date. They have to be brought up to date in this frame anyway, for the rows
    // of the tree: now, so that what is measured is the drawing.
    void getComputedStyle(document.body).color;
    const before = performance.now();
    this.draw(dirty);
    this.stats.frames += 1;
    keep(this.stats.drawMs, performance.now() - before);
    // A gap counts only inside a run of frames: after a rest there is nothing to be late for.
    if (this.askedAt - this.lastFrame < REST_MS) keep(this.stats.gapsMs, now - this.lastFrame);
    this.lastFrame = now;
  };
}
