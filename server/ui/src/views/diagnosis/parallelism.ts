/** How many attempts ran at once, as steps: a picture's path, and the same in words. */

import { formatDuration, formatShare } from "../../model/format";
import { plural } from "../../model/words";

export interface Step {
  /** Nanoseconds after the first step. */
  at: number;
  running: number;
}

export interface Parallelism {
  steps: readonly Step[];
  /** Nanoseconds from the first step to the end. */
  length: number;
  most: number;
  /** Mean over the whole time. */
  mean: number;
  /** Nanoseconds during which none ran. */
  idle: number;
}

/** `steps` in the order of time, one at least; the last one lasts until `end`. */
export function sumUp(steps: readonly Step[], end: number): Parallelism {
  const length = Math.max(end, steps[steps.length - 1].at);
  let [most, work, idle] = [0, 0, 0];
  steps.forEach(({ at, running }, i) => {
    const took = (steps[i + 1]?.at ?? length) - at;
    most = Math.max(most, running);
    work += running * took;
    if (running === 0) idle += took;
  });
  return { steps, length, most, mean: length > 0 ? work / length : 0, idle };
}

/** SVG path of the area below the steps, in a field of width by height. One point for each pixel at most. */
export function areaPath({ steps, length, most }: Parallelism, width: number, height: number): string {
  if (most === 0 || length <= 0) return "";
  const x = (at: number) => Math.round((at / length) * width * 10) / 10;
  const y = (running: number) => Math.round((height - (running / most) * height) * 10) / 10;
  let path = `M0 ${height}`;
  let peak = 0;
  steps.forEach(({ at, running }, i) => {
    // Of steps within one pixel the highest is drawn.
    const next = steps[i + 1]?.at ?? length;
    peak = Math.max(peak, running);
    if (Math.floor(x(next)) === Math.floor(x(at)) && i + 1 < steps.length) return;
    path += `V${y(peak)}H${x(next)}`;
    peak = 0;
  });
  return `${path}V${height}Z`;
}

/** The same in words. */
export function parallelismWords({ most, mean, idle, length }: Parallelism): string {
  if (most === 0) return "No attempt ran.";
  const none = idle > 0 ? `none for ${formatDuration(idle)} (${formatShare(idle, length)})` : "at every moment at least one";
  return `At most ${plural(most, "attempt")} ran at once, ${mean.toFixed(1)} on average, ${none}.`;
}
