/** What people read: phases, operations, kinds and flags in words. */

export interface PhaseWords {
  /** Text that no other phase has. */
  text: string;
}

const PHASES: Record<string, string> = {
  UNSPECIFIED: "Unknown",
  QUEUED: "Queued",
  WAITING_FOR_RESOURCES: "Waiting for resources",
  INITIALIZING: "Initializing",
  RUNNING: "Running",
  DYNAMIC_RUNNING: "Running its own nodes",
  PAUSED: "Paused",
  SUCCEEDING: "Succeeding",
  FAILING: "Failing",
  ABORTING: "Aborting",
  RETRYABLE_FAILED: "Failed, may be retried",
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  ABORTED: "Aborted",
  TIMED_OUT: "Timed out",
  SKIPPED: "Skipped",
  RECOVERED: "Recovered",
};

/** Text of a phase; one that this page does not know goes by its own name. */
export function phaseWords(phase: string): PhaseWords {
  return { text: PHASES[phase] ?? fromName(phase) };
}

/** All phases that have words, for a legend. */
export const KNOWN_PHASES: readonly string[] = Object.keys(PHASES);

const OPERATIONS: Record<string, string> = {
  UNSPECIFIED: "Not explained by any event",
  WORKFLOW_SETUP: "Workflow set-up",
  WORKFLOW_TEARDOWN: "Workflow teardown",
  NODE_SETUP: "Node set-up",
  NODE_TEARDOWN: "Node teardown",
  NODE_TRANSITION: "On the way from the node before",
  NODE_RESET: "Between attempts",
  NODE_IDLE: "Waiting for a signal",
  TASK_SETUP: "Task set-up",
  TASK_RUNTIME: "Running",
  TASK_TEARDOWN: "Task teardown",
  QUEUED: "Queued",
  WAITING_FOR_RESOURCES: "Waiting for resources",
  INITIALIZING: "Initializing",
  SCHEDULING: "Waiting for a machine",
  SCALE_UP: "Machines being added",
  VOLUME_ATTACH: "Attaching a volume",
  IMAGE_PULL: "Pulling an image",
  IMAGE_PULL_BACKOFF: "Waiting to pull an image again",
  CONTAINER_START: "Starting a container",
  CRASH_BACKOFF: "Waiting after a crash",
  QUOTA_WAIT: "Waiting for quota",
  CACHE_RESERVATION: "Waiting for another run of the same",
  EVICTION: "Machine taken away",
  ADMISSION: "Refused by the cluster",
  PLUGIN_SETUP: "Starting the plugin's cluster",
};

/** An operation in words. */
export function operationWords(operation: string): string {
  return OPERATIONS[operation] ?? fromName(operation);
}

/** Groups of operations, in the order in which they happen. Their number is that in `codes.ts`. */
export const GROUP_NAMES = ["setup", "runtime", "teardown", "waiting", "none"] as const;
export type GroupName = (typeof GROUP_NAMES)[number];

const GROUPS: Record<GroupName, string> = {
  setup: "Set-up",
  runtime: "Runtime",
  teardown: "Teardown",
  waiting: "Waiting between steps",
  none: "Not explained",
};

export function groupWords(group: GroupName): string {
  return GROUPS[group];
}

const KINDS: Record<string, string> = {
  EXECUTION: "Execution",
  NODE: "Node",
  TASK_ATTEMPT: "Attempt",
  SUBTASK: "Sub-task",
  OPERATION: "Operation",
};

const NODE_KINDS: Record<string, string> = {
  UNSPECIFIED: "Node",
  TASK: "Task",
  DYNAMIC: "Dynamic task",
  ARRAY: "Map task",
  SUBWORKFLOW: "Sub-workflow",
  LAUNCH_PLAN: "Launch plan",
  BRANCH: "Branch",
  GATE: "Gate",
  START: "Start of the workflow",
  END: "End of the workflow",
  TRACE: "Traced function",
};

export function kindWords(kind: string): string {
  return KINDS[kind] ?? fromName(kind);
}

export function nodeKindWords(nodeKind: string): string {
  return NODE_KINDS[nodeKind] ?? fromName(nodeKind);
}

const CACHE: Record<string, string> = {
  UNSPECIFIED: "",
  DISABLED: "Not cached",
  MISS: "The cache had no result",
  HIT: "Taken from the cache",
  POPULATED: "The cache had no result; it has one now",
  LOOKUP_FAILURE: "The cache could not be read",
  PUT_FAILURE: "The result could not be put into the cache",
  SKIPPED: "The cache was left out on request",
  EVICTED: "The cached result was to be replaced",
};

