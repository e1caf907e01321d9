// Times of the JSON form of messages.

/** Nanoseconds since 1970 of a time in RFC 3339, in UTC. */
export function parseTime(text: string): bigint {
  const [, whole, fraction = ""] = /^(.*?)(?:\.(\d{1,9}))?Z$/.exec(text) ?? [];
  if (whole === undefined) throw new Error(`not a time in UTC: ${text}`);
  return BigInt(Date.parse(`${whole}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

/** Nanoseconds after the start of an execution; NaN for what is unset. */
export function offsetOf(text: string | undefined, startNs: bigint): number {
  return text === undefined ? Number.NaN : Number(parseTime(text) - startNs);
}
