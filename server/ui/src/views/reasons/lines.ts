/** All reasons of an execution in the order of time: which are shown, and which make one line. Pure; typed arrays. */

import type { Execution } from "../../data/execution";
import { orderBy } from "../../model/order";

export interface ReasonFilter {
  /** Part of the message, in upper or lower case; "" for all. */
  text: string;
  /** Least severity, by name; "" for all. */
  severity: "" | "WARNING" | "ERROR";
  /** Whether the same message again is one line with a count. */
  isGrouped: boolean;
}

export interface ReasonLines {
  /** Reasons that are shown, in the order of time. */
  order: Uint32Array;
  /** Line i holds order[first[i]] up to, not including, order[first[i + 1]]. */
  first: Uint32Array;
  count: number;
  /** Occurrences on all lines. */
  occurrences: number;
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
  const { reasons } = execution;
  const isWanted = wantedMessages(execution, filter.text);
  const least = filter.severity === "" ? 0 : severityRank(filter.severity);
  const rank = Uint8Array.from(execution.header.severities, severityRank);
  const all = timeOrder(execution);
  const order = new Uint32Array(all.length);
  const first = new Uint32Array(all.length + 1);
  let shown = 0;
  let count = 0;
  let occurrences = 0;
  for (const reason of all) {
    if (isWanted !== null && isWanted[reasons.message[reason]] !== YES) continue;
    if (rank[reasons.severity[reason]] < least) continue;
    const before = shown === 0 ? -1 : order[shown - 1];
    if (!filter.isGrouped || before < 0 || !isRepeat(execution, before, reason)) first[count++] = shown;
    order[shown++] = reason;
    occurrences += Math.max(1, reasons.occurrences[reason]);
  }
  first[count] = shown;
  return { order: order.subarray(0, shown), first: first.subarray(0, count + 1), count, occurrences };
}

const NO = 1;
const YES = 2;

function wantedMessages(execution: Execution, text: string): Uint8Array | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return null;
  const { reasons, strings } = execution;
  const found = new Uint8Array(strings.count);
  for (let i = 0; i < reasons.count; i++) {
    const message = reasons.message[i];
    if (found[message] === 0) found[message] = strings.get(message).toLowerCase().includes(wanted) ? YES : NO;
  }
  return found;
}

function isRepeat({ reasons }: Execution, a: number, b: number): boolean {
  return (
    reasons.message[a] === reasons.message[b] &&
    reasons.phase[a] === reasons.phase[b] &&
    reasons.severity[a] === reasons.severity[b] &&
    reasons.isCut[a] === 0 &&
    reasons.isCut[b] === 0
  );
}

function severityRank(severity: string): number {
  return severity === "ERROR" ? 2 : severity === "WARNING" ? 1 : 0;
}

/** How often what a line says was told. */
export function occurrencesOf(execution: Execution, lines: ReasonLines, line: number): number {
  let sum = 0;
  for (let i = lines.first[line]; i < lines.first[line + 1]; i++) sum += Math.max(1, execution.reasons.occurrences[lines.order[i]]);
  return sum;
}

/** Different spans that a line speaks of. */
export function spansOf(execution: Execution, lines: ReasonLines, line: number): number {
  const spans = new Set<number>();
  for (let i = lines.first[line]; i < lines.first[line + 1]; i++) spans.add(execution.reasons.span[lines.order[i]]);
  return spans.size;
}

/** The line that holds a reason; -1 when it is on none. */
export function lineOf(lines: ReasonLines, reason: number): number {
  const place = lines.order.indexOf(reason);
  if (place < 0) return -1;
  let low = 0;
  let high = lines.count;
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if (lines.first[middle] <= place) low = middle;
    else high = middle;
  }
  return low;
}

/** The span that people know a reason by: the node, sub-task or execution around it, and the attempt where it is not the first. */
export function ownerOf({ spans, header, strings }: Execution, reasonSpan: number): string {
  const named = new Set(["EXECUTION", "NODE", "SUBTASK"].map((kind) => header.kinds.indexOf(kind)));
  const attemptKind = header.kinds.indexOf("TASK_ATTEMPT");
  let attempt = 0;
  let span = reasonSpan;
  while (spans.parent[span] >= 0 && !named.has(spans.kind[span])) {
    if (spans.kind[span] === attemptKind) attempt = spans.attempt[span];
    span = spans.parent[span];
  }
  const name = strings.get(spans.name[span]);
  return attempt > 0 ? `${name}, attempt ${attempt}` : name;
}
