// Reads the list of executions: goes on while a page comes back short, and keeps what is shown up to date.

import { batch, signal } from "@preact/signals";
import { listExecutions, type Parameters } from "../../data/answers";
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

  private readonly first: Parameters;

  constructor(
    readonly query: ListQuery,
    readonly beganMs: number,
  ) {
    this.first = apiParameters(query, beganMs);
    document.addEventListener("visibilitychange", this.onVisible);
    void this.begin();
  }

  close(): void {
    document.removeEventListener("visibilitychange", this.onVisible);
    clearTimeout(this.timer);
    this.closed.abort();
  }

  async begin(): Promise<void> {
    await this.read("");
  }

  /** Goes on to look where it has stopped. */
  async lookOn(): Promise<void> {
    await this.read(this.next.peek());
  }

  showNewer(): void {
    batch(() => {
      this.rows.value = [...this.newer.peek(), ...(this.rows.peek() ?? [])];
      this.newer.value = [];
    });
  }

  private async read(token: string): Promise<void> {
    if (this.isBusy.peek()) return;
    clearTimeout(this.timer);
    batch(() => {
      this.isBusy.value = true;
      this.hasPaused.value = false;
    });
    try {
      let at = token === "" ? this.first.page_token : token;
      for (let pages = 0; ; pages++) {
        const answer = await listExecutions({ ...this.first, page_token: at }, this.closed.signal);
        const found = (answer.executions ?? []).map(rowOf);
        at = answer.nextPageToken ?? "";
        const rows = [...(pages === 0 && token === "" ? [] : (this.rows.peek() ?? [])), ...found];
        const goesOn = at !== "" && rows.length < PAGE_SIZE;
        batch(() => {
          this.rows.value = rows;
          this.next.value = at ?? "";
          this.lookedAt.value = goesOn ? this.lookedAt.peek() + LOOKED_AT : this.lookedAt.peek();
          this.error.value = null;
          this.hasPaused.value = goesOn && pages + 1 >= MOST_SHORT_PAGES;
        });
        if (!goesOn || pages + 1 >= MOST_SHORT_PAGES) break;
      }
    } catch (reason) {
      if (this.closed.signal.aborted) return;
      this.error.value = asError(reason);
    }
    this.isBusy.value = false;
    this.schedule();
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (!this.closed.signal.aborted) this.timer = window.setTimeout(() => void this.refresh(), REFRESH_MS);
  }

  private readonly onVisible = (): void => {
    if (document.visibilityState === "visible" && !this.isBusy.peek()) void this.refresh();
  };

  /** Asks for the same page again: a relative range moves on with the clock. */
  private async refresh(): Promise<void> {
    if (document.visibilityState !== "visible") return;
    if (this.rows.peek() === null) return this.begin();
    try {
      const answer = await listExecutions(apiParameters(this.query, Date.now()), this.closed.signal);
      const shown = this.rows.peek() ?? [];
      const fresh = (answer.executions ?? []).map(rowOf);
      batch(() => {
        this.error.value = null;
        if (shown.length === 0) {
          this.rows.value = fresh;
          return;
        }
        const { rows, newer } = mergeRows(shown, fresh);
        this.rows.value = rows;
        this.newer.value = this.query.page === "" ? newer : [];
      });
    } catch (reason) {
      if (this.closed.signal.aborted) return;
      this.error.value = asError(reason);
    }
    this.schedule();
  }
}
