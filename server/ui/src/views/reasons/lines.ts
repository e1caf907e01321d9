/** All reasons of an execution in the order of time: which are shown, and which make one line. Pure; typed arrays. */

import type { Execution } from "../../data/execution";
import { codesOf } from "../../model/codes";
import { orderBy, upperBound } from "../../model/order";

/** From what is told of all on; "" has no name. */
export const SEVERITIES = ["", "WARNING", "ERROR"] as const;

export interface ReasonFilter {
  /** Part of the message, in upper or lower case; "" for all. */
  text: string;
  /** Least severity, by name; "" for all. */
  severity: (typeof SEVERITIES)[number];
  /** Whether the same message again is one line with a count. */
  isGrouped: boolean;
}

export interface ReasonLines {
  /** Reasons that are shown, in the order of time. */
  order: Uint32Array;
  /** Line i holds order[first[i]] up to, not including, order[first[i + 1]]. */
  first: Uint32Array;
  count: number;
}

const orders = new WeakMap<Execution, Uint32Array>();

/** Those of one moment stay in the order of their spans. */
export function timeOrder(execution: Execution): Uint32Array {
  let order = orders.get(execution);
  if (order === undefined) orders.set(execution, (order = orderBy(execution.reasons.at)));
  return order;
}

/** Each different message is looked at once, however often it occurs. */
export function reasonLines(execution: Execution, filter: ReasonFilter): ReasonLines {
  const { reasons, strings, header } = execution;
  const text = filter.text.trim().toLowerCase();
  const isWanted: boolean[] = [];
  const rankOf = (severity: string) => Math.max(0, SEVERITIES.indexOf(severity as "ERROR"));
  const ranks = header.severities.map(rankOf);
  const least = rankOf(filter.severity);
  const all = timeOrder(execution);
  const order = new Uint32Array(all.length);
  const first = new Uint32Array(all.length + 1);
  let shown = 0;
  let count = 0;
  for (const reason of all) {
    const message = reasons.message[reason];
    if (ranks[reasons.severity[reason]] < least) continue;
    if (text !== "" && !(isWanted[message] ??= strings.get(message).toLowerCase().includes(text))) continue;
    if (!filter.isGrouped || shown === 0 || !isRepeat(execution, order[shown - 1], reason)) first[count++] = shown;
    order[shown++] = reason;
  }
  first[count] = shown;
  return { order: order.subarray(0, shown), first: first.subarray(0, count + 1), count };
}

function isRepeat({ reasons }: Execution, a: number, b: number): boolean {
  return (
    reasons.message[a] === reasons.message[b] &&
    reasons.phase[a] === reasons.phase[b] &&
    reasons.severity[a] === reasons.severity[b] &&
    reasons.isCut[a] + reasons.isCut[b] === 0
  );
}

/** The reasons on a line. */
export function reasonsOf({ order, first }: ReasonLines, line: number): Uint32Array {
  return order.subarray(first[line], first[line + 1]);
}

/** How often what a line says was told. */
export function occurrencesOf({ reasons }: Execution, lines: ReasonLines, line: number): number {
  return reasonsOf(lines, line).reduce((sum, reason) => sum + Math.max(1, reasons.occurrences[reason]), 0);
}

/** Different spans that a line speaks of. */
export function spansOf({ reasons }: Execution, lines: ReasonLines, line: number): number {
  return new Set(reasonsOf(lines, line).map((reason) => reasons.span[reason])).size;
}

/** The line that holds a reason; -1 when it is on none. */
export function lineOf({ order, first, count }: ReasonLines, reason: number): number {
  const place = order.indexOf(reason);
  return place < 0 ? -1 : upperBound(first, place, 0, count) - 1;
}

/** The span that people know a reason by: the node, sub-task or execution around it, and the attempt where it is not the first. */
export function ownerOf({ spans, header, strings }: Execution, reasonSpan: number): string {
  const { kinds } = codesOf(header);
  let attempt = 0;
  let span = reasonSpan;
  while (spans.parent[span] >= 0 && (spans.kind[span] === kinds.attempt || spans.kind[span] === kinds.operation)) {
    if (spans.kind[span] === kinds.attempt) attempt = spans.attempt[span];
    span = spans.parent[span];
  }
  const name = strings.get(spans.name[span]);
  return attempt > 0 ? `${name}, attempt ${attempt}` : name;
}
