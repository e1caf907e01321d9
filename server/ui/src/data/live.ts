// Keeps an execution up to date: columns are fetched anew when the server tells of a new revision.

import { batch, signal, type ReadonlySignal } from "@preact/signals";
import { apiError, executionUrl, ApiError, type ExecutionKey } from "./api";
import { decodeColumns, type Execution } from "./columns";

/**
 * loading: nothing to show yet. live: changes are told. ended: nothing more is expected.
 * lost: what is shown may be old; it is tried again. failed: there is nothing to show, see `error`.
 * waiting: the server knows of no such execution yet; it is asked again by itself.
 * gone: what is shown was deleted since; nothing is asked any more.
 */
export type LiveStatus = "loading" | "live" | "ended" | "lost" | "failed" | "waiting" | "gone";

export interface Live {
  readonly execution: ReadonlySignal<Execution | null>;
  /** What the execution was decoded from. */
  readonly bytes: ReadonlySignal<ArrayBuffer | null>;
  readonly status: ReadonlySignal<LiveStatus>;
  /** Why the last attempt to read failed; null when it did not. */
  readonly error: ReadonlySignal<ApiError | Error | null>;
  /** Milliseconds of `performance.now()` at which the execution that is shown was read. */
  readonly readAtMs: ReadonlySignal<number>;
  close(): void;
}

/** Silence after which the server counts as lost. It says something every 2 s. */
export const SILENCE_MS = 5000;
const RETRY_MS = [500, 1000, 2000, 4000];
/** Rests between questions for an execution that nothing has been heard of. */
const WAIT_MS = [2000, 4000, 6000, 8000, 10_000];
/** Columns are not fetched more often than this many times the time that fetching them took. */
const REST_FACTOR = 3;

interface Revision {
  revision: string;
  phase: string;
  ended: boolean;
}

/** Splits the text of an event stream into events. A comment is an event without data: a sign of life. */
export class EventStreamParser {
  private rest = "";

  push(text: string): { event: string; data: string }[] {
    // A line may end in two characters, and a piece between them.
    const blocks = (this.rest + text).replaceAll("\r\n", "\n").split("\n\n");
    this.rest = blocks.pop()!;
    return blocks.map((block) => {
      let event = "message";
      const data: string[] = [];
      for (const line of block.split("\n")) {
        const colon = line.indexOf(":");
        if (colon <= 0) continue;
        const value = line.slice(colon + 1).replace(/^ /, "");
        if (line.startsWith("event:")) event = value;
        else if (line.startsWith("data:")) data.push(value);
      }
      return { event, data: data.join("\n") };
    });
  }
}

export function openLive(key: ExecutionKey): Live {
  const execution = signal<Execution | null>(null);
  const bytes = signal<ArrayBuffer | null>(null);
  const status = signal<LiveStatus>("loading");
  const error = signal<Error | null>(null);
  const readAtMs = signal(0);
  const closed = new AbortController();
  let etag: string | null = null;
  let wanted: string | null = null; // the newest revision that the server told of
  let fetching: Promise<void> | null = null;
  let ended = false;

  async function fetchColumns(): Promise<void> {
    const headers: Record<string, string> = etag === null ? {} : { "if-none-match": etag };
    const response = await fetch(executionUrl(key, "columns"), { headers, signal: closed.signal, cache: "no-store" });
    if (response.status === 304) return;
    if (!response.ok) throw await apiError(response);
    const buffer = await response.arrayBuffer();
    const decoded = decodeColumns(buffer);
    if (closed.signal.aborted) return;
    etag = response.headers.get("etag");
    batch(() => {
      readAtMs.value = performance.now();
      bytes.value = buffer;
      execution.value = decoded;
    });
  }

  /** Fetches until what is shown is the newest revision that was told of. One at a time. */
  function refresh(): Promise<void> {
    fetching ??= (async () => {
      try {
        do {
          const target = wanted;
          const before = performance.now();
          await fetchColumns();
          const took = performance.now() - before;
          if (wanted === target) break;
          await pause(took * REST_FACTOR, closed.signal);
        } while (!closed.signal.aborted);
        error.value = null;
      } finally {
        fetching = null;
      }
    })();
    return fetching;
  }

  /** Reads one stream of changes to its end. Throws when it breaks or falls silent. */
  async function follow(): Promise<void> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(new Error("the server has fallen silent")), SILENCE_MS);
    const signal = AbortSignal.any([silence.signal, closed.signal]);
    try {
      const response = await fetch(executionUrl(key, "changes"), {
        headers: { accept: "text/event-stream" },
        cache: "no-store",
        signal,
      });
      if (!response.ok) throw await apiError(response);
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new EventStreamParser();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(new Error("the server has fallen silent")), SILENCE_MS);
        if (status.value !== "loading") status.value = "live";
        for (const { event, data } of parser.push(value)) if (event === "revision") told(JSON.parse(data) as Revision);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  function told(revision: Revision): void {
    ended = revision.ended;
    if (revision.revision === (wanted ?? execution.value?.header.revision)) return;
    wanted = revision.revision;
    refresh().catch(failed);
  }

  function failed(reason: unknown): void {
    if (closed.signal.aborted) return;
    const isShown = execution.value !== null;
    batch(() => {
      error.value = reason instanceof Error ? reason : new Error(String(reason));
      if (isUnknown(reason)) status.value = isShown ? "gone" : "waiting";
      else status.value = isShown ? "lost" : "failed";
    });
    if (status.value === "gone") close();
  }

  function close(): void {
    document.removeEventListener("visibilitychange", cameBack);
    closed.abort();
  }

  async function run(): Promise<void> {
    for (let attempt = 0; !closed.signal.aborted; attempt++) {
      try {
        await refresh();
        if (closed.signal.aborted) return;
        attempt = 0;
        status.value = "live";
        await follow();
        if (ended) {
          await refresh();
          status.value = "ended";
          return;
        }
        // A stream that ends in good order, for instance at a proxy, is no trouble unless the next attempt fails.
      } catch (reason) {
        failed(reason);
        // What the server refuses it will refuse again; only what may pass is tried again.
        if (status.value !== "waiting" && isRefusal(reason)) return;
      }
      const rests = status.value === "waiting" ? WAIT_MS : RETRY_MS;
      await pause(rests[Math.min(attempt, rests.length - 1)], closed.signal);
    }
  }

  // Events may come late, long after the end: look again when somebody comes back to the page.
  const cameBack = (): void => {
    if (document.visibilityState !== "visible" || status.value !== "ended") return;
    refresh().catch((reason: unknown) => {
      if (isUnknown(reason)) failed(reason);
    });
  };
  document.addEventListener("visibilitychange", cameBack);
  void run();

  return {
    execution,
    bytes,
    status,
    error,
    readAtMs,
    close,
  };
}

/** Whether this server says that it knows of no such execution; what stands in between says 404 without this code. */
function isUnknown(reason: unknown): boolean {
  return reason instanceof ApiError && reason.code === "NOT_FOUND";
}

/** Whether asking again is of no use. */
export function isRefusal(reason: unknown): boolean {
  return reason instanceof ApiError && reason.status >= 400 && reason.status < 500;
}

export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
