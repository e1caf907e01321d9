/** The table of operations: its lines as numbers, and their order. */

import type { OperationsJson } from "../../data/answers";
import { durationNs, operationName } from "../../data/values";
import { operationWords } from "../../model/words";
import type { Sort } from "../Table";

export const COLUMNS = ["critical", "count", "open", "total", "union", "self", "mean", "p50", "p95", "max"] as const;
export type NumberColumn = (typeof COLUMNS)[number];
export const SORT_COLUMNS = ["operation", ...COLUMNS] as const;
export type SortColumn = (typeof SORT_COLUMNS)[number];

/** Numbers of a column: of spans, or nanoseconds. */
export interface OperationRow extends Record<NumberColumn, number> {
  operation: string;
  words: string;
  /** Id of the longest span; "" when there is none. */
  longest: string;
}

export const DEFAULT_SORT: Sort<SortColumn> = { by: "critical", descending: true };

export function operationRows(answer: OperationsJson): OperationRow[] {
  return (answer.operations ?? []).map((json) => {
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
export function sortRows(rows: readonly OperationRow[], { by, descending }: Sort<SortColumn>): OperationRow[] {
  return [...rows].sort((a, b) => {
    const byName = a.words.localeCompare(b.words);
    const order = by === "operation" ? byName : a[by] - b[by];
    return (descending ? -order : order) || b.total - a.total || byName;
  });
}

/** "-total" for an address; "" for the order that is usual. */
export function encodeSort({ by, descending }: Sort): string {
  const text = (descending ? "-" : "") + by;
  return text === `-${DEFAULT_SORT.by}` ? "" : text;
}

export function decodeSort(text: string): Sort<SortColumn> {
  const by = SORT_COLUMNS.find((column) => column === text.replace("-", ""));
  return by === undefined ? DEFAULT_SORT : { by, descending: text.startsWith("-") };
}

/** What choosing a column does to the order: numbers begin with the largest. */
export function chooseColumn(sort: Sort, by: SortColumn): Sort {
  return { by, descending: sort.by === by ? !sort.descending : by !== "operation" };
}
