/** The table of operations: its lines as numbers, and their order. */

import type { OperationJson, OperationsJson } from "../../data/answers";
import { durationNs, operationName } from "../../data/values";
import { operationWords } from "../../model/words";

export interface OperationRow {
  operation: string;
  words: string;
  count: number;
  open: number;
  total: number;
  union: number;
  self: number;
  mean: number;
  p50: number;
  p95: number;
  max: number;
  critical: number;
  /** Id of the longest span; "" when there is none. */
  longest: string;
}

export const COLUMNS = ["critical", "count", "open", "total", "union", "self", "mean", "p50", "p95", "max"] as const;
export type NumberColumn = (typeof COLUMNS)[number];
export type SortColumn = NumberColumn | "operation";

export interface Sort {
  by: SortColumn;
  descending: boolean;
}

export const DEFAULT_SORT: Sort = { by: "critical", descending: true };

export function operationRows(answer: OperationsJson): OperationRow[] {
  return (answer.operations ?? []).map((json: OperationJson) => {
    const operation = operationName(json.operation);
    return {
      operation,
      words: operationWords(operation),
      count: Number(json.count ?? 0),
      open: Number(json.openCount ?? 0),
      total: durationNs(json.total),
      union: durationNs(json.union),
      self: durationNs(json.selfTime),
      mean: durationNs(json.mean),
      p50: durationNs(json.p50),
      p95: durationNs(json.p95),
      max: durationNs(json.max),
      critical: durationNs(json.critical),
      longest: json.longestSpanId ?? "",
    };
  });
}

/** In the order that is asked for; of the same value the longest total first, then by name. */
export function sortRows(rows: readonly OperationRow[], sort: Sort): OperationRow[] {
  const { by } = sort;
  const sign = sort.descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const order = by === "operation" ? a.words.localeCompare(b.words) : a[by] - b[by];
    return sign * order || b.total - a.total || a.words.localeCompare(b.words);
  });
}

/** "-total" for an address; "" for the order that is usual. */
export function encodeSort({ by, descending }: Sort): string {
  return by === DEFAULT_SORT.by && descending === DEFAULT_SORT.descending ? "" : `${descending ? "-" : ""}${by}`;
}

export function decodeSort(text: string): Sort {
  const name = text.replace(/^-/, "");
  const by = (["operation", ...COLUMNS] as const).find((column) => column === name);
  return by === undefined ? DEFAULT_SORT : { by, descending: text.startsWith("-") };
}

/** What choosing a column does to the order: numbers begin with the largest. */
export function chooseColumn(sort: Sort, by: SortColumn): Sort {
  return sort.by === by ? { by, descending: !sort.descending } : { by, descending: by !== "operation" };
}
