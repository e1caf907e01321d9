// What a row says in words about its span.

import { GROUP, GROUP_COUNT } from "../model/codes";
import { formatShare } from "../model/format";
import { countSubtasks } from "../model/rows";
import { visible } from "../model/visible";
import { GROUP_NAMES, groupWords, nodeKindWords, qualitiesOf, subtaskWords } from "../model/words";
import type { Shown } from "./store";

/** Shares below are not told in a line. */
const LEAST_SHARE = 0.005;

/** The own name of a span, as it can be shown. */
export function nameOf({ execution }: Shown, span: number): string {
  return visible(execution.strings.get(execution.spans.name[span]));
}

/** The name of a span for people: attempts go by their number. */
export function spanName(shown: Shown, span: number): string {
  const { spans } = shown.execution;
  return spans.kind[span] === shown.codes.kinds.attempt ? `attempt ${spans.attempt[span]}` : nameOf(shown, span);
}

/** The second line of a span; "" for none. */
export function labelOf({ execution }: Shown, span: number): string {
  const label = execution.spans.label[span];
  return label < 0 ? "" : visible(execution.strings.get(label));
}

/** Kind of a node where it says more than that it runs a task. */
export function kindHint(shown: Shown, span: number): string {
  const { spans, header } = shown.execution;
  if (spans.kind[span] !== shown.codes.kinds.node) return "";
  const kind = header.node_kinds[spans.nodeKind[span]];
  return kind === "UNSPECIFIED" || kind === "TASK" ? "" : nodeKindWords(kind).toLowerCase();
}

/** How the sub-tasks below a row stand; "" when there are none. */
export function subtasksOf(shown: Shown, span: number): string {
  return subtaskWords(countSubtasks(shown.execution, shown.tree, shown.tree.itemOfSpan[span]));
}

/** A quality flag of what a row shows. */
export interface Flag {
  /** Whose flag it is, as "attempt 0"; "" for the span itself. */
  owner: string;
  quality: string;
}

/** The quality flags of a span, and those of the only attempt of a node, which has no row of its own. */
export function flagsOf(shown: Shown, span: number): Flag[] {
  const { spans, header } = shown.execution;
  const flags = (of: number, owner: string): Flag[] =>
    qualitiesOf(spans.qualities[of], header.qualities).map((quality) => ({ owner, quality }));
  const all = flags(span, "");
  const item = shown.tree.itemOfSpan[span];
  for (let i = span + 1; i < spans.subtreeEnd[span]; i = spans.subtreeEnd[i]) {
    if (spans.kind[i] === shown.codes.kinds.attempt && shown.tree.itemOfSpan[i] === item) all.push(...flags(i, spanName(shown, i)));
  }
  return all;
}

/** Nanoseconds of each group on a bar, up to `now`. */
export function groupTimes(shown: Shown, span: number, now: number): Float64Array {
  const bar = shown.bars.of(shown.tree.itemOfSpan[span]);
  const times = new Float64Array(GROUP_COUNT);
  for (let i = 0; i < bar.count; i++) {
    const start = Math.max(bar.segmentStart[i], bar.start);
    const end = Math.min(bar.segmentEnd[i], bar.end, Math.max(now, start));
    if (end > start) times[bar.group[i]] += end - start;
  }
  return times;
}

/** Shares of the groups, the largest first: "runtime 82 %, set-up 15 %". */
export function groupSummary(shown: Shown, span: number, now: number): string {
  const times = groupTimes(shown, span, now);
  const total = times.reduce((sum, time) => sum + time, 0);
  if (total === 0) return "";
  return Array.from(times, (time, group) => ({ time, group }))
    .filter(({ time, group }) => time >= total * LEAST_SHARE && group !== GROUP.none)
    .sort((a, b) => b.time - a.time)
    .map(({ time, group }) => `${groupWords(GROUP_NAMES[group]).toLowerCase()} ${formatShare(time, total)}`)
    .join(", ");
}
