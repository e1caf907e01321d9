/**
 * Executions for tests: made of a list of spans, written as columns and decoded again, so that
 * tests have what the page has.
 */

import type { Execution, Header, ReasonForm, SpanForm } from "../src/data/columns";
import { decodeColumns } from "../src/data/columns";

export const PHASES = [
  "UNSPECIFIED", "QUEUED", "WAITING_FOR_RESOURCES", "INITIALIZING", "RUNNING", "DYNAMIC_RUNNING",
  "PAUSED", "SUCCEEDING", "FAILING", "ABORTING", "RETRYABLE_FAILED", "SUCCEEDED", "FAILED",
  "ABORTED", "TIMED_OUT", "SKIPPED", "RECOVERED",
] as const;
export const OPERATIONS = [
  "UNSPECIFIED", "WORKFLOW_SETUP", "WORKFLOW_TEARDOWN", "NODE_SETUP", "NODE_TEARDOWN",
  "NODE_TRANSITION", "NODE_RESET", "NODE_IDLE", "TASK_SETUP", "TASK_RUNTIME", "TASK_TEARDOWN",
  "QUEUED", "WAITING_FOR_RESOURCES", "INITIALIZING", "SCHEDULING", "SCALE_UP", "VOLUME_ATTACH",
  "IMAGE_PULL", "IMAGE_PULL_BACKOFF", "CONTAINER_START", "CRASH_BACKOFF", "QUOTA_WAIT",
  "CACHE_RESERVATION", "EVICTION", "ADMISSION", "PLUGIN_SETUP",
] as const;
export const KINDS = ["EXECUTION", "NODE", "TASK_ATTEMPT", "SUBTASK", "OPERATION"] as const;
export const NODE_KINDS = [
  "UNSPECIFIED", "TASK", "DYNAMIC", "ARRAY", "SUBWORKFLOW", "LAUNCH_PLAN", "BRANCH", "GATE",
  "START", "END", "TRACE",
] as const;
export const CACHE_STATUSES = [
  "UNSPECIFIED", "DISABLED", "MISS", "HIT", "POPULATED", "LOOKUP_FAILURE", "PUT_FAILURE",
  "SKIPPED", "EVICTED",
] as const;
export const QUALITIES = [
  "UNSPECIFIED", "PLACEHOLDER", "INFERRED_START", "INFERRED_END", "NO_TERMINAL_EVENT",
  "OUTLIVES_PARENT", "STARTS_BEFORE_PARENT", "INFERRED_UPSTREAM", "AFTER_TERMINAL", "CLOCK_SKEW",
  "MISSING_TIMESTAMP", "UNKNOWN_PHASE", "COARSE_TIMESTAMP", "INFERRED_PARENT",
  "TIMESTAMP_OUT_OF_RANGE", "SEVERAL_PRODUCERS", "STALE", "INFERRED_KIND",
] as const;
export const SEVERITIES = ["UNSPECIFIED", "INFO", "WARNING", "ERROR"] as const;

export interface ReasonInput {
  /** Nanoseconds after the start of the execution, as all times here. */
  at: number;
  message: string;
  phase?: (typeof PHASES)[number];
  severity?: (typeof SEVERITIES)[number];
  operation?: (typeof OPERATIONS)[number];
  occurrences?: number;
  source?: string;
  isCut?: boolean;
}

export interface SpanInput {
  name: string;
  /** 0 for the root, which is the first; a span stands behind what contains it. */
  depth: number;
  start: number;
  /** null while it is open. */
  end: number | null;
  /** NODE, unless it is the root or has an operation. */
  kind?: (typeof KINDS)[number];
  phase?: (typeof PHASES)[number];
  operation?: (typeof OPERATIONS)[number];
  attempt?: number;
  qualities?: (typeof QUALITIES)[number][];
  cache?: (typeof CACHE_STATUSES)[number];
  nodeKind?: (typeof NODE_KINDS)[number];
  label?: string;
  /** Its place, counted from 1, unless given. */
  id?: bigint;
  /** In the order of time. */
  reasons?: ReasonInput[];
  critical?: number;
}

export interface SegmentInput {
  /** Index of a span. */
  span: number;
  start: number;
  end: number;
  approximate?: boolean;
}

export interface ExecutionInput {
  spans: SpanInput[];
  segments?: SegmentInput[];
  /** 2026-01-01T00:00:00Z unless given. */
  startNs?: bigint;
  /** Latest time of all, unless given. */
  asOf?: number;
  /** Fields of the header that are to differ. */
  header?: Partial<Header>;
}

/** Makes an execution. Without spans it has a root of one second. */
export function makeExecution(input: Partial<ExecutionInput> = {}): Execution {
  const spans = input.spans ?? [{ name: "f1", depth: 0, start: 0, end: 1e9 }];
  return decodeColumns(encodeColumns({ ...input, spans }));
}

