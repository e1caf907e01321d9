// One execution as the page has it: what is shown of it, mirrored into the address, and what is known of it.

import { batch, computed, effect, signal, type Signal } from "@preact/signals";
import { openLive, type Live } from "../../data/live";
import { placeKey, type Place } from "../../model/place";
import type { ExecutionPath, ExecutionState, ViewName } from "../../model/url";
import { navigate, place, replaceAddress } from "../../shell/route";
import { zone } from "../../shell/zone";
import { keepMoments } from "../../timeline/standStill";
import { createViewState, readViewState, type ViewState } from "../../timeline/state";

export class ExecutionModel {
  readonly live: Live;
  readonly view: Signal<ViewName>;
  readonly with: Signal<ExecutionPath | null>;
  readonly more: Signal<Readonly<Record<string, string>>>;
  /** What the timeline shows. Its clock is that of the page. */
  readonly state: ViewState = { ...createViewState(), tz: zone };
  private readonly disposers: (() => void)[];

  readonly place = computed<Place>(() => ({ page: "execution", path: this.path, state: this.read() }));

  constructor(
    readonly path: ExecutionPath,
    state: ExecutionState,
  ) {
    this.view = signal(state.view);
    this.with = signal(state.with);
    this.more = signal(state.more);
    this.apply(state);
    const mirror = effect(() => {
      const mine = this.place.value;
      // On the way to another page the clock may change already: the address is not this one's any more.
      if (placeKey(place.peek()) === placeKey(mine)) replaceAddress(mine);
    });
    this.live = openLive(path);
    this.disposers = [mirror, keepMoments(this.live.execution, this.state)];
  }

  /** Shows what an address says. */
  apply(state: ExecutionState): void {
    batch(() => {
      this.view.value = state.view;
      this.with.value = state.with;
      this.more.value = state.more;
      for (const name of Object.keys(this.state) as (keyof ViewState)[]) {
        (this.state[name] as Signal).value = state[name];
      }
    });
  }

  /** Goes to another view of it, or part of it: the way back leads here. */
  go(changes: Partial<ExecutionState>): void {
    const state = { ...this.read(), ...changes };
    navigate({ page: "execution", path: this.path, state });
  }

  /** The place that `go` would go to, for links. */
  placeOf(changes: Partial<ExecutionState>): Place {
    return { page: "execution", path: this.path, state: { ...this.read(), ...changes } };
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

  private read(): ExecutionState {
    return { view: this.view.value, with: this.with.value, more: this.more.value, ...readViewState(this.state) };
  }
}
