// What the parts of the timeline share: what is shown, where the reader is, and what follows from both.

import { batch, computed, effect, signal, untracked, type ReadonlySignal, type Signal } from "@preact/signals";
import type { ExecutionKey } from "../data/api";
import type { Execution } from "../data/execution";
import { findSpan, spanIdHex } from "../data/columns";
import type { LiveStatus } from "../data/live";
import { Bars } from "../model/bars";
import { codesOf, type Codes } from "../model/codes";
import { filterItems, isEmptyFilter, type Filtered } from "../model/filter";
import { findFolds, NO_FOLDS, type Folds } from "../model/folding";
import type { Lanes } from "../model/lanes";

import { makeRows, makeRowTree, rowOfSpan, type Rows, type RowTree } from "../model/rows";
import { clampView, pan, Scale, wholeView, type View } from "../model/scale";
import { ReasonsOfRows } from "../model/ticks";
import { keepReason } from "./standStill";
import type { ViewState } from "./state";
import { Work } from "./work";

/** Share of the view that stays free behind the end that is followed. */
const FOLLOW_MARGIN = 0.02;

/** What is known of an execution. It changes with the revision only. */
export interface Shown {
  execution: Execution;
  codes: Codes;
  tree: RowTree;
  bars: Bars;
  reasons: ReasonsOfRows;
}

/** An execution that has been read, and how it stands with the server: see data/live.ts. */
export interface Source {
  key: ExecutionKey;
  execution: ReadonlySignal<Execution>;
  bytes: ReadonlySignal<ArrayBuffer | null>;
  status: ReadonlySignal<LiveStatus>;
  error: ReadonlySignal<Error | null>;
  readAtMs: ReadonlySignal<number>;
}

export class Store {
  readonly width = signal(0);
  readonly height = signal(0);
  readonly scrollTop = signal(0);
  /** Whether the view follows the end of a run that goes on. */
  readonly follow = signal(false);
  /** Id of the span whose row has the keyboard; it outlives the selection. */
  readonly active = signal("");
  /** Reason that the keyboard is at; -1 when at none. */
  readonly reason = signal(-1);
  /** What the live region says. */
  readonly said = signal("");
  /** End of what is open: moves once a second while something is. */
  readonly now: Signal<number> = signal(0);
  /** Asks the scrolled element to show a row. */
  revealRow: (row: number) => void = () => undefined;

  readonly shown: ReadonlySignal<Shown> = computed(() => {
    const execution = this.source.execution.value;
    const tree = makeRowTree(execution);
    return {
      execution,
      codes: codesOf(execution.header),
      tree,
      bars: new Bars(execution, tree),
      reasons: new ReasonsOfRows(execution, tree),
    };
  });

  readonly isOpen: ReadonlySignal<boolean> = computed(() => Number.isNaN(this.source.execution.value.endOffset));

  readonly rows: ReadonlySignal<Rows> = computed(() =>
    makeRows(this.shown.value.tree, this.state.collapse.value, this.filtered.value?.keep),
  );

  /** What the filter leaves; null for all. */
  readonly filtered: ReadonlySignal<Filtered | null> = computed(() => {
    const { execution, tree } = this.shown.value;
    const filter = this.state.filter.value;
    return isEmptyFilter(filter) ? null : filterItems(execution, tree, filter, execution.asOfOffset);
  });

  private readonly latest = computed(() => latestOf(this.source.execution.value));

  readonly whole: ReadonlySignal<View> = computed(() =>
    wholeView(0, Math.max(this.latest.value, this.isOpen.value ? this.now.value : 0)),
  );

  readonly folds: ReadonlySignal<Folds> = computed(() => {
    const execution = this.source.execution.value;
    return this.state.fold.value ? findFolds(execution, execution.asOfOffset) : NO_FOLDS;
  });

  readonly scale: ReadonlySignal<Scale> = computed(() => {
    const width = Math.max(1, this.width.value);
    const view = { t0: this.state.t0.value, t1: this.state.t1.value };
    return new Scale(clampView(view, width, this.folds.value, this.whole.value), width, this.folds.value);
  });

  readonly selected: ReadonlySignal<number> = computed(() => findSpan(this.source.execution.value.spans, this.state.sel.value));
  readonly activeSpan: ReadonlySignal<number> = computed(() => findSpan(this.source.execution.value.spans, this.active.value));
  readonly activeRow: ReadonlySignal<number> = computed(() => {
    const span = this.activeSpan.value;
    return span < 0 ? -1 : rowOfSpan(this.shown.value.tree, this.rows.value, span);
  });

