// The clock that moments are told by. It is in the address, and goes along from page to page.

import { signal } from "@preact/signals";
import type { Zone } from "../model/format";
import type { Place } from "../model/place";
import { remember, remembered } from "./storage";

export const zone = signal<Zone>("local");

export function chooseZone(chosen: Zone): void {
  zone.value = chosen;
  remember("zone", chosen);
}

/** The clock that a place names; one without any address begins with the one that was chosen last. */
export function zoneOf(place: Place, hash: string): Zone {
  if (hash === "" && remembered("zone") === "utc") return "utc";
  if (place.page === "execution") return place.state.tz;
  return place.page === "list" && place.parameters.tz === "utc" ? "utc" : "local";
}
