// Two durations as bars one above the other, with their text, and the difference.

import { formatDuration, formatExact } from "../../model/format";
import type { Delta } from "./deltas";

export function PairedBars({ row, most }: { row: Delta; most: number }) {
  const bar = (words: string, ns: number, count: number) => (
    <div class="cm-bar" title={formatExact(ns)}>
      <span class="cm-track" aria-hidden="true">
        <span class={`is-${words}`} style={{ width: `${(100 * ns) / (most || 1)}%` }} />
      </span>
      <span class="sr-only">{words} </span>
      <span class="cm-length">{count > 0 || ns > 0 ? formatDuration(ns) : "–"}</span>
    </div>
  );
  return (
    <>
      {bar("here", row.here, row.countHere)}
      {bar("there", row.there, row.countThere)}
    </>
  );
}