  /** Search, overview and lanes: what takes long. */
  readonly work: Work;

  /** What is shown, packed into lanes; null in tree mode, and until the worker has answered. */
  readonly lanes: ReadonlySignal<Lanes | null> = computed(() => {
    const packed = this.state.mode.value === "packed" ? this.work.packed.value : null;
    return packed?.execution === this.source.execution.value ? packed.lanes : null;
  });

  /** Rows or lanes: what is scrolled through. Lanes of the reading before count until those of the newest have come. */
  readonly lineCount: ReadonlySignal<number> = computed(() =>
    this.state.mode.value === "packed" ? (this.work.packed.value?.lanes.count ?? 0) : this.rows.value.count,
  );

  /** Number of rows' spans that have not ended, but for the execution itself. */
  readonly running: ReadonlySignal<number> = computed(() => {
    const { spans } = this.source.execution.value;
    let count = 0;
    for (let i = 1; i < spans.count; i++) if (Number.isNaN(spans.end[i]) && spans.subtreeEnd[i] === i + 1) count++;
    return count;
  });

  toggleFollow(): void {
    this.follow.value = this.isOpen.peek() && !this.follow.peek();
    this.say(this.follow.peek() ? "Following the end" : this.isOpen.peek() ? "Not following" : "Nothing runs any more");
  }

  private readonly disposers: (() => void)[] = [];

  constructor(
    readonly source: Source,
    readonly state: ViewState,
  ) {
    this.active.value = state.sel.value;
    this.work = new Work(this);
    this.disposers.push(
      effect(() => this.runClock()),
      effect(() => this.followEnd()),
      keepReason(source.execution, this.reason),
    );
  }

  /** Whether everything is in view, so that the view grows with the run. */
  get isWhole(): boolean {
    return Number.isNaN(this.state.t0.peek());
  }

  setView(view: View): void {
    const whole = this.whole.peek();
    const isAll = view.t0 <= whole.t0 && view.t1 >= whole.t1;
    batch(() => {
      this.state.t0.value = isAll ? Number.NaN : view.t0;
      this.state.t1.value = isAll ? Number.NaN : view.t1;
    });
  }

  idOf(span: number): string {
    return spanIdHex(this.source.execution.peek().spans, span);
  }

  say(text: string): void {
    // The same text twice is not read out twice, unless it differs.
    this.said.value = this.said.peek() === text ? `${text}\u00a0` : text;
  }

  dispose(): void {
    for (const dispose of this.disposers) dispose();
    this.work.dispose();
  }

  /** Keeps the end in view, near the right edge, without changing how much is in view. */
  private followEnd(): void {
    if (!this.follow.value) return;
    const now = this.now.value;
    const isOpen = this.isOpen.value;
    untracked(() => {
      if (!isOpen) {
        this.follow.value = false;
        return;
      }
      if (this.isWhole) return;
      const { width } = this.scale.value;
      this.setView(pan(this.scale.value, this.scale.value.x(now) - width * (1 - FOLLOW_MARGIN), this.whole.value));
    });
  }

  /** Lets `now` run while something is open and the server is heard; stands still otherwise. */
  private runClock(): (() => void) | void {
    const execution = this.source.execution.value;
    const readAt = this.source.readAtMs.value;
    const tick = (): void => {
      this.now.value = execution.asOfOffset + Math.max(0, performance.now() - readAt) * 1e6;
    };
    const runs = this.isOpen.value && this.source.status.value === "live";
    if (!runs) {
      if (this.now.peek() < execution.asOfOffset) this.now.value = execution.asOfOffset;
      return;
    }
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }
}

/** The last moment that an execution tells of. */
function latestOf({ spans, reasons, endOffset, asOfOffset }: Execution): number {
  let last = Number.isNaN(endOffset) ? asOfOffset : endOffset;
  for (let i = 0; i < spans.count; i++) {
    if (spans.end[i] > last) last = spans.end[i];
    if (spans.start[i] > last) last = spans.start[i];
  }
  for (let i = 0; i < reasons.count; i++) if (reasons.at[i] > last) last = reasons.at[i];
  return last;
}
