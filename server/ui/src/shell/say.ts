// What the page's live region says.

import { signal } from "@preact/signals";

export const said = signal("");

export function say(text: string): void {
  // The same text twice is not read out twice, unless it differs.
  said.value = said.peek() === text ? `${text}\u00a0` : text;
}
