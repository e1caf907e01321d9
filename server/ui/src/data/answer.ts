// An answer of the server as a component sees it: not there yet, there, or failed; the last one stays while a new one is
// on its way.

import { batch, useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { pause } from "./live";

export interface Answer<T> {
  readonly value: ReadonlySignal<T | null>;
  /** Why the last attempt failed; null when it did not. What came before may still be in `value`. */
  readonly error: ReadonlySignal<Error | null>;
  again(): void;
}

/** Questions about one execution are not asked more often than this while it changes. */
const REST_MS = 3000;

/**
 * Asks when `question` changes, and drops what came for another one; asks again, a while after the answer before, when only
 * `revision` changes: who answers slowly is still heard to the end.
 */
export function useAnswer<T>(question: string, revision: string, ask: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const value = useSignal<T | null>(null);
  const error = useSignal<Error | null>(null);
  const attempt = useSignal(0);
  const newest = useRef({ revision, ask });
  newest.current = { revision, ask };
  const look = useRef(() => {});
  useEffect(() => {
    batch(() => ((value.value = null), (error.value = null)));
  }, [question]);
  useEffect(() => {
    const closed = new AbortController();
    const { signal } = closed;
    let isAsking = false;
    let told: string | null = null;
    const askWhileNew = async (): Promise<void> => {
      if (isAsking) return;
      isAsking = true;
      while (!signal.aborted && told !== newest.current.revision) {
        told = newest.current.revision;
        const [answer, reason] = await newest.current.ask(signal).then(
          (answer) => [answer, null] as const,
          (reason: unknown) => [value.peek(), asError(reason)] as const,
        );
        if (signal.aborted) return;
        batch(() => ((value.value = answer), (error.value = reason)));
        await pause(REST_MS, signal);
      }
      isAsking = false;
    };
    look.current = () => void askWhileNew();
    return () => closed.abort();
  }, [question, attempt.value]);
  useEffect(() => look.current(), [question, attempt.value, revision]);
  return { value, error, again: () => (attempt.value += 1) };
}

export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
