/** What the list of executions is asked for: in the address, and to the server. */

import { enumName } from "../../data/values";
import { parsePath, formatPath, type ExecutionPath } from "../../model/url";

export const RANGES = ["", "1h", "24h", "7d", "custom"] as const;
export type Range = (typeof RANGES)[number];

export interface ListQuery {
  project: string;
  domain: string;
  /** Name of a phase; "" for any. */
  phase: string;
  range: Range;
  /** Bounds of a custom range, in RFC 3339; "" for none. */
  after: string;
  before: string;
  slower: boolean;
  search: string;
  /** Token of the page; "" for the first. */
  page: string;
  /** Moment that a relative range was counted back from, in milliseconds, when pages were begun to be turned; or "". */
  at: string;
  /** Executions that are picked for a comparison, two at most. */
  picked: readonly ExecutionPath[];
}

export const PAGE_SIZE = 50;
const HOUR_MS = 3_600_000;
const RANGE_MS: Partial<Record<Range, number>> = { "1h": HOUR_MS, "24h": 24 * HOUR_MS, "7d": 7 * 24 * HOUR_MS };

/** Reads the parameters of an address. What cannot be read is left out. */
export function parseQuery(parameters: Readonly<Record<string, string>>): ListQuery {
  const get = (name: string) => parameters[name] ?? "";
  const matching = (text: string, form: RegExp) => (form.test(text) ? text : "");
  return {
    project: get("project"),
    domain: get("domain"),
    phase: matching(enumName(get("phase"), "PHASE"), /^[A-Z][A-Z_]*$/),
    range: RANGES.find((range) => range === get("range")) ?? "",
    after: time(get("after")),
    before: time(get("before")),
    slower: get("slower") === "1",
    search: get("search"),
    page: get("page"),
    at: matching(get("at"), /^\d{1,15}$/),
    picked: get("pick").split(" ").map(parsePath).filter((path) => path !== null).slice(0, 2),
  };
}

/** The parameters of the address of a query; what is "" is left out by whoever writes it. */
export function formatQuery({ slower, picked, ...query }: ListQuery): Record<string, string> {
  if (query.range !== "custom") query.after = query.before = "";
  if (query.page === "") query.at = "";
  return { ...query, slower: slower ? "1" : "", pick: picked.map(formatPath).join(" ") };
}

/** The parameters that the server is asked with. */
export function apiParameters(query: ListQuery, nowMs: number): Record<string, string> {
  const { project, domain, phase, search, after, before } = formatQuery(query);
  const length = RANGE_MS[query.range];
  return {
    ...{ project, domain, phase, search },
    started_after: length === undefined ? after : new Date(Number(query.at || nowMs) - length).toISOString(),
    started_before: before,
    slower_than_usual: query.slower ? "true" : "",
    page_size: String(PAGE_SIZE),
    page_token: query.page,
  };
}

/** Whether anything is left out of the list. */
export function isFiltered({ project, domain, phase, range, search, slower }: ListQuery): boolean {
  return slower || project + domain + phase + range + search !== "";
}

/** Tells questions to the server apart: what is picked is none of them. */
export function questionOf(query: ListQuery): string {
  return JSON.stringify({ ...query, picked: [] });
}

function time(text: string): string {
  return /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : "";
}
