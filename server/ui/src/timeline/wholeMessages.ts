// Messages that the columns carry only the beginning of: the whole text is fetched when somebody reads it.

import { useEffect } from "preact/hooks";
import { messageOf } from "../model/reasonFacts";
import { visibleMessage } from "../model/visible";
import { spanDetails } from "./spanDetails";
import type { Store } from "./store";

/** The text of a reason, as it can be shown; whole as soon as it has come. */
export function useWholeMessage(store: Store, reason: number): string {
  const { execution } = store.shown.value;
  const { reasons } = execution;
  const isCut = reasons.isCut[reason] === 1;
  const id = store.idOf(reasons.span[reason]);
  const details = spanDetails(store, id);
  useEffect(() => {
    if (isCut) void details.load();
  }, [isCut, id]);
  return visibleMessage(messageOf(execution, reason, details.span.value?.reasons));
}