/** Writes an execution as columns. */
export function encodeColumns(input: ExecutionInput): ArrayBuffer {
  const { spans, segments = [], startNs = 1767225600000000000n } = input;
  const reasons = spans.flatMap((span) => span.reasons ?? []);
  const strings = new Numbers<string>();
  const spanForms = new Numbers<SpanForm>();
  const reasonForms = new Numbers<ReasonForm>();
  const values: Record<string, { values: bigint[]; plusOne?: boolean; width?: number }> = {
    span_start: { values: spans.map((span) => BigInt(span.start)) },
    span_end: { values: spans.map((span) => BigInt(span.end ?? -1) + 1n), plusOne: true },
    span_depth: { values: spans.map((span) => BigInt(span.depth)) },
    span_name: { values: spans.map((span) => strings.of(span.name)) },
    span_form: { values: spans.map((span) => spanForms.of(spanForm(span, strings))) },
    span_id: { values: spans.map((span, i) => span.id ?? BigInt(i + 1)), width: 8 },
    span_reasons: { values: spans.map((span) => BigInt(span.reasons?.length ?? 0)) },
    span_critical: { values: spans.map((span) => BigInt(span.critical ?? 0)) },
    reason_at: { values: reasons.map((reason) => BigInt(reason.at)) },
    reason_message: { values: reasons.map((reason) => strings.of(reason.message)) },
    reason_form: {
      values: reasons.map((reason) => reasonForms.of(reasonForm(reason, strings))),
    },
    segment_span: { values: segments.map((segment) => BigInt(segment.span)) },
    segment_start: { values: segments.map((segment) => BigInt(segment.start)) },
    segment_end: { values: segments.map((segment) => BigInt(segment.end)) },
    segment_approximate: { values: segments.map((segment) => BigInt(segment.approximate ?? false)) },
  };
  const texts = strings.items.map((text) => new TextEncoder().encode(text));
  let stringEnd = 0;
  values.string_end = { values: texts.map((text) => BigInt((stringEnd += text.length))) };
  values.strings = { values: texts.flatMap((text) => Array.from(text, BigInt)), width: 1 };
  const columns: Header["columns"] = {};
  const planes: Uint8Array[] = [];
  let offset = 0;
  for (const [name, column] of Object.entries(values)) {
    const width = column.width ?? leastWidth(column.values);
    const length = column.values.length;
    columns[name] = { offset, width, length, plus_one: column.plusOne ?? false };
    for (let k = 0; k < width; k++) {
      planes.push(Uint8Array.from(column.values, (value) => Number((value >> BigInt(8 * k)) & 255n)));
    }
    offset += width * length;
  }
  const times = [...spans.map((span) => span.end ?? span.start), ...reasons.map(({ at }) => at), 0];
  const asOf = input.asOf ?? times.reduce((latest, time) => Math.max(latest, time));
  const end = spans[0].end;
  const header: Header = {
    version: 1,
    revision: "1",
    as_of_ns: String(startNs + BigInt(asOf)),
    start_ns: String(startNs),
    execution: { org: "", project: "flytesnacks", domain: "development", name: "f1" },
    workflow: null,
    phase: spans[0].phase ?? "UNSPECIFIED",
    end_ns: end === null ? null : String(startNs + BigInt(end)),
    error: null,
    stale: false,
    num_spans: spans.length,
    num_reasons: reasons.length,
    num_segments: segments.length,
    critical_approximate: segments.some((segment) => segment.approximate),
    phases: [...PHASES],
    operations: [...OPERATIONS],
    kinds: [...KINDS],
    node_kinds: [...NODE_KINDS],
    cache_statuses: [...CACHE_STATUSES],
    qualities: [...QUALITIES],
    severities: [...SEVERITIES],
    span_forms: spanForms.items,
    reason_forms: reasonForms.items,
    columns,
    ...input.header,
  };
  return frame(header, planes, offset);
}

export interface RandomTreeOptions {
  seed: number;
  spans: number;
  /** Mean number of reasons of a span; 0.5 unless given. */
  reasonsPerSpan?: number;
  /** Deepest level; 8 unless given. */
  depth?: number;
  /** Length of the execution; an hour unless given. */
  length?: number;
  /** Share of the spans that failed; 0.02 unless given. */
  failed?: number;
  /** Share of the spans that are open; 0.01 unless given. */
  open?: number;
}

