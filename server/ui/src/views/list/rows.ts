/** Lines of the list of executions. */

import type { ExecutionSummaryJson } from "../../data/answers";
import { durationNs, phaseName, timeNs } from "../../data/values";
import { formatPath, type ExecutionPath } from "../../model/url";

export interface ListRow {
  key: string;
  path: ExecutionPath;
  phase: string;
  startNs: bigint | null;
  /** Null while it is open. */
  endNs: bigint | null;
  /** Name of the workflow; "" when it is not known. */
  workflow: string;
  version: string;
  usualNs: number;
  usualP95Ns: number;
  usualCount: number;
  isSlower: boolean;
}

export function rowOf(json: ExecutionSummaryJson): ListRow {
  const { project = "", domain = "", name = "" } = json.executionId ?? {};
  const path = { project, domain, name };
  return {
    key: formatPath(path),
    path,
    phase: phaseName(json.phase),
    startNs: timeNs(json.startTime),
    endNs: timeNs(json.endTime),
    workflow: json.workflowId?.name ?? "",
    version: json.workflowId?.version ?? "",
    usualNs: durationNs(json.usual?.p50),
    usualP95Ns: durationNs(json.usual?.p95),
    usualCount: Number(json.usual?.sampleCount ?? 0),
    isSlower: json.slowerThanUsual === true,
  };
}

/** Nanoseconds from start to end, or to now; NaN when it has not started. */
export function tookNs(row: ListRow, nowNs: bigint): number {
  if (row.startNs === null) return NaN;
  const end = row.endNs ?? nowNs;
  return end > row.startNs ? Number(end - row.startNs) : 0;
}

export interface Merged {
  /** The lines that were shown, with what is known of them now, in their places. */
  rows: ListRow[];
  /** Lines that are new and belong before the first one that is shown. */
  newer: ListRow[];
}

/**
 * Brings what is shown up to date without moving anything: lines keep their places, also those that the answer does not
 * tell of any more. `fresh` is the newest first.
 */
export function mergeRows(shown: readonly ListRow[], fresh: readonly ListRow[]): Merged {
  const byKey = new Map(fresh.map((row) => [row.key, row]));
  const known = new Set(shown.map(({ key }) => key));
  const rows = shown.map((row) => byKey.get(row.key) ?? row);
  const first = fresh.findIndex((row) => known.has(row.key));
  return { rows, newer: first < 0 ? [...fresh] : fresh.slice(0, first) };
}
