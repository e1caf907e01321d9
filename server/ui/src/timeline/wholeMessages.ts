// Messages that the columns carry only the beginning of: the whole text is fetched when somebody reads it.

import { useEffect } from "preact/hooks";
import { spanDetails } from "./spanDetails";
import type { Store } from "./store";

/** The text of a reason; whole as soon as it has come. */
export function useWholeMessage(store: Store, reason: number): string {
  const { execution } = store.shown.value!;
  const { reasons, strings } = execution;
  const beginning = strings.get(reasons.message[reason]);
  const isCut = reasons.isCut[reason] === 1;
  const span = reasons.span[reason];
  const id = store.idOf(span);
  const details = spanDetails(store, id);
  useEffect(() => {
    if (isCut) void details.load();
  }, [isCut, id]);
  if (!isCut) return beginning;
  const all = details.span.value?.reasons;
  if (all === undefined) return `${beginning}…`;
  // Both are in the order of time; texts tell apart those of one moment.
  const place = reason - execution.spans.reasonFirst[span];
  const candidate = all[place]?.message ?? "";
  if (candidate.startsWith(beginning)) return candidate;
  return all.find((each) => each.message?.startsWith(beginning))?.message ?? `${beginning}…`;
}
