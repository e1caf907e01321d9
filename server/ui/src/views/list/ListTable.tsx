// The table of executions.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { formatDuration } from "../../model/format";
import { formatPath, type ExecutionPath } from "../../model/url";
import { visible } from "../../model/visible";
import { plural } from "../../model/words";
import { executionHref } from "../../shell/links";
import { Name, nameOf, PhaseMark, Took, versionOf, When } from "../parts";
import { Table, type Column } from "../Table";
import { tookNs, type ListRow } from "./rows";

interface Props {
  rows: ListRow[];
  /** Whether these are of the question before. */
  isOld: boolean;
  picked: readonly ExecutionPath[];
  onPick: (row: ListRow) => void;
}

const nowMs = signal(Date.now());
const nowNs = () => BigInt(nowMs.value) * 1_000_000n;

/** Columns that tell of an execution wherever executions are listed. */
export const COLUMNS = {
  phase: { title: "Phase", cell: ({ phase }) => <PhaseMark phase={phase} /> },
  start: { title: "Start", cell: ({ startNs }) => startNs === null ? <span class="vw-muted">not known</span> : <Start ns={startNs} /> },
  duration: { title: "Duration", isNumber: true, cell: (row) => <Duration row={row} /> },
} satisfies Record<string, Column<ListRow>>;

export function ListTable({ rows, isOld, picked, onPick }: Props) {
  useClock(rows.some(({ endNs }) => endNs === null));
  const keys = picked.map(formatPath);
  const isPicked = ({ key }: ListRow) => keys.includes(key);
  const columns: Column<ListRow>[] = [
    {
      title: "Pick for a comparison",
      isBare: true,
      kind: "ls-pick",
      cell: (row) => (
        <label>
          <input type="checkbox" checked={isPicked(row)} onChange={() => onPick(row)} aria-label={`Pick ${visible(row.path.name)} for a comparison`} />
        </label>
      ),
    },
    COLUMNS.phase,
    {
      title: "Execution",
      kind: "ls-name is-first",
      cell: ({ path }) => (
        <a class="sh-link" href={executionHref(path)} title={visible(nameOf(path))}>
          <Name of={path.name} />
        </a>
      ),
    },
    { title: "Project and domain", kind: "ls-where is-first", cell: ({ path }) => <Name of={`${path.project}/${path.domain}`} /> },
    {
      title: "Workflow",
      kind: "ls-workflow",
      hintOf: ({ workflow, version }) => versionOf(workflow || "not known", version),
      cell: ({ workflow }) => (workflow === "" ? <span class="vw-muted">not known</span> : <Name of={workflow} />),
    },
    COLUMNS.start,
    COLUMNS.duration,
    {
      title: "Usual",
      isNumber: true,
      kind: "ls-usual vw-muted",
      cell: ({ usualCount, usualNs, usualP95Ns }) =>
        usualCount > 0 && (
          <span title={`Median of the ${plural(usualCount, "run")} before that succeeded; 95 of 100 took at most ${formatDuration(usualP95Ns)}`}>
            {formatDuration(usualNs)}
          </span>
        ),
    },
    { title: "Compared with usual", isBare: true, kind: "vw-warn", cell: (row) => row.isSlower && slowerWords(row) },
  ];
  return (
    <Table
      caption="Executions, newest first"
      kind={isOld ? "is-cards is-old" : "is-cards"}
      aria-busy={isOld}
      onKeyDown={onKeyDown}
      columns={columns}
      head={2}
      rows={rows}
      keyOf={({ key }) => key}
      isPicked={isPicked}
    />
  );
}

/** Keeps the clock right that columns count by: every second, or once. */
export function useClock(ticks: boolean): void {
  useEffect(() => {
    nowMs.value = Date.now();
    if (!ticks) return;
    const timer = setInterval(() => document.visibilityState === "visible" && (nowMs.value = Date.now()), 1000);
    return () => clearInterval(timer);
  }, [ticks]);
}

function Start({ ns }: { ns: bigint }) {
  return <When ns={ns} nowNs={nowNs()} />;
}

function Duration({ row }: { row: ListRow }) {
  const isOpen = row.endNs === null;
  const ns = tookNs(row, isOpen ? nowNs() : 0n);
  if (Number.isNaN(ns)) return null;
  return <Took ns={isOpen ? Math.floor(ns / 1e9) * 1e9 : ns} hint={isOpen ? " so far" : ""} />;
}

function slowerWords(row: ListRow) {
  const times = tookNs(row, BigInt(nowMs.peek()) * 1_000_000n) / row.usualNs;
  return (
    <span class="vw-number">
      <span aria-hidden="true">▲</span> slower{times < 1000 && times >= 1.05 && ` ×${times.toFixed(times < 10 ? 1 : 0)}`}
    </span>
  );
}

/** Up and down go from line to line; the space bar picks. */
function onKeyDown(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const line = target.closest("tbody tr");
  if (line === null || event.ctrlKey || event.metaKey || event.altKey) return;
  const what = target.tagName === "INPUT" ? "input" : "a";
  if (event.key === " " && what === "a") line.querySelector("input")!.click();
  else if (/^(ArrowDown|j)$/.test(event.key)) line.nextElementSibling?.querySelector<HTMLElement>(what)?.focus();
  else if (/^(ArrowUp|k)$/.test(event.key)) line.previousElementSibling?.querySelector<HTMLElement>(what)?.focus();
  else return;
  event.preventDefault();
}
