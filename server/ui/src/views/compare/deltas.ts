/** Differences between two executions, as lines: the greatest first, and what is on one side alone. */

import type { ComparisonJson, NodeDeltaJson } from "../../data/answers";
import { spanIdHex } from "../../data/columns";
import type { Execution } from "../../data/execution";
import { durationNs, operationName, phaseName } from "../../data/values";
import { formatDuration } from "../../model/format";
import { operationWords } from "../../model/words";

export interface Delta {
  key: string;
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
  return Math.abs(b.here - b.there) - Math.abs(a.here - a.there) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

export function operationDeltas(answer: ComparisonJson): Delta[] {
  return (answer.operations ?? [])
    .map((json) => {
      const operation = operationName(json.operation);
      return {
        key: operation,
        name: operationWords(operation),
        here: durationNs(json.duration),
        there: durationNs(json.baseDuration),
        countHere: Number(json.count ?? 0),
        countThere: Number(json.baseCount ?? 0),
      };
    })
    .sort(byDifference);
}

export interface NodeDeltas {
  both: NodeDelta[];
  onlyHere: NodeDelta[];
  onlyThere: NodeDelta[];
}

export function nodeDeltas(answer: ComparisonJson): NodeDeltas {
  const all = (answer.nodes ?? []).map(nodeDelta).sort(byDifference);
  return {
    both: all.filter(({ spanHere, spanThere }) => spanHere !== "" && spanThere !== ""),
    onlyHere: all.filter(({ spanThere }) => spanThere === ""),
    onlyThere: all.filter(({ spanHere }) => spanHere === ""),
  };
}

function nodeDelta(json: NodeDeltaJson): NodeDelta {
  const spanHere = json.spanId ?? "";
  const spanThere = json.baseSpanId ?? "";
  return {
    key: `${spanHere} ${spanThere}`,
    name: json.path ?? "",
    here: durationNs(json.duration),
    there: durationNs(json.baseDuration),
    countHere: json.attemptCount ?? 0,
    countThere: json.baseAttemptCount ?? 0,
    spanHere,
    spanThere,
    phaseHere: phaseName(json.phase),
    phaseThere: phaseName(json.basePhase),
    mostly: mostlyOf(json),
  };
}

/** The operation that explains at least half of a node's difference; else it lies in what the node contains, or nowhere. */
function mostlyOf(json: NodeDeltaJson): string {
  const whole = durationNs(json.duration) - durationNs(json.baseDuration);
  let most = 0;
  let text = "";
  for (const each of json.operations ?? []) {
    const difference = durationNs(each.duration) - durationNs(each.baseDuration);
    if (Math.sign(difference) !== Math.sign(whole) || Math.abs(difference) <= Math.abs(most)) continue;
    most = difference;
    text = `${operationWords(operationName(each.operation))} ${signed(difference)}`;
  }
  if (2 * Math.abs(most) >= Math.abs(whole)) return text;
  const hasAttempts = (json.attemptCount ?? 0) + (json.baseAttemptCount ?? 0) > 0;
  return hasAttempts ? "" : "in the nodes inside of it";
}

/** A difference with its sign: +3m 07s, −8ms, 0s. */
export function signed(ns: number): string {
  return ns > 0 ? `+${formatDuration(ns)}` : formatDuration(ns);
}

/** Names of spans of an execution, by their ids. */
export function namesOf(execution: Execution, ids: Iterable<string>): Map<string, string> {
  const { spans, strings } = execution;
  const wanted = new Set(ids);
  const low = new Set(Array.from(wanted, (id) => Number.parseInt(id.slice(8), 16)));
  const names = new Map<string, string>();
  for (let span = 0; span < spans.count; span++) {
    if (!low.has(spans.idLow[span])) continue;
    const id = spanIdHex(spans, span);
    if (wanted.has(id)) names.set(id, strings.get(spans.name[span]));
  }
  return names;
}
