/** Executions that tests of the model share. */

import type { Execution } from "../src/data/columns";
import { seeded, type SpanInput, makeExecution } from "./synthetic";

export const SECOND = 1e9;

/** A span of an operation. */
export function operation(
  name: NonNullable<SpanInput["operation"]>,
  depth: number,
  start: number,
  end: number | null,
): SpanInput {
  return { name, depth, start, end, operation: name };
}

/**
 * A small run: two nodes of one attempt, one node of two attempts, a map task of four sub-tasks of
 * which one failed, and a cached node.
 *
 * ```
 * f1            0..100
 *   n0          0..30    one attempt
 *   n1          30..60   attempts 30..40 (failed) and 45..60
 *   n2          60..90   one attempt with sub-tasks [0]..[3]
 *   n3          90..92   cached
 *   n4          92..     open
 * ```
 */
export function smallRun(): Execution {
  const spans: SpanInput[] = [
    { name: "f1", depth: 0, start: 0, end: null, phase: "RUNNING", id: 1n },
    operation("WORKFLOW_SETUP", 1, 0, SECOND),
    { name: "start-node", depth: 1, start: 0, end: SECOND, kind: "NODE", nodeKind: "START", phase: "SUCCEEDED", id: 2n },
    { name: "n0", depth: 1, start: 2 * SECOND, end: 30 * SECOND, kind: "NODE", nodeKind: "TASK", phase: "SUCCEEDED", label: "load", id: 3n },
    operation("NODE_SETUP", 2, 2 * SECOND, 3 * SECOND),
    { name: "0", depth: 2, start: 3 * SECOND, end: 29 * SECOND, kind: "TASK_ATTEMPT", phase: "SUCCEEDED", id: 4n, reasons: [
      { at: 4 * SECOND, message: "Pulling image registry/load:1", phase: "INITIALIZING", severity: "INFO" },
      { at: 9 * SECOND, message: "Pulled image", phase: "INITIALIZING", severity: "INFO" },
    ] },
    operation("TASK_SETUP", 3, 3 * SECOND, 10 * SECOND),
    operation("QUEUED", 4, 3 * SECOND, 4 * SECOND),
    operation("IMAGE_PULL", 4, 4 * SECOND, 9 * SECOND),
    operation("TASK_RUNTIME", 3, 10 * SECOND, 29 * SECOND),
    operation("NODE_TEARDOWN", 2, 29 * SECOND, 30 * SECOND),
    operation("NODE_TRANSITION", 1, 30 * SECOND, 31 * SECOND),
    { name: "n1", depth: 1, start: 31 * SECOND, end: 60 * SECOND, kind: "NODE", nodeKind: "TASK", phase: "SUCCEEDED", label: "train", id: 5n },
    { name: "0", depth: 2, start: 31 * SECOND, end: 40 * SECOND, kind: "TASK_ATTEMPT", phase: "RETRYABLE_FAILED", attempt: 0, id: 6n, reasons: [
      { at: 40 * SECOND, message: "OOMKilled", phase: "RETRYABLE_FAILED", severity: "ERROR" },
    ] },
    operation("TASK_RUNTIME", 3, 31 * SECOND, 40 * SECOND),
    operation("NODE_RESET", 2, 40 * SECOND, 45 * SECOND),
    { name: "1", depth: 2, start: 45 * SECOND, end: 60 * SECOND, kind: "TASK_ATTEMPT", phase: "SUCCEEDED", attempt: 1, id: 7n },
    operation("TASK_RUNTIME", 3, 45 * SECOND, 60 * SECOND),
    { name: "n2", depth: 1, start: 60 * SECOND, end: 90 * SECOND, kind: "NODE", nodeKind: "ARRAY", phase: "SUCCEEDED", label: "score", id: 8n },
    { name: "0", depth: 2, start: 60 * SECOND, end: 90 * SECOND, kind: "TASK_ATTEMPT", phase: "SUCCEEDED", id: 9n },
    operation("TASK_RUNTIME", 3, 61 * SECOND, 90 * SECOND),
    ...[0, 1, 2, 3].map((k): SpanInput => ({
      name: `[${k}]`, depth: 3, start: (61 + k) * SECOND, end: (80 + k) * SECOND, kind: "SUBTASK",
      phase: k === 2 ? "FAILED" : "SUCCEEDED", label: `pod-${k}`, id: BigInt(10 + k),
    })),
    { name: "n3", depth: 1, start: 90 * SECOND, end: 92 * SECOND, kind: "NODE", nodeKind: "TASK", phase: "SUCCEEDED", cache: "HIT", id: 20n },
    { name: "n4", depth: 1, start: 92 * SECOND, end: null, kind: "NODE", nodeKind: "TASK", phase: "RUNNING", id: 21n },
    { name: "0", depth: 2, start: 92 * SECOND, end: null, kind: "TASK_ATTEMPT", phase: "RUNNING", id: 22n },
    operation("TASK_RUNTIME", 3, 93 * SECOND, null),
  ];
  return makeExecution({ spans, asOf: 100 * SECOND });
}

/** Index of the first span of a name; throws when there is none. */
export function spanNamed(execution: Execution, name: string): number {
  const { spans, strings } = execution;
  for (let i = 0; i < spans.count; i++) if (strings.get(spans.name[i]) === name) return i;
  throw new Error(`no span is called ${name}`);
}

export { seeded };
