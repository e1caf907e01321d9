// Addresses for links. They carry the clock on.

import { formatPlace, type Place } from "../model/place";
import { DEFAULT_STATE, type ExecutionPath, type ExecutionState } from "../model/url";
import { zone } from "./zone";

/** Place of an execution, with what differs from its usual view. */
export function executionPlace(path: ExecutionPath, state: Partial<ExecutionState> = {}): Place {
  return { page: "execution", path, state: { ...DEFAULT_STATE, tz: zone.value, ...state } };
}

export function executionHref(path: ExecutionPath, state: Partial<ExecutionState> = {}): string {
  return formatPlace(executionPlace(path, state));
}

/** Place of the list, with its filters by name; those that are "" are left out. */
export function listPlace(parameters: Readonly<Record<string, string>> = {}): Place {
  const { tz: _, ...rest } = parameters;
  const set = Object.entries(rest).filter(([, value]) => value !== "");
  if (zone.value === "utc") set.push(["tz", "utc"]);
  return { page: "list", parameters: Object.fromEntries(set) };
}

export function listHref(parameters: Readonly<Record<string, string>> = {}): string {
  return formatPlace(listPlace(parameters));
}
