// The line between names and bars: dragged, or moved by the arrow keys.

import type { Signal } from "@preact/signals";

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
    const startX = event.clientX;
    const startWidth = width.peek();
    element.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent): void => set(startWidth + moved.clientX - startX);
    const up = (): void => {
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", up);
      element.removeEventListener("pointercancel", up);
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", up);
    element.addEventListener("pointercancel", up);
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
