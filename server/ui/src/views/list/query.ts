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
  /** Moment that a relative range was counted back from, in milliseconds, when pages were begun to be turned; or NaN. */
  at: number;
  /** Executions that are picked for a comparison, two at most. */
  picked: readonly ExecutionPath[];
}

export const PAGE_SIZE = 50;
const HOUR_MS = 3_600_000;
const RANGE_MS: Partial<Record<Range, number>> = { "1h": HOUR_MS, "24h": 24 * HOUR_MS, "7d": 7 * 24 * HOUR_MS };

/** Reads the parameters of an address. What cannot be read is left out. */
export function parseQuery(parameters: Readonly<Record<string, string>>): ListQuery {
  const get = (name: string) => parameters[name] ?? "";
  const phase = enumName(get("phase"), "PHASE");
  const at = /^\d+$/.test(get("at")) ? Number(get("at")) : NaN;
  return {
    project: get("project"),
    domain: get("domain"),
    phase: /^[A-Z][A-Z_]*$/.test(phase) ? phase : "",
    range: RANGES.find((range) => range === get("range")) ?? "",
    after: time(get("after")),
    before: time(get("before")),
    slower: get("slower") === "1",
    search: get("search"),
    page: get("page"),
    at,
    picked: get("pick").split(" ").map(parsePath).filter((path) => path !== null).slice(0, 2),
  };
}

/** The parameters of the address of a query; what is "" is left out by whoever writes it. */
export function formatQuery(query: ListQuery): Record<string, string> {
  const isCustom = query.range === "custom";
  return {
    project: query.project,
    domain: query.domain,
    phase: query.phase,
    range: query.range,
    after: isCustom ? query.after : "",
    before: isCustom ? query.before : "",
    slower: query.slower ? "1" : "",
    search: query.search,
    page: query.page,
    at: query.page !== "" && !Number.isNaN(query.at) ? String(query.at) : "",
    pick: query.picked.map(formatPath).join(" "),
  };
}

/** The parameters that the server is asked with. */
export function apiParameters(query: ListQuery, nowMs: number): Record<string, string> {
  const length = RANGE_MS[query.range];
  const from = Number.isNaN(query.at) ? nowMs : query.at;
  const isCustom = query.range === "custom";
  return {
    project: query.project,
    domain: query.domain,
    phase: query.phase,
    started_after: length !== undefined ? new Date(from - length).toISOString() : isCustom ? query.after : "",
    started_before: isCustom ? query.before : "",
    search: query.search,
    slower_than_usual: query.slower ? "true" : "",
    page_size: String(PAGE_SIZE),
    page_token: query.page,
  };
}

/** Whether anything is left out of the list. */
export function isFiltered(query: ListQuery): boolean {
  const { project, domain, phase, range, search, slower } = query;
  return slower || [project, domain, phase, range, search].some((value) => value !== "");
}

/** Tells questions to the server apart: what is picked is none of them. */
export function questionOf(query: ListQuery): string {
  return JSON.stringify({ ...query, picked: [] });
}

function time(text: string): string {
  return /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : "";
}
