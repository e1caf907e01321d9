/** What the worker is asked and answers; the work itself, so that it can be done without a worker. */

import { decodeColumns } from "../data/columns";
import type { Execution } from "../data/execution";
import { findFolds, NO_FOLDS } from "./folding";
import { type Lanes, makeLanes } from "./lanes";
import { type Minimap, makeMinimap } from "./minimap";
import { makeRowTree, type RowTree } from "./rows";
import type { View } from "./scale";
import { SearchIndex, type SearchResult } from "./search";

/** Work on the execution that was loaded last. */
export interface Requests {
  /**
   * Gives the worker an execution, as it was sent. To be a copy when it is handed over: an execution
   * that was decoded from a buffer reads its strings from it later.
   */
  load: { ask: { buffer: ArrayBuffer }; answer: { revision: string } };
  search: { ask: { query: string }; answer: SearchResult };
  minimap: { ask: { view: View; width: number; now: number; fold: boolean }; answer: Minimap };
  lanes: { ask: object; answer: Lanes };
}

export type RequestName = keyof Requests;
export type Ask = { [Name in RequestName]: { id: number; name: Name } & Requests[Name]["ask"] }[RequestName];
export type Answer =
  | { id: number; ok: true; answer: Requests[RequestName]["answer"] }
  | { id: number; ok: false; error: string };

/** An execution with what is made of it once. */
class Loaded {
  readonly tree: RowTree;
  readonly index: SearchIndex;

  constructor(readonly execution: Execution) {
    this.tree = makeRowTree(execution);
    this.index = new SearchIndex(execution);
  }
}

/** Answers requests in the order in which they come. */
export class Answerer {
  private loaded: Loaded | undefined;

  /** Never throws: what goes wrong is the answer. */
  answer(ask: Ask): Answer {
    try {
      return { id: ask.id, ok: true, answer: this.work(ask) };
    } catch (error) {
      return { id: ask.id, ok: false, error: error instanceof Error ? error.message : String(error) };
    }
  }

  private work(ask: Ask): Requests[RequestName]["answer"] {
    if (ask.name === "load") {
      this.loaded = new Loaded(decodeColumns(ask.buffer));
      return { revision: this.loaded.execution.header.revision };
    }
    if (this.loaded === undefined) throw new Error(`${ask.name} was asked before an execution was loaded`);
    const { execution, tree, index } = this.loaded;
    switch (ask.name) {
      case "search":
        return index.search(ask.query);
      case "minimap": {
        const folds = ask.fold ? findFolds(execution, execution.asOfOffset) : NO_FOLDS;
        return makeMinimap(execution, ask.view, ask.width, ask.now, folds);
      }
      case "lanes":
        return makeLanes(execution, tree);
    }
  }
}

/** Asks a worker and matches its answers to what was asked. */
export class Asker {
  private readonly waiting = new Map<
    number,
    { resolve: (answer: never) => void; reject: (error: Error) => void }
  >();
  private last = 0;

  /** @param post hands a message over, with what is not to be copied */
  constructor(private readonly post: (ask: Ask, transfer: ArrayBuffer[]) => void) {}

  /** Resolves with the answer; rejects with what the worker says went wrong. */
  ask<Name extends RequestName>(
    name: Name,
    request: Requests[Name]["ask"],
    transfer: ArrayBuffer[] = [],
  ): Promise<Requests[Name]["answer"]> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.post({ id, name, ...request } as unknown as Ask, transfer);
    });
  }

  /** Takes a message of the worker. */
  receive(answer: Answer): void {
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (answer.ok) waiting?.resolve(answer.answer as never);
    else waiting?.reject(new Error(answer.error));
  }

  /** Rejects everything that is still waited for, for instance when the worker broke down. */
  fail(error: Error): void {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}
