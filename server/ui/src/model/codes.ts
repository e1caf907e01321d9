/** What the numbers of an execution mean: groups of operations, phases that failed, kinds. */

import type { Execution, Header } from "../data/execution";

/** Numbers of the groups, as in GROUP_NAMES of words.ts. They are also the order of painting. */
export const GROUP = { setup: 0, runtime: 1, teardown: 2, waiting: 3, none: 4 } as const;
export const GROUP_COUNT = 5;

const WAITING = new Set(["NODE_IDLE", "NODE_RESET", "NODE_TRANSITION"]);
const SETTING_UP = new Set(["QUEUED", "WAITING_FOR_RESOURCES", "INITIALIZING"]);
/** Phases of what failed, or is about to. */
export const FAILED: ReadonlySet<string> = new Set(["FAILED", "FAILING", "RETRYABLE_FAILED", "TIMED_OUT"]);

export interface Codes {
  /** Group of an operation. */
  groupOfOperation: Uint8Array;
  /** Group of a span that no operation explains and that contains nothing: by its phase. */
  groupOfPhase: Uint8Array;
  /** 1 for FAILED, FAILING, RETRYABLE_FAILED and TIMED_OUT. */
  failed: Uint8Array;
  kinds: { execution: number; node: number; attempt: number; subtask: number; operation: number };
  nodeKinds: { start: number; end: number };
  cacheHit: number;
  phases: { succeeded: number; aborted: number };
  operations: { nodeTransition: number };
  severities: { warning: number; error: number };
}

const known = new WeakMap<Header, Codes>();

/** Reads the names of a header once, so that loops compare numbers. A name that is missing is -1. */
export function codesOf(header: Header): Codes {
  let codes = known.get(header);
  if (codes === undefined) known.set(header, (codes = readCodes(header)));
  return codes;
}

function readCodes(header: Header): Codes {
  return {
    groupOfOperation: Uint8Array.from(header.operations, groupOf),
    groupOfPhase: Uint8Array.from(header.phases, (phase) => {
      if (SETTING_UP.has(phase)) return GROUP.setup;
      if (phase === "PAUSED") return GROUP.waiting;
      return phase === "UNSPECIFIED" || phase === "SKIPPED" ? GROUP.none : GROUP.runtime;
    }),
    failed: Uint8Array.from(header.phases, (phase) => (FAILED.has(phase) ? 1 : 0)),
    kinds: {
      execution: header.kinds.indexOf("EXECUTION"),
      node: header.kinds.indexOf("NODE"),
      attempt: header.kinds.indexOf("TASK_ATTEMPT"),
      subtask: header.kinds.indexOf("SUBTASK"),
      operation: header.kinds.indexOf("OPERATION"),
    },
    nodeKinds: { start: header.node_kinds.indexOf("START"), end: header.node_kinds.indexOf("END") },
    cacheHit: header.cache_statuses.indexOf("HIT"),
    phases: {
      succeeded: header.phases.indexOf("SUCCEEDED"),
      aborted: header.phases.indexOf("ABORTED"),
    },
    operations: {
      nodeTransition: header.operations.indexOf("NODE_TRANSITION"),
    },
    severities: {
      warning: header.severities.indexOf("WARNING"),
      error: header.severities.indexOf("ERROR"),
    },
  };
}

/** The parts of a set-up count as set-up, so that sums of groups are those of Flyte's operations. */
function groupOf(operation: string): number {
  if (operation === "UNSPECIFIED") return GROUP.none;
  if (WAITING.has(operation)) return GROUP.waiting;
  if (operation.endsWith("_TEARDOWN")) return GROUP.teardown;
  return operation === "TASK_RUNTIME" ? GROUP.runtime : GROUP.setup;
}

/** End of a span, or `now` while it is open; never before its start. */
export function endOf(execution: Execution, span: number, now: number): number {
  const { start, end } = execution.spans;
  return closedEnd(start[span], end[span], now);
}

/** An end, where NaN and Infinity are open: then `now`, but not before the start. */
export function closedEnd(start: number, end: number, now: number): number {
  return end < Infinity ? end : Math.max(now, start);
}
