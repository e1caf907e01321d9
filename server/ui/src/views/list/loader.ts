// Reads the list of executions: goes on while a page comes back short, and keeps what is shown up to date.

import { batch, signal } from "@preact/signals";
import { listExecutions, type ListJson } from "../../data/answers";
import { asError } from "../../data/answer";
import { mergeRows, rowOf, type ListRow } from "./rows";
import { apiParameters, PAGE_SIZE, type ListQuery } from "./query";

/** The server looks at this many executions for a page of a search (docs: ListExecutionsResponse.next_page_token). */
const LOOKED_AT = 20_000;
/** Pages that are asked for without somebody asking to look on. */
const MOST_SHORT_PAGES = 10;
const REFRESH_MS = 4000;

export class ListLoader {
  /** Null until something has come. */
  readonly rows = signal<ListRow[] | null>(null);
  readonly newer = signal<ListRow[]>([]);
  readonly error = signal<Error | null>(null);
  readonly isBusy = signal(false);
  /** Token of the page behind; "" when there is none. */
  readonly next = signal("");
  /** Executions that were looked at at least, while what is looked for is rare; 0 when that is of no interest. */
  readonly lookedAt = signal(0);
  /** Whether it has stopped to look though there is more. */
  readonly hasPaused = signal(false);
  private readonly closed = new AbortController();
  private timer = 0;
  private isAsking = false;

  constructor(
    readonly query: ListQuery,
    readonly beganMs: number,
  ) {
    document.addEventListener("visibilitychange", this.refresh, { signal: this.closed.signal });
    this.look();
  }

  close(): void {
    clearTimeout(this.timer);
    this.closed.abort();
  }

  /** Looks for executions, or goes on where it has stopped. */
  look(): void {
    void this.work(async () => {
      let at = this.next.peek() || this.query.page;
      batch(() => ((this.isBusy.value = true), (this.hasPaused.value = false)));
      for (let pages = 1; ; pages++) {
        const answer = await this.ask(this.beganMs, at);
        at = answer.nextPageToken ?? "";
        const rows = [...(this.rows.peek() ?? []), ...rowsOf(answer)];
        const goesOn = at !== "" && rows.length < PAGE_SIZE;
        const isPause = goesOn && pages >= MOST_SHORT_PAGES;
        batch(() => {
          this.rows.value = rows;
          this.next.value = at;
          if (goesOn) this.lookedAt.value += LOOKED_AT;
          this.error.value = null;
          this.hasPaused.value = isPause;
        });
        if (!goesOn || isPause) return;
      }
    });
  }

  showNewer(): void {
    batch(() => {
      this.rows.value = [...this.newer.peek(), ...this.rows.peek()!];
      this.newer.value = [];
    });
  }

  /** Asks for the same page again: a relative range moves on with the clock. */
  private readonly refresh = (): void => {
    if (document.visibilityState !== "visible") return;
    const shown = this.rows.peek();
    if (shown === null) return this.look();
    void this.work(async () => {
      const { rows, newer } = mergeRows(shown, rowsOf(await this.ask(Date.now(), this.query.page)));
      const isEmpty = shown.length === 0;
      this.rows.value = isEmpty ? newer : rows;
      this.newer.value = isEmpty || this.query.page !== "" ? [] : newer;
    });
  };

  private ask(nowMs: number, page: string): Promise<ListJson> {
    return listExecutions({ ...apiParameters(this.query, nowMs), page_token: page }, this.closed.signal);
  }

  /** One thing at a time, and some time after it the next look. */
  private async work(work: () => Promise<void>): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    clearTimeout(this.timer);
    let error: Error | null = null;
    try {
      await work();
    } catch (reason) {
      error = asError(reason);
    }
    if (this.closed.signal.aborted) return;
    batch(() => ((this.error.value = error), (this.isBusy.value = false)));
    this.isAsking = false;
    this.timer = window.setTimeout(this.refresh, REFRESH_MS);
  }
}

function rowsOf(answer: ListJson): ListRow[] {
  return (answer.executions ?? []).map(rowOf);
}
