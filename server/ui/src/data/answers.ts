// The answers about executions that the views show, in the JSON form of the messages of spanwise.v1, and how to ask for
// them. protos/spanwise/v1/span_service.proto explains every field.

import { API_BASE, executionUrl, getJson, type EntityVersionJson, type ExecutionKey, type ReasonJson } from "./api";

export interface ExecutionSummaryJson {
  executionId?: Partial<ExecutionKey>;
  phase?: string;
  startTime?: string;
  endTime?: string;
  qualities?: string[];
  workflowId?: EntityVersionJson;
  usual?: { p50?: string; p95?: string; sampleCount?: string };
  slowerThanUsual?: boolean;
}

export interface ListJson {
  executions?: ExecutionSummaryJson[];
  nextPageToken?: string;
}

/** Names and values of parameters; those that are undefined or "" are left out. */
export type Parameters = Readonly<Record<string, string | undefined>>;

export function listExecutions(parameters: Parameters, signal?: AbortSignal): Promise<ListJson> {
  const url = new URL("executions", API_BASE);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") url.searchParams.set(name, value);
  }
  return getJson<ListJson>(url.href, signal);
}

export interface OperationJson {
  operation?: string;
  count?: string;
  openCount?: string;
  total?: string;
  union?: string;
  selfTime?: string;
  mean?: string;
  p50?: string;
  p95?: string;
  max?: string;
  critical?: string;
  longestSpanId?: string;
}

export interface OperationsJson {
  operations?: OperationJson[];
  criticalPath?: string;
  unattributedCritical?: string;
  wallTime?: string;
  approximate?: boolean;
}

export function fetchOperations(key: ExecutionKey, signal?: AbortSignal): Promise<OperationsJson> {
  return getJson(executionUrl(key, "operations"), signal);
}

export interface EvidenceJson {
  spanId?: string;
  path?: string;
  label?: string;
  startTime?: string;
  endTime?: string;
  reasons?: ReasonJson[];
  open?: boolean;
  lastHeardAt?: string;
  stale?: boolean;
  error?: { kind?: string; code?: string; message?: string };
}

export interface FindingJson {
  operation?: string;
  cost?: string;
  share?: number;
  summary?: string;
  evidence?: EvidenceJson[];
  advice?: { text?: string; source?: string }[];
  cause?: string;
  open?: boolean;
  leftOutCount?: number;
  leftOutCost?: string;
}

export interface TaskHistoryJson {
  spanId?: string;
  operation?: string;
  duration?: string;
  p50?: string;
  p95?: string;
  sampleCount?: string;
  outlier?: boolean;
  path?: string;
}

export interface ParallelismJson {
  startTime?: string;
  runningAttempts?: number;
}

export interface DiagnosisJson {
  findings?: FindingJson[];
  criticalPath?: string;
  approximate?: boolean;
  history?: TaskHistoryJson[];
  asOf?: string;
  parallelism?: ParallelismJson[];
  phase?: string;
  open?: boolean;
  lastHeardAt?: string;
  stale?: boolean;
  leftOutCount?: number;
  leftOutCost?: string;
  historyLeftOutCount?: number;
  parallelismLeftOutCount?: number;
}

export function fetchDiagnosis(key: ExecutionKey, maxFindings: number, signal?: AbortSignal): Promise<DiagnosisJson> {
  return getJson(executionUrl(key, "diagnosis", { max_findings: String(maxFindings) }), signal);
}

export interface OperationDeltaJson {
  operation?: string;
  duration?: string;
  baseDuration?: string;
  count?: string;
  baseCount?: string;
}

export interface NodeDeltaJson {
  path?: string;
  spanId?: string;
  baseSpanId?: string;
  /** Unset when it is not there. */
  duration?: string;
  baseDuration?: string;
  phase?: string;
  basePhase?: string;
  attemptCount?: number;
  baseAttemptCount?: number;
  operations?: OperationDeltaJson[];
}

export interface ComparisonJson {
  duration?: string;
  baseDuration?: string;
  phase?: string;
  basePhase?: string;
  operations?: OperationDeltaJson[];
  nodes?: NodeDeltaJson[];
  leftOutCount?: number;
}

export function fetchComparison(key: ExecutionKey, base: ExecutionKey, signal?: AbortSignal): Promise<ComparisonJson> {
  const other = [base.project, base.domain, base.name].join("/");
  return getJson(executionUrl(key, "comparison", { with: other }), signal);
}
