// What a bar says: what it is, how long it took, and what the part under the pointer was spent on.

import { SEVERAL } from "../model/bars";
import { GROUP_COUNT } from "../model/codes";
import { formatDuration, formatMoment, formatOffset, formatShare } from "../model/format";
import { cacheWords, groupWords, GROUP_NAMES, operationWords, phaseWords, qualityWords } from "../model/words";
import { PhaseGlyph } from "./Icon";
import { flagsOf, groupTimes, kindHint, labelOf, spanName, subtasksOf, type Flag } from "./rowFacts";
import type { Shown, Store } from "./store";

interface Props {
  store: Store;
  shown: Shown;
  item: number;
  /** Segment under the pointer; -1 for none. */
  segment: number;
  /** Whether the pointer is on the way from the node before. */
  lead: boolean;
}

export function BarTip({ store, shown, item, segment, lead }: Props) {
  const { execution, codes } = shown;
  const { header } = execution;
  const bar = shown.bars.of(item);
  const span = bar.span;
  const isOpen = bar.end === Infinity;
  const now = isOpen ? store.now.value : store.now.peek();
  const end = isOpen ? Math.max(now, bar.start) : bar.end;
  const zone = store.state.tz.value;
  const phase = header.phases[bar.phase];
  const label = labelOf(shown, span);
  const subtasks = subtasksOf(shown, span);
  const hint = kindHint(shown, span);
  const flags = flagsOf(shown, span);
  return (
    <>
      <div class="tl-tip-head">
        <PhaseGlyph phase={phase} failed={codes.failed[bar.phase] === 1} />
        <strong>{spanName(shown, span)}</strong>
        <span>{phaseWords(phase).text}</span>
        {hint !== "" && <span class="tl-muted">{hint}</span>}
      </div>
      {label !== "" && <div class="tl-muted tl-wrap">{label}</div>}
      {bar.isCached && <div>{cacheWords("HIT")}</div>}
      <div class="tl-tip-length">
        <b>{formatDuration(end - bar.start)}</b> {isOpen ? "so far" : ""}
        {bar.pieces.length > 1 && `, ${bar.pieces.length} attempts`}
      </div>
      {subtasks !== "" && <div>{subtasks}</div>}
      {lead ? (
        <p class="tl-tip-part">
          {operationWords("NODE_TRANSITION")}: <b>{formatDuration(bar.start - bar.leadStart)}</b>
        </p>
      ) : (
        segment >= 0 && <Part shown={shown} item={item} segment={segment} now={now} />
      )}
      <Groups shown={shown} span={span} now={now} />
      <div class="tl-tip-times">
        <time>{formatMoment(execution.startNs, bar.start, zone)}</time>
        <span>
          <b>{formatOffset(bar.start)}</b> from the start of the run
        </span>
      </div>
      {flags.length > 0 && <p class="tl-tip-flags">{flags.map(flagWords).join(" · ")}</p>}
    </>
  );
}

function flagWords({ owner, quality }: Flag): string {
  const { title } = qualityWords(quality);
  return owner === "" ? title : `${owner}: ${title.toLowerCase()}`;
}

function Part({ shown, item, segment, now }: { shown: Shown; item: number; segment: number; now: number }) {
  const bar = shown.bars.of(item);
  const start = bar.segmentStart[segment];
  const end = Math.min(bar.segmentEnd[segment], Math.max(now, start));
  const operation = bar.operation[segment];
  const group = GROUP_NAMES[bar.group[segment]];
  const name =
    operation === SEVERAL
      ? `${groupWords(group)}, several at once`
      : operation === 0
        ? groupWords(group)
        : operationWords(shown.execution.header.operations[operation]);
  return (
    <p class="tl-tip-part">
      <span class={`tl-swatch is-${group}`} /> Here: {name}, <b>{formatDuration(end - start)}</b>
    </p>
  );
}

/** Time by group, as text. */
export function Groups({ shown, span, now }: { shown: Shown; span: number; now: number }) {
  const times = groupTimes(shown, span, now);
  const total = times.reduce((sum, time) => sum + time, 0);
  const entries = [];
  for (let group = 0; group < GROUP_COUNT; group++) {
    if (times[group] === 0) continue;
    entries.push(
      <li key={group}>
        <span class={`tl-swatch is-${GROUP_NAMES[group]}`} />
        <span>{groupWords(GROUP_NAMES[group])}</span>
        <span class="tl-number">{formatDuration(times[group])}</span>
        <span class="tl-number tl-muted">{formatShare(times[group], total)}</span>
      </li>,
    );
  }
  return <ul class="tl-groups">{entries}</ul>;
}
