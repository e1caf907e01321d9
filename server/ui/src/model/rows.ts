/**
 * Which spans are rows, and in what order.
 *
 * Executions, nodes, sub-tasks, and attempts of nodes with several are rows. Operations are not:
 * they colour the bar of what contains them. The only attempt of a node is not: what it has shows
 * in the row of the node. Nor are the nodes that mark start and end of a workflow, unless something
 * failed there or has a reason.
 *
 * An item is a span that can be a row; items are numbered in pre-order. A row is an item that is
 * shown: rows are numbered from top to bottom.
 */

import type { Execution, Spans } from "../data/execution";
import { codesOf } from "./codes";
import type { Collapse } from "./collapse";

/** The items of an execution: they change with its revision only. Arrays are by item. */
export interface RowTree {
  spans: Spans;
  count: number;
  /** Span of an item. */
  span: Int32Array;
  /** Item that shows a span: its own, or the nearest above. By span; never -1. */
  itemOfSpan: Int32Array;
  /** Item that contains an item; -1 for the root. */
  parent: Int32Array;
  /** Index behind the last descendant. */
  end: Int32Array;
  /** From 1 for the root, as aria-level. */
  level: Uint16Array;
  /** 1 where an item contains items. */
  hasChildren: Uint8Array;
  /** 1 for those open unless the reader says otherwise: not those with nothing but attempts or sub-tasks. */
  openByDefault: Uint8Array;
}

export function makeRowTree(execution: Execution): RowTree {
  const { spans } = execution;
  const isItem = findItems(execution);
  let count = 0;
  for (let i = 0; i < spans.count; i++) count += isItem[i];
  const tree: RowTree = {
    spans,
    count,
    span: new Int32Array(count),
    itemOfSpan: new Int32Array(spans.count),
    parent: new Int32Array(count),
    end: new Int32Array(count),
    level: new Uint16Array(count),
    hasChildren: new Uint8Array(count),
    openByDefault: new Uint8Array(count),
  };
  const { execution: executionKind, node } = codesOf(execution.header).kinds;
  let item = 0;
  for (let i = 0; i < spans.count; i++) {
    const above = i === 0 ? -1 : tree.itemOfSpan[spans.parent[i]];
    if (!isItem[i]) {
      tree.itemOfSpan[i] = above;
      continue;
    }
    tree.span[item] = i;
    tree.itemOfSpan[i] = item;
    tree.parent[item] = above;
    tree.level[item] = above < 0 ? 1 : tree.level[above] + 1;
    if (above >= 0) {
      tree.hasChildren[above] = 1;
      if (spans.kind[i] === node || spans.kind[i] === executionKind) tree.openByDefault[above] = 1;
    }
    item++;
  }
  for (let i = count - 1; i >= 0; i--) {
    if (tree.end[i] === 0) tree.end[i] = i + 1;
    const above = tree.parent[i];
    if (above >= 0 && tree.end[above] === 0) tree.end[above] = tree.end[i];
  }
  return tree;
}

/** What is shown. Arrays are by row unless they say otherwise. */
export interface Rows {
  count: number;
  /** Item of a row. */
  item: Int32Array;
  /** Span of a row. */
  span: Int32Array;
  /** Row that shows an item: its own, or that of the shut one around it; -1 when filtered out. By item. */
  rowOfItem: Int32Array;
  /** Place among the siblings that are shown, from 1, as aria-posinset. */
  position: Int32Array;
  /** How many siblings are shown, as aria-setsize. By item of the parent; use setSize(). */
  shownChildren: Int32Array;
  /** 1 where the row contains rows and shows them, 2 where it hides them, 0 where it contains none. */
  state: Uint8Array;
}

export const ROW_LEAF = 0;
export const ROW_OPEN = 1;
export const ROW_SHUT = 2;

/**
 * Gives the rows in one pass over the items.
 *
 * @param keep 1 for the items that a filter leaves, with all that contain them; absent: all
 */
