/** What is told of a reason wherever it is shown, and how its whole text is found. */

import type { Execution } from "../data/execution";
import { severityWords } from "./words";

export interface ReasonFacts {
  /** Name of the phase. */
  phase: string;
  /** In words; "" when the source gave none. */
  severity: string;
  /** Whether the severity is worth telling in few words: more than information. */
  isSevere: boolean;
  source: string;
  occurrences: number;
}

export function reasonFacts({ reasons, header, strings }: Execution, reason: number): ReasonFacts {
  const severity = severityWords(header.severities[reasons.severity[reason]]);
  return {
    phase: header.phases[reasons.phase[reason]],
    severity,
    isSevere: severity !== "" && severity !== "Information",
    source: strings.get(reasons.source[reason]),
    occurrences: reasons.occurrences[reason],
  };
}

/**
 * Gives the whole text of a reason of which the columns carry only the beginning, or undefined.
 *
 * `texts` are those of all reasons of its span. They and the reasons are in the order of time; the
 * beginning tells apart those of one moment.
 */
export function findWholeText(execution: Execution, reason: number, texts: readonly string[]): string | undefined {
  const { reasons, spans, strings } = execution;
  const beginning = strings.get(reasons.message[reason]);
  const same = texts[reason - spans.reasonFirst[reasons.span[reason]]] ?? "";
  return same.startsWith(beginning) ? same : texts.find((text) => text.startsWith(beginning));
}
