// Messages that the columns carry only the beginning of: the whole text is fetched when somebody reads it.

import { useEffect } from "preact/hooks";
import { findWholeText } from "../model/reasonFacts";
import { visibleMessage } from "../model/visible";
import { spanDetails } from "./spanDetails";
import type { Store } from "./store";

/** The text of a reason, as it can be shown; whole as soon as it has come. */
export function useWholeMessage(store: Store, reason: number): string {
  const { execution } = store.shown.value;
  const { reasons, strings } = execution;
  const beginning = strings.get(reasons.message[reason]);
  const isCut = reasons.isCut[reason] === 1;
  const span = reasons.span[reason];
  const id = store.idOf(span);
  const details = spanDetails(store, id);
  useEffect(() => {
    if (isCut) void details.load();
  }, [isCut, id]);
  if (!isCut) return visibleMessage(beginning);
  const texts = details.span.value?.reasons?.map((each) => each.message ?? "") ?? [];
  return visibleMessage(findWholeText(execution, reason, texts) ?? `${beginning}…`);
}
