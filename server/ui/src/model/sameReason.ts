// A reason found again in a newer reading of its execution.

import type { Execution } from "../data/execution";

/** The reason of a newer reading of the execution that is the same as one of an older; -1 when there is none. */
export function sameReason(old: Execution, reason: number, fresh: Execution): number {
  if (reason < 0 || reason >= old.reasons.count) return -1;
  const was = old.reasons.span[reason];
  const message = old.strings.get(old.reasons.message[reason]);
  const { spans, reasons, strings } = fresh;
  for (let span = 0; span < spans.count; span++) {
    if (spans.idLow[span] !== old.spans.idLow[was] || spans.idHigh[span] !== old.spans.idHigh[was]) continue;
    for (let i = spans.reasonFirst[span]; i < spans.reasonFirst[span + 1]; i++) {
      const at = fresh.startNs + BigInt(reasons.at[i]);
      if (at === old.startNs + BigInt(old.reasons.at[reason]) && strings.get(reasons.message[i]) === message) return i;
    }
  }
  return -1;
}
