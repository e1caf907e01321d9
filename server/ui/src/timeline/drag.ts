// A press of the pointer, followed until it is let go.

/**
 * Follows the pointer of a press on `element`, wherever it goes.
 *
 * @param moved is also called with the release, whose place may be a new one.
 * @param ended gets whether the pointer was let go; it may have been taken away as well.
 */
export function followPress(
  element: HTMLElement,
  press: PointerEvent,
  moved: (event: PointerEvent) => void,
  ended: (isReleased: boolean) => void = () => undefined,
): void {
  const over = new AbortController();
  const done = (event: PointerEvent): void => {
    over.abort();
    const isReleased = event.type === "pointerup";
    if (isReleased) moved(event);
    ended(isReleased);
  };
  element.setPointerCapture(press.pointerId);
  element.addEventListener("pointermove", moved, over);
  element.addEventListener("pointerup", done, over);
  element.addEventListener("pointercancel", done, over);
}
