// Shares of the groups as one bar.

import { GROUP_NAMES, groupWords } from "../model/words";
import { groupTimes } from "./rowFacts";
import type { Shown } from "./store";

export function GroupBar({ shown, span, now }: { shown: Shown; span: number; now: number }) {
  const times = groupTimes(shown, span, now);
  return (
    <div class="tl-group-bar" aria-hidden="true">
      {Array.from(times, (time, group) =>
        time === 0 ? null : (
          <span
            key={group}
            class={`tl-swatch is-${GROUP_NAMES[group]}`}
            title={groupWords(GROUP_NAMES[group])}
            style={{ flexGrow: time }}
          />
        ),
      )}
    </div>
  );
}
