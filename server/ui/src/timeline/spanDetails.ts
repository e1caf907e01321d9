// What the server knows of single spans beyond the columns. Asked for when needed, and kept while the revision stays.

import { signal, type Signal } from "@preact/signals";
import { fetchSpan, type SpanJson } from "../data/api";
import type { Execution } from "../data/execution";
import type { Store } from "./store";

export interface SpanDetails {
  /** Null until it has come. Of the revision before while that of the present one is on its way. */
  span: Signal<SpanJson | null>;
  error: Signal<Error | null>;
  load(): Promise<void>;
}

const KEPT = 50;
const known = new WeakMap<Store, Map<string, SpanDetails>>();

export function spanDetails(store: Store, id: string): SpanDetails {
  let bySpan = known.get(store);
  if (bySpan === undefined) known.set(store, (bySpan = new Map()));
  let details = bySpan.get(id);
  if (details === undefined) {
    details = makeDetails(store, id);
    bySpan.set(id, details);
    if (bySpan.size > KEPT) bySpan.delete(bySpan.keys().next().value!);
  }
  return details;
}

function makeDetails(store: Store, id: string): SpanDetails {
  const span = signal<SpanJson | null>(null);
  const error = signal<Error | null>(null);
  let loadedFor: Execution | null = null;
  return {
    span,
    error,
    async load() {
      const execution = store.source.execution.peek();
      if (loadedFor === execution) return;
      loadedFor = execution;
      try {
        span.value = await fetchSpan(store.source.key, id, BigInt(execution.header.as_of_ns));
        error.value = null;
      } catch (reason) {
        loadedFor = null;
        error.value = reason instanceof Error ? reason : new Error(String(reason));
      }
    },
  };
}