export function makeRows(tree: RowTree, collapse: Collapse, keep?: Uint8Array): Rows {
  const isOpen = collapse.openItems(tree);
  const rowOfItem = new Int32Array(tree.count).fill(-1);
  const item = new Int32Array(tree.count);
  const position = new Int32Array(tree.count);
  const state = new Uint8Array(tree.count);
  const shownChildren = new Int32Array(tree.count + 1);
  let count = 0;
  for (let i = 0; i < tree.count; ) {
    if (keep !== undefined && !keep[i]) {
      i = tree.end[i];
      continue;
    }
    item[count] = i;
    rowOfItem[i] = count;
    position[count] = ++shownChildren[tree.parent[i] + 1];
    if (!tree.hasChildren[i]) {
      state[count] = ROW_LEAF;
      i++;
    } else if (isOpen[i]) {
      state[count] = ROW_OPEN;
      i++;
    } else {
      state[count] = ROW_SHUT;
      rowOfItem.fill(count, i, tree.end[i]);
      i = tree.end[i];
    }
    count++;
  }
  const rows = {
    count,
    item: item.slice(0, count),
    span: new Int32Array(count),
    rowOfItem,
    position: position.slice(0, count),
    shownChildren,
    state: state.slice(0, count),
  };
  for (let row = 0; row < count; row++) rows.span[row] = tree.span[rows.item[row]];
  return rows;
}

/** How many siblings a row has on show, itself included. */
export function setSize(tree: RowTree, rows: Rows, row: number): number {
  return rows.shownChildren[tree.parent[rows.item[row]] + 1];
}

/** Row of what contains a row; -1 for the root. */
export function parentRow(tree: RowTree, rows: Rows, row: number): number {
  const above = tree.parent[rows.item[row]];
  return above < 0 ? -1 : rows.rowOfItem[above];
}

/** Row that shows a span now, if need be that of a shut one around it; -1 when filtered out. */
export function rowOfSpan(tree: RowTree, rows: Rows, span: number): number {
  return rows.rowOfItem[tree.itemOfSpan[span]];
}

/** Sub-tasks below an item by how they stand. A sub-task that was tried again counts once per try. */
export interface SubtaskCounts {
  total: number;
  succeeded: number;
  failed: number;
  open: number;
  /** Aborted, skipped, and all others. */
  other: number;
}

export function countSubtasks(execution: Execution, tree: RowTree, item: number): SubtaskCounts {
  const { spans } = execution;
  const codes = codesOf(execution.header);
  const counts = { total: 0, succeeded: 0, failed: 0, open: 0, other: 0 };
  const span = tree.span[item];
  for (let i = span + 1; i < spans.subtreeEnd[span]; i++) {
    if (spans.kind[i] !== codes.kinds.subtask) continue;
    counts.total++;
    if (codes.failed[spans.phase[i]]) counts.failed++;
    else if (spans.phase[i] === codes.phases.succeeded) counts.succeeded++;
    else if (spans.end[i] !== spans.end[i]) counts.open++;
    else counts.other++;
  }
  return counts;
}

function findItems(execution: Execution): Uint8Array {
  const { spans } = execution;
  const { kinds, nodeKinds, failed } = codesOf(execution.header);
  const isItem = new Uint8Array(spans.count);
  const attempts = new Uint32Array(spans.count); // of a span, by parent
  for (let i = 0; i < spans.count; i++) {
    if (spans.kind[i] === kinds.attempt && spans.parent[i] >= 0) attempts[spans.parent[i]]++;
  }
  for (let i = 0; i < spans.count; i++) {
    if (i === 0) isItem[i] = 1;
    else if (spans.kind[i] === kinds.operation) continue;
    else if (spans.kind[i] === kinds.attempt) isItem[i] = attempts[spans.parent[i]] > 1 ? 1 : 0;
    else if (spans.nodeKind[i] === nodeKinds.start || spans.nodeKind[i] === nodeKinds.end) {
      isItem[i] = failed[spans.phase[i]] || hasReasonOrItem(execution, i, kinds.operation) ? 1 : 0;
    } else isItem[i] = 1;
  }
  return isItem;
}

/** Whether a span or something in it has a reason, or anything but operations is in it. */
function hasReasonOrItem(execution: Execution, span: number, operation: number): boolean {
  const { reasonFirst, subtreeEnd, kind } = execution.spans;
  const end = subtreeEnd[span];
  if (reasonFirst[end] > reasonFirst[span]) return true;
  for (let i = span + 1; i < end; i++) if (kind[i] !== operation) return true;
  return false;
}
