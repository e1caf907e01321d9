// Values of the JSON form of messages: durations, enums, numbers of 64 bits. What is unset is absent.

import { parseTime } from "../timeline/times";

/** Nanoseconds of a duration such as "1.5s", exact up to 104 days; 0 for what is unset. */
export function durationNs(text: string | undefined): number {
  if (text === undefined) return 0;
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d{1,9}))?s$/.exec(text) ?? [];
  if (whole === undefined) throw new Error(`not a duration: ${text}`);
  const ns = Number(whole) * 1e9 + Number(fraction.padEnd(9, "0"));
  return sign === "-" ? -ns : ns;
}

/** The name of a value without the name of its enum: PHASE_RUNNING as RUNNING. */
export function enumName(text: string | undefined, prefix: string): string {
  if (text === undefined) return "UNSPECIFIED";
  return text.startsWith(`${prefix}_`) ? text.slice(prefix.length + 1) : text;
}

export function phaseName(text: string | undefined): string {
  return enumName(text, "PHASE");
}

export function operationName(text: string | undefined): string {
  return enumName(text, "OPERATION");
}

/** Nanoseconds since 1970; null for what is unset. */
export function timeNs(text: string | undefined): bigint | null {
  return text === undefined ? null : parseTime(text);
}
