/**
 * Search over names, labels, ids and reasons. The distinct strings are searched, in one long text,
 * and what they stand for is looked up after: a run has far fewer texts than spans and reasons.
 */

import { type Execution } from "../data/execution";
import { lowerBound, upperBound } from "./order";

/** Stands between strings; no query holds it. */
const SEPARATOR = "\u0000";
/** Part of an id that is looked for: shorter ones would be in too many. */
const ID = /^[0-9a-f]{4,16}$/;

export interface SearchResult {
  query: string;
  /** Spans that match, in pre-order: by name, label or id, or by one of their reasons. */
  spans: Uint32Array;
  /** First reason of each that matches; -1 where the span itself does. */
  reasons: Int32Array;
}

export const NOTHING_FOUND: SearchResult = {
  query: "",
  spans: new Uint32Array(0),
  reasons: new Int32Array(0),
};

/** The texts of one revision of an execution, made ready for searching when they are first searched. */
export class SearchIndex {
  private text: string | undefined;
  private starts = new Uint32Array(0);

  constructor(private readonly execution: Execution) {}

  /** Finds a text, in upper or lower case, spaces around it left out. An empty one finds nothing. */
  search(query: string): SearchResult {
    const needle = query.trim().toLowerCase().replaceAll(SEPARATOR, "");
    if (needle === "") return NOTHING_FOUND;
    const { spans, reasons } = this.execution;
    const isHit = this.matchingStrings(needle);
    const id = ID.test(needle) ? idRange(needle) : null;
    const foundSpans = new Uint32Array(spans.count);
    const foundReasons = new Int32Array(spans.count);
    let count = 0;
    for (let span = 0; span < spans.count; span++) {
      let first = -1;
      const end = spans.reasonFirst[span + 1];
      for (let reason = spans.reasonFirst[span]; reason < end; reason++) {
        if (!isHit[reasons.message[reason]]) continue;
        first = reason;
        break;
      }
      const label = spans.label[span];
      const isItself =
        isHit[spans.name[span]] === 1 ||
        (label >= 0 && isHit[label] === 1) ||
        (id !== null && isInRange(spans.idHigh[span], spans.idLow[span], id));
      if (!isItself && first < 0) continue;
      foundSpans[count] = span;
      foundReasons[count] = isItself ? -1 : first;
      count++;
    }
    return { query, spans: foundSpans.slice(0, count), reasons: foundReasons.slice(0, count) };
  }

  /** 1 for strings that hold the needle. By string. */
  private matchingStrings(needle: string): Uint8Array {
    const text = this.ready();
    const isHit = new Uint8Array(this.execution.strings.count);
    for (let at = text.indexOf(needle); at >= 0; ) {
      const string = upperBound(this.starts, at) - 1;
      isHit[string] = 1;
      // One hit in a string is enough.
      if (string + 1 >= this.starts.length) break;
      at = text.indexOf(needle, this.starts[string + 1]);
    }
    return isHit;
  }

  private ready(): string {
    if (this.text !== undefined) return this.text;
    const { strings } = this.execution;
    const parts: string[] = new Array(strings.count);
    this.starts = new Uint32Array(strings.count);
    let at = 0;
    for (let i = 0; i < strings.count; i++) {
      parts[i] = strings.get(i).toLowerCase();
      this.starts[i] = at;
      at += parts[i].length + 1;
    }
    this.text = parts.join(SEPARATOR);
    return this.text;
  }
}

interface IdRange {
  from: number[];
  to: number[];
}

/** Ids that begin with these digits. */
function idRange(digits: string): IdRange {
  const words = (filler: string) => {
    const all = digits.padEnd(16, filler);
    return [parseInt(all.slice(0, 8), 16), parseInt(all.slice(8), 16)];
  };
  return { from: words("0"), to: words("f") };
}

function isInRange(high: number, low: number, { from, to }: IdRange): boolean {
  if (high < from[0] || high > to[0]) return false;
  return (high > from[0] || low >= from[1]) && (high < to[0] || low <= to[1]);
}

/**
 * Place of the next hit after a span (1) or before it (-1), around the end; -1 when there is none.
 *
 * @param span -1 to begin at the first or the last
 */
export function stepHit(result: SearchResult, span: number, direction: 1 | -1): number {
  const { spans } = result;
  if (spans.length === 0) return -1;
  if (direction === 1) return span < 0 ? 0 : upperBound(spans, span) % spans.length;
  const before = span < 0 ? 0 : lowerBound(spans, span);
  return (before + spans.length - 1) % spans.length;
}
