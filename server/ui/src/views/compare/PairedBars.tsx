// Two durations as bars one above the other, with their text, and the difference.

import { formatDuration, formatExact } from "../../model/format";
import { signed, type Delta } from "./deltas";

/** Differences below are as good as none. */
const LEAST_SHARE = 0.005;

export function PairedBars({ row, most }: { row: Delta; most: number }) {
  const difference = row.here - row.there;
  const isSlower = difference > LEAST_SHARE * Math.max(row.here, row.there);
  return (
    <>
      <td class="cm-bars">
        <Bar kind="is-here" ns={row.here} most={most} isThere={row.countHere > 0 || row.here > 0} />
        <Bar kind="is-there" ns={row.there} most={most} isThere={row.countThere > 0 || row.there > 0} />
      </td>
      <td class={isSlower ? "is-number vw-warn" : "is-number"} title={formatExact(difference)}>
        {difference !== 0 && <span aria-hidden="true">{difference > 0 ? "▲ " : "▼ "}</span>}
        {signed(difference)}
      </td>
    </>
  );
}

function Bar({ kind, ns, most, isThere }: { kind: "is-here" | "is-there"; ns: number; most: number; isThere: boolean }) {
  return (
    <div class="cm-bar" title={formatExact(ns)}>
      <span class="cm-track" aria-hidden="true">
        <span class={kind} style={{ width: `${most > 0 ? (100 * ns) / most : 0}%` }} />
      </span>
      <span class="vw-number">
        <span class="sr-only">{kind === "is-here" ? "here " : "there "}</span>
        {isThere ? formatDuration(ns) : "–"}
      </span>
    </div>
  );
}
