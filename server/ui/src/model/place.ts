/** Which page an address means, also when it means none. */

import { formatHash, formatPath, parseHash, parsePath, type ExecutionPath, type Route } from "./url";

export type Place = Route | { page: "unknown"; address: string };

/** As parseHash, but tells of what is neither the list nor an execution. */
export function parsePlace(hash: string): Place {
  const route = parseHash(hash);
  if (route.page === "execution") return route;
  const path = hash.replace(/^#/, "").split("?", 1)[0];
  return path === "" || path === "/" ? route : { page: "unknown", address: path };
}

export function formatPlace(place: Place): string {
  return place.page === "unknown" ? `#${place.address}` : formatHash(place);
}

/** Tells pages apart: moving about on one page does not change it. */
export function placeKey(place: Place): string {
  if (place.page === "execution") return `e/${formatPath(place.path)}`;
  return place.page === "list" ? "list" : `unknown/${place.address}`;
}

/**
 * Reads the name of an execution as people write or copy it: PROJECT/DOMAIN/NAME, or an address of this page or of Flyte's
 * console that ends in one. Null when there is none in it.
 */
export function readName(text: string): ExecutionPath | null {
  const trimmed = text.trim();
  const ours = /#\/e\/([^?#\s]+)/.exec(trimmed);
  if (ours !== null) return parsePath(ours[1]);
  const console = /\/projects\/([^/?#\s]+)\/domains\/([^/?#\s]+)\/executions\/([^/?#\s]+)/.exec(trimmed);
  if (console !== null) return parsePath(console.slice(1, 4).join("/"));
  if (trimmed.includes("://")) return null;
  const [project, domain, ...rest] = trimmed.split("/");
  const name = rest.join("/");
  return project === "" || domain === undefined || domain === "" || name === "" ? null : { project, domain, name };
}
