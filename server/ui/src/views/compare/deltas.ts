/** Differences between two executions, as lines: the greatest first, and what is on one side alone. */

import type { ComparisonJson, NodeDeltaJson } from "../../data/answers";
import { durationNs, operationName, phaseName } from "../../data/values";
import { formatSigned } from "../../model/format";
import { operationWords } from "../../model/words";

export interface Delta {
  name: string;
  /** Nanoseconds here and there. */
  here: number;
  there: number;
  /** Numbers of spans or attempts. */
  countHere: number;
  countThere: number;
}

export interface NodeDelta extends Delta {
  spanHere: string;
  spanThere: string;
  phaseHere: string;
  phaseThere: string;
  /** The operation that explains it, with its difference, or where else it lies; "" when nothing does. */
  mostly: string;
}

/** By the size of their difference, whichever way; of the same, by name. */
export function byDifference(a: Delta, b: Delta): number {
  return Math.abs(b.here - b.there) - Math.abs(a.here - a.there) || (a.name < b.name ? -1 : 1);
}

/** How long both took. */
export function lengthsOf({ duration, baseDuration }: { duration?: string; baseDuration?: string }) {
  return { here: durationNs(duration), there: durationNs(baseDuration) };
}

export function operationDeltas({ operations = [] }: ComparisonJson): Delta[] {
  return operations
    .map((json) => ({
      name: operationWords(operationName(json.operation)),
      ...lengthsOf(json),
      countHere: Number(json.count ?? 0),
      countThere: Number(json.baseCount ?? 0),
    }))
    .sort(byDifference);
}

export interface NodeDeltas {
  both: NodeDelta[];
  onlyHere: NodeDelta[];
  onlyThere: NodeDelta[];
}

export function nodeDeltas({ nodes = [] }: ComparisonJson): NodeDeltas {
  const all = nodes.map(nodeDelta).sort(byDifference);
  return {
    both: all.filter(({ spanHere, spanThere }) => spanHere && spanThere),
    onlyHere: all.filter(({ spanThere }) => !spanThere),
    onlyThere: all.filter(({ spanHere }) => !spanHere),
  };
}

function nodeDelta(json: NodeDeltaJson): NodeDelta {
  return {
    name: json.path ?? "",
    ...lengthsOf(json),
    countHere: json.attemptCount ?? 0,
    countThere: json.baseAttemptCount ?? 0,
    spanHere: json.spanId ?? "",
    spanThere: json.baseSpanId ?? "",
    phaseHere: phaseName(json.phase),
    phaseThere: phaseName(json.basePhase),
    mostly: mostlyOf(json),
  };
}

/** The operation that explains at least half of a node's difference; else it lies in what the node contains, or nowhere. */
function mostlyOf(json: NodeDeltaJson): string {
  const difference = (of: { duration?: string; baseDuration?: string }) => durationNs(of.duration) - durationNs(of.baseDuration);
  const whole = difference(json);
  let most = 0;
  let text = "";
  for (const each of json.operations ?? []) {
    const part = difference(each);
    if (Math.sign(part) !== Math.sign(whole) || Math.abs(part) <= Math.abs(most)) continue;
    most = part;
    text = `${operationWords(operationName(each.operation))} ${formatSigned(part)}`;
  }
  if (2 * Math.abs(most) >= Math.abs(whole)) return text;
  return json.attemptCount || json.baseAttemptCount ? "" : "in the nodes inside of it";
}
