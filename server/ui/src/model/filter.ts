/** Which rows a filter leaves: those that match, and all that contain them. */

import type { Execution } from "../data/execution";
import { codesOf, endOf } from "./codes";
import type { RowTree } from "./rows";
import { GROUP_NAMES, type GroupName } from "./words";

/** Every condition that is set must hold; of a list, one entry. */
export interface Filter {
  /** Failed, timed out, failing, or an attempt that failed. */
  failed: boolean;
  /** Longer than this share of the run, in per cent; 0: any length. */
  longerThan: number;
  /** Contains time of one of these groups, itself or in its only attempt. */
  groups: readonly GroupName[];
  /** The same for operations, by name. */
  operations: readonly string[];
  /** Phases, by name. */
  phases: readonly string[];
}

export const NO_FILTER: Filter = { failed: false, longerThan: 0, groups: [], operations: [], phases: [] };

export function isEmptyFilter(filter: Filter): boolean {
  return (
    !filter.failed &&
    filter.longerThan === 0 &&
    filter.groups.length + filter.operations.length + filter.phases.length === 0
  );
}

export interface Filtered {
  /** 1 for items that match or contain one that does. By item, for makeRows. */
  keep: Uint8Array;
  /** 1 for items that match. */
  matches: Uint8Array;
  count: number;
}

/**
 * Gives the items that a filter leaves. Takes one step for each span.
 *
 * @param now end of what is open
 */
export function filterItems(execution: Execution, tree: RowTree, filter: Filter, now: number): Filtered {
  const { spans, header } = execution;
  const codes = codesOf(header);
  const least = (filter.longerThan / 100) * (endOf(execution, 0, now) - spans.start[0]);
  const phases = new Set(filter.phases.map((phase) => header.phases.indexOf(phase)));
  const wantsOperation = filter.groups.length + filter.operations.length > 0;
  const isWanted = header.operations.map(
    (name, operation) =>
      (filter.groups.length === 0 ||
        filter.groups.includes(GROUP_NAMES[codes.groupOfOperation[operation]])) &&
      (filter.operations.length === 0 || filter.operations.includes(name)),
  );
  const hasOperation = new Uint8Array(tree.count);
  if (wantsOperation) {
    for (let i = 0; i < spans.count; i++) {
      if (spans.kind[i] !== codes.kinds.operation || !isWanted[spans.operation[i]]) continue;
      hasOperation[tree.itemOfSpan[i]] = 1;
    }
  }
  const matches = new Uint8Array(tree.count);
  const keep = new Uint8Array(tree.count);
  let count = 0;
  for (let item = 0; item < tree.count; item++) {
    const span = tree.span[item];
    if (wantsOperation && !hasOperation[item]) continue;
    if (filter.failed && !codes.failed[spans.phase[span]]) continue;
    if (phases.size > 0 && !phases.has(spans.phase[span])) continue;
    if (filter.longerThan > 0 && endOf(execution, span, now) - spans.start[span] <= least) continue;
    matches[item] = 1;
    count++;
    for (let above = item; above >= 0 && !keep[above]; above = tree.parent[above]) keep[above] = 1;
  }
  return { keep, matches, count };
}

/** Text for an address: failed,over:5,group:setup,op:IMAGE_PULL,phase:FAILED. */
export function encodeFilter(filter: Filter): string {
  return [
    ...(filter.failed ? ["failed"] : []),
    ...(filter.longerThan > 0 ? [`over:${filter.longerThan}`] : []),
    ...filter.groups.map((group) => `group:${group}`),
    ...filter.operations.map((operation) => `op:${operation}`),
    ...filter.phases.map((phase) => `phase:${phase}`),
  ].join(",");
}

/** Reads what encodeFilter wrote. What it cannot read is left out. */
export function decodeFilter(text: string): Filter {
  const filter = { failed: false, longerThan: 0, groups: new Set<GroupName>(), operations: new Set<string>(), phases: new Set<string>() };
  for (const part of text.split(",")) {
    const colon = part.indexOf(":");
    const key = colon < 0 ? part : part.slice(0, colon);
    const value = colon < 0 ? "" : part.slice(colon + 1);
    if (key === "failed") filter.failed = true;
    else if (key === "over") filter.longerThan = percent(value);
    else if (key === "group") {
      const group = GROUP_NAMES.find((name) => name === value);
      if (group !== undefined) filter.groups.add(group);
    } else if (/^[A-Z][A-Z_]*$/.test(value)) {
      if (key === "op") filter.operations.add(value);
      else if (key === "phase") filter.phases.add(value);
    }
  }
  return {
    failed: filter.failed,
    longerThan: filter.longerThan,
    groups: [...filter.groups],
    operations: [...filter.operations],
    phases: [...filter.phases],
  };
}

function percent(text: string): number {
  const value = /^[\d.]+(e-?\d+)?$/.test(text) ? Number(text) : NaN;
  return value > 0 && value <= 100 ? value : 0;
}
