/**
 * An execution in memory: typed arrays in which a span, a reason and a stretch of the critical path
 * are indices. Nothing here is an object for each span or reason.
 */

/** Names a thing of Flyte that has versions; the fields are empty where they are not known. */
export interface Entity {
  resourceType: string;
  project: string;
  domain: string;
  name: string;
  version: string;
}

/** Where a column lies: `offset` counts from the start of the body. */
export interface ColumnPlace {
  offset: number;
  width: number;
  length: number;
  plus_one: boolean;
}

/** [kind, phase, operation, attempt, qualities, cache status, node kind, label + 1] */
export type SpanForm = readonly [number, number, number, number, number, number, number, number];

/** [phase, severity, operation, occurrences, source, is cut] */
export type ReasonForm = readonly [number, number, number, number, number, number];

/** The header as it is sent. Times are decimal strings of nanoseconds since 1970. */
export interface Header {
  version: number;
  revision: string;
  as_of_ns: string;
  start_ns: string;
  execution: { org: string; project: string; domain: string; name: string };
  workflow: Entity | null;
  phase: string;
  end_ns: string | null;
  error: { kind: string; code: string; message: string } | null;
  stale: boolean;
  num_spans: number;
  num_reasons: number;
  num_segments: number;
  critical_approximate: boolean;
  phases: string[];
  operations: string[];
  kinds: string[];
  node_kinds: string[];
  cache_statuses: string[];
  /** The index of a name is its bit in `Spans.qualities`. */
  qualities: string[];
  severities: string[];
  span_forms: SpanForm[];
  reason_forms: ReasonForm[];
  columns: Record<string, ColumnPlace>;
}

/**
 * Spans in pre-order: a span stands before what it contains. Times are nanoseconds after
 * `Execution.startNs`. Numbers of kind, phase and so on are indices into the header's names.
 */
export interface Spans {
  count: number;
  start: Float64Array;
  /** NaN while the span is open. */
  end: Float64Array;
  depth: Uint32Array;
  /** -1 for the root. */
  parent: Int32Array;
  /** Index behind the last descendant. */
  subtreeEnd: Int32Array;
  /** Index of a string. */
  name: Uint32Array;
  /** Index into `Header.span_forms`. */
  form: Uint32Array;
  kind: Uint8Array;
  phase: Uint8Array;
  operation: Uint8Array;
  attempt: Uint32Array;
  qualities: Uint32Array;
  cache: Uint8Array;
  nodeKind: Uint8Array;
  /** Index of a string, or -1: the second line of a span. */
  label: Int32Array;
  idHigh: Uint32Array;
  idLow: Uint32Array;
  /** Reasons of span i are those from reasonFirst[i] up to, not including, reasonFirst[i + 1]. */
  reasonFirst: Uint32Array;
  /** Nanoseconds of the critical path that went into this very span. */
  critical: Float64Array;
}

/** Reasons in the order of their spans, those of one span in the order of time. */
export interface Reasons {
  count: number;
  at: Float64Array;
  /** Index of a string. */
  message: Uint32Array;
  span: Uint32Array;
  /** Index into `Header.reason_forms`. */
  form: Uint32Array;
  phase: Uint8Array;
  severity: Uint8Array;
  operation: Uint8Array;
  occurrences: Uint32Array;
  /** Index of a string. */
  source: Uint32Array;
  /** 1 where the message is longer than what was sent. */
  isCut: Uint8Array;
}

/** The critical path in the order of time, without a gap. */
export interface Segments {
  count: number;
  span: Uint32Array;
  start: Float64Array;
  end: Float64Array;
  approximate: Uint8Array;
}

export interface Strings {
  count: number;
  /** Decodes a string when it is first asked for. */
  get(index: number): string;
}

export interface Execution {
  header: Header;
  /** Zero of all times, in nanoseconds since 1970. */
  startNs: bigint;
  /** End of the execution; NaN while it is open. */
  endOffset: number;
  /** Moment that the answer was made at; open spans last at least until then. */
  asOfOffset: number;
  spans: Spans;
  reasons: Reasons;
  segments: Segments;
  strings: Strings;
}