/** What the cache did, as a sentence without full stop; "" when that is not known. */
export function cacheWords(status: string): string {
  return CACHE[status] ?? fromName(status);
}

const SEVERITIES: Record<string, string> = {
  UNSPECIFIED: "",
  INFO: "Information",
  WARNING: "Warning",
  ERROR: "Error",
};

/** A severity in words; "" when the source gave none. */
export function severityWords(severity: string): string {
  return SEVERITIES[severity] ?? fromName(severity);
}

export interface QualityWords {
  /** Two or three words. */
  title: string;
  /** What it means for who reads the bar. */
  meaning: string;
}

const QUALITIES: Record<string, QualityWords> = {
  PLACEHOLDER: {
    title: "Only named by others",
    meaning: "No event of it has arrived yet; others named it.",
  },
  INFERRED_START: {
    title: "Start inferred",
    meaning: "No event tells when it started; the start was worked out from what is around it.",
  },
  INFERRED_END: {
    title: "End inferred",
    meaning: "No event tells when it ended; the end was worked out from what is around it.",
  },
  NO_TERMINAL_EVENT: {
    title: "End never reported",
    meaning: "What contains it has ended, but no event says that it has.",
  },
  OUTLIVES_PARENT: {
    title: "Ends after its parent",
    meaning: "It ends after what contains it, so the bar sticks out.",
  },
  STARTS_BEFORE_PARENT: {
    title: "Starts before its parent",
    meaning: "It starts before what contains it, so the bar sticks out.",
  },
  INFERRED_UPSTREAM: {
    title: "Order inferred",
    meaning: "Which node it waited for was worked out from times, because the workflow is not known.",
  },
  AFTER_TERMINAL: {
    title: "Events after the end",
    meaning: "Events came in that happened after its end.",
  },
  CLOCK_SKEW: {
    title: "Clocks disagree",
    meaning: "Times of different clocks contradict each other; lengths may be off.",
  },
  MISSING_TIMESTAMP: {
    title: "Time missing",
    meaning: "An event had no time; the time of receipt stands in.",
  },
  UNKNOWN_PHASE: {
    title: "Phase not known",
    meaning: "An event named no phase, or one that is not known here.",
  },
  COARSE_TIMESTAMP: {
    title: "Whole seconds",
    meaning: "A bound is known to the second only; short times beside it may be off by one second.",
  },
  INFERRED_PARENT: {
    title: "Parent inferred",
    meaning: "What contains it was worked out from the form of its id.",
  },
  TIMESTAMP_OUT_OF_RANGE: {
    title: "Time out of range",
    meaning: "A time could not be stored and was moved to the nearest that can.",
  },
  SEVERAL_PRODUCERS: {
    title: "Several reporters",
    meaning: "More than one cluster reported it.",
  },
  STALE: {
    title: "Nothing heard",
    meaning: "It has not ended, but nothing was heard of it for a long time.",
  },
  INFERRED_KIND: {
    title: "Kind inferred",
    meaning: "What the node does was worked out from what it contains.",
  },
};

export function qualityWords(quality: string): QualityWords {
  return QUALITIES[quality] ?? { title: fromName(quality), meaning: "" };
}

/** The names of the flags that are set, in ascending order of their bits. */
export function qualitiesOf(mask: number, names: readonly string[]): string[] {
  return names.filter((name, bit) => name !== "UNSPECIFIED" && bit < 32 && ((mask >>> bit) & 1) === 1);
}

/** "1 node", "20,000 nodes". */
export function plural(count: number, one: string, many: string = `${one}s`): string {
  return `${groupDigits(count)} ${count === 1 ? one : many}`;
}

/** 20000 as "20,000". */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Numbers of sub-tasks by how they stand: "20,000 sub-tasks: 19,990 ✓ 10 ✕"; "" when there are none. */
export function subtaskWords(counts: {
  total: number;
  succeeded: number;
  failed: number;
  open: number;
  other: number;
}): string {
  if (counts.total === 0) return "";
  const parts = [
    [counts.succeeded, "✓"],
    [counts.failed, "✕"],
    [counts.open, "▶"],
    [counts.other, "other"],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).map(([count, sign]) => `${groupDigits(count)} ${sign}`);
  return `${plural(counts.total, "sub-task")}: ${shown.join(" ")}`;
}

/** SCALE_UP as "Scale up". */
function fromName(name: string): string {
  const text = name.toLowerCase().replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
