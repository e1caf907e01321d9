// The line between names and bars: dragged, or moved by the arrow keys.

import type { Signal } from "@preact/signals";
import { followPress } from "./drag";

export const LEAST_TREE_PX = 120;
const STEP_PX = 16;

interface Props {
  width: Signal<number>;
  /** Most that the names may take. */
  most: () => number;
}

export function Divider({ width, most }: Props) {
  const set = (value: number): void => {
    width.value = Math.round(Math.max(LEAST_TREE_PX, Math.min(value, most())));
  };
  const drag = (event: PointerEvent): void => {
    const element = event.currentTarget as HTMLElement;
    const start = width.peek() - event.clientX;
    followPress(element, event, (moved) => set(start + moved.clientX));
    event.preventDefault();
    element.focus();
  };
  const key = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowLeft" ? -STEP_PX : event.key === "ArrowRight" ? STEP_PX : 0;
    if (step === 0) return;
    event.preventDefault();
    event.stopPropagation();
    set(width.peek() + step);
  };
  return (
    <div
      class="tl-divider"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the names"
      aria-valuenow={width.value}
      aria-valuemin={LEAST_TREE_PX}
      aria-valuemax={most()}
      tabIndex={0}
      onPointerDown={drag}
      onKeyDown={key}
    />
  );
}
