// Search and overview, which the worker makes: asked for when what they depend on changes, kept until the next comes.

import { computed, effect, signal, untracked, type ReadonlySignal } from "@preact/signals";
import type { Execution } from "../data/execution";
import type { Lanes } from "../model/lanes";
import type { Minimap } from "../model/minimap";
import type { RequestName, Requests } from "../model/requests";
import { rowOfSpan } from "../model/rows";
import { stepHit, type SearchResult } from "../model/search";
import { plural } from "../model/words";
import { bringIntoView, select } from "./actions";
import { Compute } from "./compute";
import { nameOf } from "./rowFacts";
import type { Store } from "./store";

/** Rest while somebody types before the worker is asked. */
const TYPING_MS = 60;

export interface Packed {
  execution: Execution;
  lanes: Lanes;
}

export class Work {
  /** What the overview shows. Its width is that of the plot. */
  readonly minimap = signal<Minimap | null>(null);
  /** What was packed into lanes last: the execution that is shown, or a reading of it before; null in tree mode at first. */
  readonly packed = signal<Packed | null>(null);
  /** What the search found, and in which execution; null without a search and while the first one goes on. */
  private readonly result = signal<{ execution: Execution; found: SearchResult } | null>(null);
  private readonly compute = new Compute();
  private loaded: ArrayBuffer | null = null;
  private readonly disposers: (() => void)[] = [];

  /** What the search found in what is shown. */
  readonly found: ReadonlySignal<SearchResult | null> = computed(() => {
    const result = this.result.value;
    return result?.execution === this.store.source.execution.value ? result.found : null;
  });

  /** Place of the hit that the keyboard is at; -1 for none. */
  readonly hitPlace: ReadonlySignal<number> = computed(() => {
    const found = this.found.value;
    const span = this.store.activeSpan.value;
    return found === null || span < 0 ? -1 : found.spans.indexOf(span);
  });

  /** 1 for rows that the search found, 2 for those that hide what it found; null without a search. By row. */
  readonly hitRows: ReadonlySignal<Uint8Array | null> = computed(() => {
    const found = this.found.value;
    const { tree } = this.store.shown.value;
    const rows = this.store.rows.value;
    if (found === null || found.spans.length === 0) return null;
    const hits = new Uint8Array(rows.count);
    for (const span of found.spans) {
      const row = rowOfSpan(tree, rows, span);
      if (row < 0) continue;
      if (rows.item[row] === tree.itemOfSpan[span]) hits[row] = 1;
      else if (hits[row] === 0) hits[row] = 2;
    }
    return hits;
  });

  constructor(private readonly store: Store) {
    const { source, state } = store;
    this.disposers.push(
      effect(() => {
        const execution = source.execution.value;
        const query = state.q.value;
        if (query.trim() === "") {
          this.result.value = null;
          return;
        }
        const timer = setTimeout(() => this.search(execution, query), TYPING_MS);
        return () => clearTimeout(timer);
      }),
      effect(() => {
        const execution = source.execution.value;
        const width = Math.floor(store.width.value);
        const fold = state.fold.value;
        if (width <= 0) return;
        const now = untracked(() => store.now.value);
        const ask = { view: untracked(() => store.whole.value), width, now: Math.max(now, execution.asOfOffset), fold };
        this.ask("minimap", ask).then((minimap) => (this.minimap.value = minimap), report);
      }),
      effect(() => {
        const execution = source.execution.value;
        if (state.mode.value !== "packed") return;
        this.ask("lanes", {}).then((lanes) => (this.packed.value = { execution, lanes }), report);
      }),
    );
  }

  /** Goes to the next match, around the end. */
  goToHit(direction: 1 | -1): void {
    const { store } = this;
    const found = this.found.peek();
    if (found === null || found.spans.length === 0) {
      store.say(store.state.q.peek() === "" ? "Nothing is searched for" : "Nothing found");
      return;
    }
    const place = stepHit(found, store.activeSpan.peek(), direction);
    const span = found.spans[place];
    const shown = store.shown.peek();
    select(store, span, { reveal: true, quiet: true, time: true });
    const reason = found.reasons[place];
    if (reason >= 0) {
      store.reason.value = reason;
      const at = shown.execution.reasons.at[reason];
      bringIntoView(store, at, at);
    }
    store.say(`Match ${place + 1} of ${found.spans.length}: ${nameOf(shown, span)}`);
  }

  dispose(): void {
    for (const dispose of this.disposers) dispose();
    this.compute.dispose();
  }

  /** Effects run in no fixed order: whichever asks first hands over the execution. */
  private ask<Name extends RequestName>(name: Name, request: Requests[Name]["ask"]): Promise<Requests[Name]["answer"]> {
    const bytes = this.store.source.bytes.peek();
    if (bytes !== null && bytes !== this.loaded) {
      this.loaded = bytes;
      this.compute.load(bytes).catch(report);
    }
    return this.compute.ask(name, request);
  }

  private search(execution: Execution, query: string): void {
    this.ask("search", { query }).then((found) => {
      if (this.store.state.q.peek() !== query) return;
      this.result.value = { execution, found };
      this.store.say(found.spans.length === 0 ? "Nothing found" : plural(found.spans.length, "match", "matches"));
    }, report);
  }
}

/** A worker that is gone takes search and overview with it; the rest of the timeline goes on. */
function report(error: unknown): void {
  console.error(error);
}
