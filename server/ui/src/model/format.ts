/** Durations and moments as text, exact where that matters. */

const SECOND_NS = 1e9;
const MINUTE_NS = 60 * SECOND_NS;
const HOUR_NS = 60 * MINUTE_NS;
const DAY_NS = 24 * HOUR_NS;
const MINUS = "−";

/** Which clock moments are told by. */
export type Zone = "local" | "utc";

/**
 * A duration as the command line writes it: 8ms, 12.5s, 3m 07s, 1h 02m 03s, 2d 03h 00m 00s. What
 * does not fit is cut, never rounded up. A negative one has a minus sign.
 */
export function formatDuration(ns: number): string {
  if (ns < 0) return MINUS + formatDuration(-ns);
  const whole = Math.floor(ns);
  if (whole < 1e3) return whole === 0 ? "0s" : `${whole}ns`;
  if (whole < 1e6) return `${Math.floor(whole / 1e3)}µs`;
  if (whole < SECOND_NS) return `${Math.floor(whole / 1e6)}ms`;
  const seconds = Math.floor(whole / SECOND_NS);
  if (seconds < 60) return `${decimal(Math.floor(whole / 1e7), 100, 2)}s`;
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  const tail = `${pad(seconds % 60, 2)}s`;
  if (days > 0) return `${days}d ${pad(hours, 2)}h ${pad(minutes, 2)}m ${tail}`;
  return hours > 0 ? `${hours}h ${pad(minutes, 2)}m ${tail}` : `${minutes}m ${tail}`;
}

/** A difference with its sign: +3m 07s, −8ms, 0s. */
export function formatSigned(ns: number): string {
  return (ns > 0 ? "+" : "") + formatDuration(ns);
}

/**
 * A duration to the nanosecond, without what is zero at either end: 1h 02m 03.000000004s, 8.25ms,
 * 350ns. For tooltips and copying.
 */
export function formatExact(ns: number): string {
  if (ns < 0) return MINUS + formatExact(-ns);
  const whole = Math.round(ns);
  if (whole < 1e3) return whole === 0 ? "0s" : `${whole}ns`;
  if (whole < 1e6) return `${decimal(whole, 1e3, 3)}µs`;
  if (whole < SECOND_NS) return `${decimal(whole, 1e6, 6)}ms`;
  const days = Math.floor(whole / DAY_NS);
  const hours = Math.floor(whole / HOUR_NS) % 24;
  const minutes = Math.floor(whole / MINUTE_NS) % 60;
  const rest = whole % MINUTE_NS;
  if (whole < MINUTE_NS) return `${decimal(rest, SECOND_NS, 9)}s`;
  const [seconds, fraction] = decimal(rest, SECOND_NS, 9).split(".");
  const tail = `${seconds.padStart(2, "0")}${fraction === undefined ? "" : `.${fraction}`}s`;
  if (days > 0) return `${days}d ${pad(hours, 2)}h ${pad(minutes, 2)}m ${tail}`;
  return hours > 0 ? `${hours}h ${pad(minutes, 2)}m ${tail}` : `${minutes}m ${tail}`;
}

/** An offset with its sign: +8ms, −3s, +0s. */
export function formatOffset(ns: number): string {
  return ns < 0 ? formatExact(ns) : `+${formatExact(ns)}`;
}

export interface Moment {
  /** 2026-11-30 */
  date: string;
  /** 14:05:20.25, to the nanosecond, without the zeros at its end. */
  time: string;
  /** "UTC", or the way of the local clock from it: UTC+01:00. */
  zone: string;
}

/** A moment of an execution by the clock of a zone. */
export function momentOf(startNs: bigint, offset: number, zone: Zone): Moment {
  const at = startNs + BigInt(Math.round(offset));
  const zoneMinutes = zoneOffsetMinutes(Number(at / 1_000_000n), zone);
  const wall = at + BigInt(zoneMinutes) * 60_000_000_000n;
  const iso = new Date(Number(floorDiv(wall, 1_000_000_000n)) * 1000).toISOString();
  const fraction = String(wall - floorDiv(wall, 1_000_000_000n) * 1_000_000_000n).padStart(9, "0");
  const digits = fraction.replace(/0+$/, "");
  return {
    date: iso.slice(0, iso.indexOf("T")),
    time: iso.slice(iso.indexOf("T") + 1, -5) + (digits === "" ? "" : `.${digits}`),
    zone: zone === "utc" ? "UTC" : zoneText(zoneMinutes),
  };
}

/** "2026-11-30 14:05:20.25 UTC" */
export function formatMoment(startNs: bigint, offset: number, zone: Zone): string {
  const { date, time, zone: name } = momentOf(startNs, offset, zone);
  return `${date} ${time} ${name}`;
}

/** A share of a whole as a percentage: "12 %", "less than 1 %", "0 %". */
export function formatShare(part: number, whole: number): string {
  if (!(whole > 0) || part <= 0) return "0 %";
  const percent = Math.round((100 * part) / whole);
  return percent === 0 ? "less than 1 %" : `${percent} %`;
}

/** Minutes that the clock of a zone is ahead of UTC at a moment, in milliseconds since 1970. */
export function zoneOffsetMinutes(atMs: number, zone: Zone): number {
  return zone === "utc" ? 0 : -Math.round(new Date(atMs).getTimezoneOffset());
}

function zoneText(minutes: number): string {
  const absolute = Math.abs(minutes);
  const sign = minutes < 0 ? MINUS : "+";
  return `UTC${sign}${pad(Math.floor(absolute / 60), 2)}:${pad(absolute % 60, 2)}`;
}

function floorDiv(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

/** value / unit with up to `digits` decimals, without the zeros at its end. Both are whole. */
function decimal(value: number, unit: number, digits: number): string {
  const fraction = String(value % unit).padStart(digits, "0").replace(/0+$/, "");
  const whole = String(Math.floor(value / unit));
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

export function pad(value: number, length: number): string {
  return String(value).padStart(length, "0");
}
