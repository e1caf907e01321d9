// What runs in the lanes of packed mode. The span that the keyboard is at is told by the live region.

import { useComputed } from "@preact/signals";
import { ROW_PX } from "../draw/scene";
import { visible } from "../model/visible";
import { plural } from "../model/words";
import type { Store } from "./store";

export function LaneNames({ store }: { store: Store }) {
  const first = useComputed(() => Math.max(0, Math.floor(store.scrollTop.value / ROW_PX)));
  const packed = store.work.packed.value;
  const names = [];
  if (packed !== null) {
    const { lanes, execution } = packed;
    const last = Math.min(lanes.count, first.value + Math.ceil(store.height.value / ROW_PX) + 1);
    for (let lane = first.value; lane < last; lane++) {
      const isFirst = lane === 0 || lanes.key[lane] !== lanes.key[lane - 1];
      const isLast = lane + 1 === lanes.count || lanes.key[lane] !== lanes.key[lane + 1];
      // The name stands at the first lane of a task, or at the top when that is scrolled out.
      const isNamed = isFirst || lane === first.value;
      const top = lane * ROW_PX - store.scrollTop.value;
      names.push(
        <div
          key={lane}
          class={`tl-lane${isLast ? " is-last" : ""}`}
          style={{ transform: `translateY(${isNamed && !isLast ? Math.max(0, top) : top}px)` }}
        >
          {isNamed && <span class="tl-name-text">{visible(execution.strings.get(lanes.key[lane]))}</span>}
        </div>,
      );
    }
  }
  return (
    <div
      class="tl-tree tl-lanes"
      role="application"
      aria-label={`Spans by task: ${packed === null ? "being packed" : plural(packed.lanes.span.length, "span")}. Arrow keys go from span to span.`}
      tabIndex={0}
      data-keys="tree"
    >
      {names}
    </div>
  );
}
