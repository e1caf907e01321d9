// The address of the page: what it says, and how it is changed.

import { signal, type ReadonlySignal } from "@preact/signals";
import { formatPlace, parsePlace, type Place } from "../model/place";

const current = signal<Place>(parsePlace(location.hash));

/** The place that the address names. Changes of the view of an execution go to the address alone, see `replaceAddress`. */
export const place: ReadonlySignal<Place> = current;

/** Goes somewhere, as a link would: the way back leads here. */
export function navigate(to: Place): void {
  settle();
  const hash = formatPlace(to);
  if (hash === location.hash) return;
  history.pushState(null, "", hash);
  current.value = to;
}

/** Changes the address in place, and what is shown with it. */
export function replace(to: Place): void {
  replaceAddress(to);
  current.value = to;
}

let pending: string | null = null;
let timer = 0;
/** Browsers refuse more than some hundred changes of the address in a few seconds. */
const ADDRESS_REST_MS = 120;

/** Changes the address to what is shown already. While it changes quickly, only the last one counts. */
export function replaceAddress(to: Place): void {
  pending = formatPlace(to);
  if (timer !== 0) return;
  write();
  timer = window.setTimeout(() => {
    timer = 0;
    write();
  }, ADDRESS_REST_MS);
}

function write(): void {
  if (pending !== null && pending !== location.hash) history.replaceState(null, "", pending);
  pending = null;
}

/** Writes what waits: for whoever leaves the page, or is about to. */
function settle(): void {
  if (timer === 0) return;
  clearTimeout(timer);
  timer = 0;
  write();
}

function arrived(): void {
  clearTimeout(timer);
  timer = 0;
  pending = null;
  current.value = parsePlace(location.hash);
}

// A link and the way back both end in these.
addEventListener("popstate", arrived);
addEventListener("hashchange", arrived);
addEventListener("pagehide", settle);

// Before a link is followed, so that the way back leads to the last view and not to one before.
addEventListener("click", settle, true);
