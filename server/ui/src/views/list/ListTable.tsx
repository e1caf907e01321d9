// The table of executions.

import { signal, useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { formatDuration } from "../../model/format";
import type { ExecutionPath } from "../../model/url";
import { plural } from "../../model/words";
import { executionHref } from "../../shell/links";
import { nameOf, PhaseMark, Took, When } from "../parts";
import { tookNs, type ListRow } from "./rows";

interface Props {
  rows: ListRow[];
  /** Whether these are of the question before. */
  isOld: boolean;
  picked: readonly ExecutionPath[];
  onPick: (row: ListRow) => void;
}

const nowMs = signal(Date.now());

export function ListTable({ rows, isOld, picked, onPick }: Props) {
  const isOpen = rows.some((row) => row.endNs === null);
  useEffect(() => {
    nowMs.value = Date.now();
    if (!isOpen) return;
    const timer = setInterval(() => document.visibilityState === "visible" && (nowMs.value = Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isOpen]);
  const names = new Set(picked.map(nameOf));
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || !moveRow(event)) return;
    event.preventDefault();
  };
  return (
    <div class="vw-scroll-x">
      <table class={isOld ? "vw-table ls-table is-old" : "vw-table ls-table"} aria-busy={isOld} onKeyDown={onKeyDown}>
        <caption class="sr-only">Executions, newest first</caption>
        <thead>
          <tr>
            <th class="ls-pick" scope="col">
              <span class="sr-only">Pick for a comparison</span>
            </th>
            <th scope="col">Phase</th>
            <th scope="col">Execution</th>
            <th scope="col">Project and domain</th>
            <th scope="col">Workflow</th>
            <th scope="col">Start</th>
            <th scope="col" class="is-number">
              Duration
            </th>
            <th scope="col" class="is-number">
              Usual
            </th>
            <th scope="col">
              <span class="sr-only">Compared with usual</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.key} row={row} isPicked={names.has(nameOf(row.path))} onPick={onPick} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row, isPicked, onPick }: { row: ListRow; isPicked: boolean; onPick: (row: ListRow) => void }) {
  const { path } = row;
  return (
    <tr class={isPicked ? "is-picked" : ""}>
      <td class="ls-pick">
        <label>
          <input type="checkbox" checked={isPicked} onChange={() => onPick(row)} aria-label={`Pick ${path.name} for a comparison`} />
        </label>
      </td>
      <td>
        <PhaseMark phase={row.phase} />
      </td>
      <th scope="row" class="ls-name">
        <a class="sh-link" href={executionHref(path)} title={nameOf(path)}>
          <bdi>{path.name}</bdi>
        </a>
      </th>
      <td class="ls-where" title={`${path.project}/${path.domain}`}>
        <bdi>
          {path.project}/{path.domain}
        </bdi>
      </td>
      <td class="ls-workflow" title={row.version === "" ? row.workflow : `${row.workflow}, version ${row.version}`}>
        <bdi>{row.workflow === "" ? <span class="vw-muted">not known</span> : row.workflow}</bdi>
      </td>
      <td class="ls-start">{row.startNs === null ? <span class="vw-muted">not known</span> : <Start ns={row.startNs} />}</td>
      <td class="is-number">
        <Duration row={row} />
      </td>
      <td class="is-number vw-muted ls-usual">
        {row.usualCount > 0 && (
          <span
            title={`Median of the ${plural(row.usualCount, "run")} before that succeeded; 95 of 100 took at most ${formatDuration(row.usualP95Ns)}`}
          >
            {formatDuration(row.usualNs)}
          </span>
        )}
      </td>
      <td class="ls-slower">{row.isSlower && <Slower row={row} />}</td>
    </tr>
  );
}

function Start({ ns }: { ns: bigint }) {
  const now = useComputed(() => BigInt(nowMs.value) * 1_000_000n);
  return <When ns={ns} nowNs={now.value} />;
}

function Duration({ row }: { row: ListRow }) {
  const ns = tookNs(row, row.endNs === null ? BigInt(nowMs.value) * 1_000_000n : 0n);
  if (Number.isNaN(ns)) return null;
  return row.endNs === null ? <Took ns={Math.floor(ns / 1e9) * 1e9} hint=" so far" /> : <Took ns={ns} />;
}

function Slower({ row }: { row: ListRow }) {
  const times = tookNs(row, BigInt(nowMs.peek()) * 1_000_000n) / row.usualNs;
  return (
    <span class="vw-warn">
      <span aria-hidden="true">▲</span> slower{times < 1000 && times >= 1.05 ? ` ×${times.toFixed(times < 10 ? 1 : 0)}` : ""}
    </span>
  );
}

/** Up and down go from line to line. Gives whether the key was one of these. */
function moveRow(event: KeyboardEvent): boolean {
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  const target = event.target as HTMLElement;
  const line = target.closest("tbody tr");
  if (line === null) return false;
  if (event.key === " " && target.tagName === "A") {
    line.querySelector<HTMLInputElement>("input")?.click();
    return true;
  }
  if (step === undefined) return false;
  const next = step > 0 ? line.nextElementSibling : line.previousElementSibling;
  next?.querySelector<HTMLElement>(target.tagName === "INPUT" ? "input" : "a")?.focus();
  return true;
}
