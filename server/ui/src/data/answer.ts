// An answer of the server as a component sees it: not there yet, there, or failed; the last one stays while a new one is
// on its way.

import { batch, useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface Answer<T> {
  readonly value: ReadonlySignal<T | null>;
  /** Why the last attempt failed; null when it did not. What came before may still be in `value`. */
  readonly error: ReadonlySignal<Error | null>;
  readonly isBusy: ReadonlySignal<boolean>;
  again(): void;
}

/** Questions about one execution are not asked more often than this while it changes. */
const REST_MS = 3000;

/**
 * Asks when `question` changes, and drops what came for another one; asks again, a while after the time before, when only
 * `revision` changes.
 */
export function useAnswer<T>(question: string, revision: string, ask: (signal: AbortSignal) => Promise<T>): Answer<T> {
  const value = useSignal<T | null>(null);
  const error = useSignal<Error | null>(null);
  const isBusy = useSignal(true);
  const attempt = useSignal(0);
  const last = useRef<{ question: string; askedMs: number }>({ question: "", askedMs: 0 });
  useEffect(() => {
    const isNew = last.current.question !== question;
    if (isNew) batch(() => ((value.value = null), (error.value = null)));
    const abort = new AbortController();
    const wait = isNew || value.peek() === null || error.peek() !== null ? 0 : Math.max(0, last.current.askedMs + REST_MS - performance.now());
    isBusy.value = true;
    const timer = setTimeout(() => {
      last.current = { question, askedMs: performance.now() };
      ask(abort.signal).then(
        (answer) => {
          if (!abort.signal.aborted) batch(() => ((value.value = answer), (error.value = null), (isBusy.value = false)));
        },
        (reason: unknown) => {
          if (abort.signal.aborted) return;
          batch(() => ((error.value = asError(reason)), (isBusy.value = false)));
        },
      );
    }, wait);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [question, revision, attempt.value]);
  return { value, error, isBusy, again: () => (attempt.value += 1) };
}

export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
