/**
 * The address of the page: everything that makes the view is in it, so that a copied address shows
 * the same. Addresses come from anywhere: what cannot be read is left out, and nothing throws.
 */

import { Collapse } from "./collapse";
import { type Filter, NO_FILTER, decodeFilter, encodeFilter } from "./filter";
import type { Zone } from "./format";

export interface ExecutionPath {
  project: string;
  domain: string;
  name: string;
}

export const VIEWS = ["timeline", "operations", "reasons", "diagnosis", "compare"] as const;
export type ViewName = (typeof VIEWS)[number];

export interface ExecutionState {
  view: ViewName;
  /** Bounds of what is in view, as nanoseconds after `zero`; NaN, both: the whole run. */
  t0: number;
  t1: number;
  /** Nanoseconds since 1970; null: the start of the execution, as the server tells of it now. */
  zero: bigint | null;
  /** Id of the selected span as 16 hexadecimal digits; "" when none is. */
  sel: string;
  /** Text that is searched for. */
  q: string;
  filter: Filter;
  /** Whether the critical path is shown. */
  cp: boolean;
  collapse: Collapse;
  mode: "tree" | "packed";
  /** Whether idle hours are folded. */
  fold: boolean;
  tz: Zone;
  /** Whether the details of the selected span are shown. */
  panel: boolean;
  /** The execution that this one is compared with. */
  with: ExecutionPath | null;
  /** Parameters of a view that only that view knows, by name; they are kept as they are. */
  more: Readonly<Record<string, string>>;
}

export const DEFAULT_STATE: ExecutionState = {
  view: "timeline",
  t0: NaN,
  t1: NaN,
  zero: null,
  sel: "",
  q: "",
  filter: NO_FILTER,
  cp: true,
  collapse: new Collapse(),
  mode: "tree",
  fold: false,
  tz: "local",
  panel: true,
  with: null,
  more: {},
};

export type Route =
  | { page: "list"; parameters: Readonly<Record<string, string>> }
  | { page: "execution"; path: ExecutionPath; state: ExecutionState };

/** Names that `more` cannot have. */
const KNOWN = new Set([
  ...["view", "t0", "t1", "zero", "sel", "q", "f", "cp", "open", "mode", "fold", "tz", "panel", "with"],
]);

/** Reads the part of an address from "#" on. What names no execution is the list. */
export function parseHash(hash: string): Route {
  const text = hash.startsWith("#") ? hash.slice(1) : hash;
  const mark = text.indexOf("?");
  const path = mark < 0 ? text : text.slice(0, mark);
  const parameters = new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1));
  if (path.startsWith("/e/")) {
    const execution = parsePath(path.slice(3));
    if (execution !== null) return { page: "execution", path: execution, state: parseState(parameters) };
  }
  return { page: "list", parameters: collect(parameters, () => true) };
}

/** Writes an address, from "#" on. What is as it is by default is left out. */
export function formatHash(route: Route): string {
  const parameters = new URLSearchParams();
  let path = "/";
  if (route.page === "list") append(parameters, route.parameters);
  else {
    path = `/e/${formatPath(route.path)}`;
    formatState(route.state, parameters);
  }
  const text = parameters.toString();
  return `#${path}${text === "" ? "" : `?${text}`}`;
}

/** project/domain/name, each part percent-encoded. */
export function formatPath({ project, domain, name }: ExecutionPath): string {
  return [project, domain, name].map((part) => encodeURIComponent(wellFormed(part))).join("/");
}

/** Reads what formatPath wrote; null when that is no name of an execution. Only its name must not be empty. */
export function parsePath(text: string): ExecutionPath | null {
  const parts = text.split("/");
  if (parts.length !== 3 || parts[2] === "") return null;
  try {
    const [project, domain, name] = parts.map(decodeURIComponent);
    return { project, domain, name };
  } catch {
    return null; // a percent sign with no digits behind it
  }
}

function parseState(parameters: URLSearchParams): ExecutionState {
  const get = (name: string) => parameters.get(name) ?? "";
  const flag = (name: string, usual: boolean) => (get(name) === "1" || get(name) === "0" ? get(name) === "1" : usual);
  const [t0, t1] = [get("t0"), get("t1")].map(parseNumber);
  const hasRange = t0 < t1;
  return {
    view: VIEWS.find((view) => view === get("view")) ?? DEFAULT_STATE.view,
    t0: hasRange ? t0 : NaN,
    t1: hasRange ? t1 : NaN,
    zero: hasRange && /^\d{1,19}$/.test(get("zero")) ? BigInt(get("zero")) : null,
    sel: /^[0-9a-f]{16}$/.test(get("sel")) ? get("sel") : "",
    q: get("q"),
    filter: decodeFilter(get("f")),
    cp: flag("cp", DEFAULT_STATE.cp),
    collapse: Collapse.decode(get("open")),
    mode: get("mode") === "packed" ? "packed" : "tree",
    fold: flag("fold", DEFAULT_STATE.fold),
    tz: get("tz") === "utc" ? "utc" : "local",
    panel: flag("panel", DEFAULT_STATE.panel),
    with: parsePath(get("with")),
    more: collect(parameters, (name) => !KNOWN.has(name)),
  };
}

function formatState(state: ExecutionState, parameters: URLSearchParams): void {
  const put = (name: string, value: string) => {
    if (value !== "") parameters.append(name, value);
  };
  const flag = (value: boolean, usual: boolean) => (value === usual ? "" : value ? "1" : "0");
  put("view", state.view === DEFAULT_STATE.view ? "" : state.view);
  if (state.t0 < state.t1) {
    put("t0", String(state.t0));
    put("t1", String(state.t1));
    put("zero", String(state.zero ?? ""));
  }
  put("sel", state.sel);
  put("q", state.q);
  put("f", encodeFilter(state.filter));
  put("cp", flag(state.cp, DEFAULT_STATE.cp));
  put("open", state.collapse.encode());
  put("mode", state.mode === DEFAULT_STATE.mode ? "" : state.mode);
  put("fold", flag(state.fold, DEFAULT_STATE.fold));
  put("tz", state.tz === DEFAULT_STATE.tz ? "" : state.tz);
  put("panel", flag(state.panel, DEFAULT_STATE.panel));
  put("with", state.with === null ? "" : formatPath(state.with));
  append(parameters, state.more);
}

/** A finite number; NaN for any other text. */
function parseNumber(text: string): number {
  const value = /^-?\d/.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : NaN;
}

/** The first value of each name. Without a prototype, so that no name means anything else. */
function collect(parameters: URLSearchParams, isWanted: (name: string) => boolean): Record<string, string> {
  const found = Object.create(null) as Record<string, string>;
  for (const [name, value] of parameters) if (isWanted(name) && !(name in found)) found[name] = value;
  return found;
}

function append(parameters: URLSearchParams, values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) parameters.append(name, value);
}

/** Text without halves of characters, which no address can hold. */
function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");
}
