// Which keys are none of a view's.

/** Keys that belong to a field, or are part of a chord. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  const target = event.target as HTMLElement;
  return target.closest("input:not([type=checkbox]):not([type=radio]), select, textarea, [contenteditable]") !== null;
}
