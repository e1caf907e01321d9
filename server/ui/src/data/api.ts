// Requests to the server that serves the page. Answers are JSON of the messages of spanwise.v1.

/** Names one execution. */
export interface ExecutionKey {
  project: string;
  domain: string;
  name: string;
}

/** An answer that is no success: the code is the name of a gRPC status. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** Below it lies the API. */
export const API_BASE = new URL("api/v1/", document.baseURI).href;

/** Address of what belongs to an execution, for instance of its `columns`. Undefined parameters are left out. */
export function executionUrl(key: ExecutionKey, what: string, parameters: Record<string, string | undefined> = {}): string {
  const path = [key.project, key.domain, key.name].map(encodeURIComponent).join("/");
  const url = new URL(`executions/${path}/${what}`, API_BASE);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

/** The error that an answer tells of. */
export async function apiError(response: Response): Promise<ApiError> {
  let code = "UNKNOWN";
  let message = `The server answered ${response.status} ${response.statusText}`.trimEnd();
  try {
    const body = (await response.json()) as { error?: { code?: string; message?: string } };
    code = body.error?.code ?? code;
    message = body.error?.message ?? message;
  } catch {
    // Not from this server but from something in between: the status is all there is to tell.
  }
  return new ApiError(response.status, code, message);
}

export async function getJson<T>(url: string, signal?: AbortSignal): Promise<T> {
  const response = await fetch(url, { headers: { accept: "application/json" }, signal: signal ?? null });
  if (!response.ok) throw await apiError(response);
  return (await response.json()) as T;
}

// What follows are the parts of spanwise.v1.Span that the page shows, in their JSON form: numbers of 64 bits are
// strings, times are RFC 3339, durations are seconds with an s, and what is unset is absent.

export interface EntityVersionJson {
  resourceType?: string;
  project?: string;
  domain?: string;
  name?: string;
  version?: string;
}

export interface LogJson {
  uri?: string;
  name?: string;
}

export interface ReasonJson {
  occurredAt?: string;
  message?: string;
  phase?: string;
  severity?: string;
  source?: string;
  count?: number;
  operation?: string;
}

export interface PhaseIntervalJson {
  phase?: string;
  startTime?: string;
  endTime?: string;
  phaseVersion?: number;
}

export interface SpanJson {
  spanId?: string;
  parentSpanId?: string;
  name?: string;
  execution?: { executionId?: Partial<ExecutionKey>; workflowId?: EntityVersionJson };
  node?: {
    nodeId?: string;
    specNodeId?: string;
    retryGroup?: string;
    kind?: string;
    targetId?: EntityVersionJson;
    cacheStatus?: string;
    upstreamNodeIds?: string[];
    group?: string;
  };
  taskAttempt?: { taskId?: EntityVersionJson; retryAttempt?: number; taskType?: string; logs?: LogJson[]; interruptible?: boolean };
  subtask?: { index?: number; retryAttempt?: number; externalId?: string; cacheStatus?: string; logs?: LogJson[] };
  operation?: { operation?: string; nodeId?: string };
  startTime?: string;
  endTime?: string;
  phase?: string;
  phaseIntervals?: PhaseIntervalJson[];
  reasons?: ReasonJson[];
  qualities?: string[];
  error?: { kind?: string; code?: string; message?: string };
  lastEventAt?: string;
  lastHeardAt?: string;
  omittedDescendants?: string;
  producerIds?: string[];
}

/** A time as the API takes it, exact to the nanosecond, from nanoseconds since 1970. */
export function rfc3339(ns: bigint): string {
  const second = new Date(Number(ns / 1_000_000_000n) * 1000).toISOString().slice(0, -5);
  return `${second}.${String(ns % 1_000_000_000n).padStart(9, "0")}Z`;
}

/**
 * One span with all that is known of it: whole messages, phase history, attributes.
 *
 * @param asOfNs Moment that open spans count up to. Those who ask for several spans as of one moment make the server
 *   build the tree once.
 */
export async function fetchSpan(key: ExecutionKey, spanId: string, asOfNs: bigint, signal?: AbortSignal): Promise<SpanJson> {
  const parameters = { root_span_id: spanId, depth: "0", as_of: rfc3339(asOfNs) };
  const answer = await getJson<{ spans?: SpanJson[] }>(executionUrl(key, "spans", parameters), signal);
  const span = answer.spans?.[0];
  if (span === undefined) throw new ApiError(404, "NOT_FOUND", `There is no span ${spanId} any more`);
  return span;
}
