// What makes the view of an execution: everything here is mirrored into the address of the page.

import { signal, type Signal } from "@preact/signals";
import { Collapse } from "../model/collapse";
import { NO_FILTER, type Filter } from "../model/filter";
import type { Zone } from "../model/format";

export type Mode = "tree" | "packed";

export interface ViewState {
  /** Bounds of what is in view, as nanoseconds after the start of the execution. NaN: the whole run. */
  t0: Signal<number>;
  t1: Signal<number>;
  /** Id of the selected span as 16 hexadecimal digits; "" when none is. */
  sel: Signal<string>;
  /** Text that is searched for. */
  q: Signal<string>;
  filter: Signal<Filter>;
  /** Whether the critical path is shown. */
  cp: Signal<boolean>;
  collapse: Signal<Collapse>;
  mode: Signal<Mode>;
  /** Whether long gaps are folded. */
  fold: Signal<boolean>;
  tz: Signal<Zone>;
  /** Whether the details of the selected span are shown beside the timeline. */
  panel: Signal<boolean>;
}

export function createViewState(): ViewState {
  return {
    t0: signal(Number.NaN),
    t1: signal(Number.NaN),
    sel: signal(""),
    q: signal(""),
    filter: signal(NO_FILTER),
    cp: signal(true),
    collapse: signal(new Collapse()),
    mode: signal<Mode>("tree"),
    fold: signal(false),
    tz: signal<Zone>("local"),
    panel: signal(true),
  };
}