/** Makes a tree of which every span lies in what contains it; the same for the same options. */
export function randomTree(options: RandomTreeOptions): ExecutionInput {
  const { reasonsPerSpan = 0.5, depth = 8, length = 3.6e12, failed = 0.02, open = 0.01 } = options;
  const random = seeded(options.seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)];
  const within = (start: number, end: number) => Math.floor(start + random() * (end - start));
  const isOpen = open > 0;
  const spans: SpanInput[] = [
    { name: "root", depth: 0, start: 0, end: isOpen ? null : length, phase: isOpen ? "RUNNING" : "SUCCEEDED" },
  ];
  const path = [{ start: 0, end: length }]; // the span of each depth that the next may lie in
  while (spans.length < options.spans) {
    const level = 1 + Math.floor(random() * Math.min(path.length, depth));
    path.length = level;
    const parent = path[level - 1];
    const start = within(parent.start, parent.end);
    const end = within(start, parent.end);
    path.push({ start, end });
    const fate = random();
    const isOperation = level > 1 && random() < 0.4;
    const isFailed = !isOperation && fate >= open && fate < open + failed;
    spans.push({
      name: isOperation ? pick(OPERATIONS.slice(1)) : `node-${within(0, 500)}`,
      depth: level,
      start,
      end: fate < open ? null : end,
      id: BigInt(spans.length) * 0x9e3779b97f4a7c15n % (1n << 64n),
      ...(isOperation
        ? { operation: pick(OPERATIONS.slice(1)) }
        : {
            kind: pick(["NODE", "TASK_ATTEMPT", "SUBTASK"] as const),
            phase: fate < open ? "RUNNING" : isFailed ? "FAILED" : "SUCCEEDED",
            nodeKind: pick(NODE_KINDS),
            cache: pick(CACHE_STATUSES),
            ...(random() < 0.5 && { label: `target.${within(0, 50)}` }),
          }),
      reasons: Array.from({ length: Math.floor(random() * (2 * reasonsPerSpan + 1)) }, () =>
        within(start, end),
      )
        .sort((a, b) => a - b)
        .map((at) => ({ at, message: `reason ${within(0, 2000)}`, phase: pick(PHASES) })),
    });
  }
  return {
    spans,
    segments: [{ span: 0, start: 0, end: length }],
    asOf: length,
  };
}

/** Random numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Numbers things in the order in which they first come. */
class Numbers<T> {
  readonly items: T[] = [];
  private readonly known = new Map<string, bigint>();

  of(item: T): bigint {
    const key = JSON.stringify(item);
    let number = this.known.get(key);
    if (number === undefined) {
      number = BigInt(this.items.length);
      this.items.push(item);
      this.known.set(key, number);
    }
    return number;
  }
}

function spanForm(span: SpanInput, strings: Numbers<string>): SpanForm {
  const kind = span.kind ?? (span.operation ? "OPERATION" : span.depth === 0 ? "EXECUTION" : "NODE");
  return [
    KINDS.indexOf(kind),
    PHASES.indexOf(span.phase ?? "UNSPECIFIED"),
    OPERATIONS.indexOf(span.operation ?? "UNSPECIFIED"),
    span.attempt ?? 0,
    (span.qualities ?? []).reduce((mask, quality) => mask | (1 << QUALITIES.indexOf(quality)), 0),
    CACHE_STATUSES.indexOf(span.cache ?? "UNSPECIFIED"),
    NODE_KINDS.indexOf(span.nodeKind ?? "UNSPECIFIED"),
    span.label === undefined ? 0 : Number(strings.of(span.label)) + 1,
  ];
}

function reasonForm(reason: ReasonInput, strings: Numbers<string>): ReasonForm {
  return [
    PHASES.indexOf(reason.phase ?? "UNSPECIFIED"),
    SEVERITIES.indexOf(reason.severity ?? "UNSPECIFIED"),
    OPERATIONS.indexOf(reason.operation ?? "UNSPECIFIED"),
    reason.occurrences ?? 1,
    Number(strings.of(reason.source ?? "")),
    reason.isCut ? 1 : 0,
  ];
}

function leastWidth(values: bigint[]): number {
  const greatest = values.reduce((most, value) => (value > most ? value : most), 0n);
  return greatest === 0n ? 0 : Math.ceil(greatest.toString(2).length / 8);
}

function frame(header: Header, planes: Uint8Array[], bodyBytes: number): ArrayBuffer {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const bodyStart = Math.ceil((12 + json.length) / 8) * 8;
  const bytes = new Uint8Array(bodyStart + bodyBytes).fill(32, 0, bodyStart);
  bytes.set(new TextEncoder().encode("SPANCOL1"));
  new DataView(bytes.buffer).setUint32(8, bodyStart - 12, true);
  bytes.set(json, 12);
  let offset = bodyStart;
  for (const plane of planes) {
    bytes.set(plane, offset);
    offset += plane.length;
  }
  return bytes.buffer;
}
