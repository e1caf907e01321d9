// What makes the view of an execution: everything here is mirrored into the address of the page.

import { signal, type Signal } from "@preact/signals";
import { DEFAULT_STATE, type ExecutionState } from "../model/url";

/** A part of what an address says: see ExecutionState. */
export type Seen = Omit<ExecutionState, "view" | "with" | "more">;

export type ViewState = { [Name in keyof Seen]: Signal<Seen[Name]> };

export function createViewState(): ViewState {
  const { view: _, with: _with, more: _more, ...seen } = DEFAULT_STATE;
  return Object.fromEntries(Object.entries(seen).map(([name, value]) => [name, signal(value)])) as unknown as ViewState;
}

/** The values as they are now. Whoever computes with them hears of changes. */
export function readViewState(state: ViewState): Seen {
  return Object.fromEntries(Object.entries(state).map(([name, { value }]) => [name, value])) as unknown as Seen;
}
