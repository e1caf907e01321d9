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
 * The text of a reason. Of a long one the columns carry only the beginning, which dots follow until the whole has come.
 *
 * @param told the reasons of its span, as the server tells them. They and those of the columns are in the order of time; the
 *   beginning tells apart those of one moment.
 */
export function messageOf({ reasons, spans, strings }: Execution, reason: number, told: readonly { message?: string }[] = []): string {
  const beginning = strings.get(reasons.message[reason]);
  if (reasons.isCut[reason] === 0) return beginning;
  const texts = told.map(({ message = "" }) => message);
  const same = texts[reason - spans.reasonFirst[reasons.span[reason]]] ?? "";
  const whole = same.startsWith(beginning) ? same : texts.find((text) => text.startsWith(beginning));
  return whole ?? `${beginning}…`;
}
