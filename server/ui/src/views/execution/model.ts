// One execution as the page has it: what is shown of it, mirrored into the address, and what is known of it.

import { batch, computed, effect, signal, type Signal } from "@preact/signals";
import { openLive, type Live } from "../../data/live";
import { placeKey, type Place } from "../../model/place";
import type { ExecutionPath, ExecutionState } from "../../model/url";
import { navigate, place, replaceAddress } from "../../shell/route";
import { zone } from "../../shell/zone";
import { keepMoments } from "../../timeline/standStill";
import { createViewState, readViewState, type ViewState } from "../../timeline/state";

type Signals = { readonly [Name in keyof ExecutionState]: Signal<ExecutionState[Name]> };

export class ExecutionModel {
  readonly live: Live;
  /** What the timeline shows. Its clock is that of the page. */
  readonly state: ViewState = { ...createViewState(), tz: zone };
  readonly view = signal<ExecutionState["view"]>("timeline");
  readonly with = signal<ExecutionState["with"]>(null);
  readonly more = signal<ExecutionState["more"]>({});
  private readonly signals: Signals = { ...this.state, view: this.view, with: this.with, more: this.more };
  private readonly disposers: (() => void)[];

  readonly place = computed(() => this.placeOf({}));

  constructor(
    readonly path: ExecutionPath,
    state: ExecutionState,
  ) {
    this.apply(state);
    const mirror = effect(() => {
      const mine = this.place.value;
      // On the way to another page the clock may change already: the address is not this one's any more.
      if (placeKey(place.peek()) === placeKey(mine)) replaceAddress(mine);
    });
    this.live = openLive(path);
    this.disposers = [mirror, keepMoments(this.live.execution, this.state)];
  }

  /** Revision of what is known; it is known. */
  get revision(): string {
    return this.live.execution.value!.header.revision;
  }

  /** Shows what an address says. */
  apply(state: ExecutionState): void {
    batch(() => {
      for (const [name, signal] of Object.entries(this.signals)) (signal as Signal).value = state[name as keyof ExecutionState];
    });
  }

  /** Goes to another view of it, or part of it: the way back leads here. */
  go(changes: Partial<ExecutionState>): void {
    navigate(this.placeOf(changes));
  }

  /** The place that `go` would go to, for links. */
  placeOf(changes: Partial<ExecutionState>): Place {
    const own = { view: this.view.value, with: this.with.value, more: this.more.value };
    const state = { ...readViewState(this.state), ...own, ...changes };
    return { page: "execution", path: this.path, state };
  }

  /** A parameter that is of interest to one view only. */
  parameter(name: string): string {
    return this.more.value[name] ?? "";
  }

  setParameter(name: string, value: string): void {
    const { [name]: _, ...rest } = this.more.peek();
    this.more.value = value === "" ? rest : { ...rest, [name]: value };
  }

  close(): void {
    for (const dispose of this.disposers) dispose();
    this.live.close();
  }
}
