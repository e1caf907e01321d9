// The tooltip of a bar or of reasons.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { BarTip } from "./BarTip";
import { ReasonsTip } from "./ReasonsTip";
import type { Store } from "./store";
import { placeTip, type Place } from "./tip";
import type { TipControl } from "./tipControl";

interface Props {
  store: Store;
  tips: TipControl;
  /** Opens the details, where all reasons are. */
  onMore: () => void;
}

export function Tooltip({ store, tips, onMore }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const place = useSignal<Place>({ left: 0, top: 0 });
  const tip = tips.shown.value;
  const shown = store.shown.value;

  useLayoutEffect(() => {
    const box = element.current;
    if (box === null || tip === null) return;
    const put = (): void => {
      const next = placeTip(tip, box.offsetWidth, box.offsetHeight, window.innerWidth, window.innerHeight);
      if (next.left !== place.peek().left || next.top !== place.peek().top) place.value = next;
    };
    put();
    // A text that comes later makes it higher.
    const observer = new ResizeObserver(put);
    observer.observe(box);
    return () => observer.disconnect();
  }, [tip]);

  useSignalEffect(() => {
    if (tips.shown.value === null) return;
    const key = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && !event.defaultPrevented && tips.dismiss()) event.preventDefault();
    };
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  });

  if (tip === null) return null;
  const { subject } = tip;
  return (
    <div
      class="tl-tip"
      role="tooltip"
      ref={element}
      style={{ left: `${place.value.left}px`, top: `${place.value.top}px` }}
      onPointerEnter={() => tips.enter()}
      onPointerLeave={() => tips.leave()}
    >
      {subject.what === "reasons" && <ReasonsTip store={store} shown={shown} reasons={subject.reasons} item={subject.item} onMore={onMore} />}
      {subject.what === "bar" && <BarTip store={store} shown={shown} item={subject.item} segment={subject.segment} lead={subject.lead} />}
    </div>
  );
}
