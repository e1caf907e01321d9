// All reasons in the order of time. Only what is in view is in the document.

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Execution } from "../../data/execution";
import { sameReason } from "../../model/sameReason";
import { groupDigits, plural } from "../../model/words";
import { say } from "../../shell/say";
import type { ExecutionModel } from "../execution/model";
import { State } from "../parts";
import { lineOf, reasonLines, type ReasonFilter, type ReasonLines } from "./lines";
import { ReasonDetail } from "./ReasonDetail";
import { placeOfReason, ReasonLine, LINE_PX } from "./ReasonLine";

const OVERSCAN = 6;
const DEBOUNCE_MS = 150;

export function ReasonsView({ model }: { model: ExecutionModel }) {
  const execution = model.live.execution.value!;
  if (execution.reasons.count > 0) return <Reasons model={model} execution={execution} />;
  return (
    <State title="No reason has been told">
      <p>Reasons are what the platform said of nodes and tasks: what they wait for, and what happened to them. There is none yet.</p>
    </State>
  );
}

function Reasons({ model, execution }: { model: ExecutionModel; execution: Execution }) {
  const filter = filterOf(model);
  const lines = useMemo(
    () => reasonLines(execution, filter),
    [execution, filter.text, filter.severity, filter.isGrouped],
  );
  /** The reason that the keyboard is at, by its number in `known`. */
  const current = useSignal(-1);
  const known = useRef(execution);
  if (known.current !== execution) {
    current.value = sameReason(known.current, current.peek(), execution);
    known.current = execution;
  }
  useEffect(() => say(`${plural(lines.count, "line")}`), [lines.count]);
  return (
    <div class="rs">
      <Tools model={model} filter={filter} lines={lines} total={execution.reasons.count} />
      {lines.count === 0 ? (
        <State title="No reason is like that" />
      ) : (
        <Lines model={model} execution={execution} lines={lines} current={current.value} onCurrent={(reason) => (current.value = reason)} />
      )}
      {current.value >= 0 && <ReasonDetail key={current.value} model={model} execution={execution} lines={lines} reason={current.value} />}
    </div>
  );
}

function filterOf(model: ExecutionModel): ReasonFilter {
  const severity = model.parameter("severity");
  return {
    text: model.parameter("text"),
    severity: severity === "WARNING" || severity === "ERROR" ? severity : "",
    isGrouped: model.parameter("each") !== "1",
  };
}

interface ToolsProps {
  model: ExecutionModel;
  filter: ReasonFilter;
  lines: ReasonLines;
  total: number;
}

function Tools({ model, filter, lines, total }: ToolsProps) {
  const text = useSignal(filter.text);
  const timer = useRef(0);
  useEffect(() => {
    if (filter.text.trim() !== text.peek().trim()) text.value = filter.text;
  }, [filter.text]);
  return (
    <div class="rs-tools">
      <input
        type="text"
        data-search
        aria-label="Only reasons with this text"
        placeholder="Only reasons with this text"
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => model.setParameter("text", text.peek()), DEBOUNCE_MS);
        }}
      />
      <select
        aria-label="Severity"
        value={filter.severity}
        onChange={(event) => model.setParameter("severity", event.currentTarget.value)}
      >
        <option value="">Any severity</option>
        <option value="WARNING">Warnings and errors</option>
        <option value="ERROR">Errors</option>
      </select>
      <label class="ls-check">
        <input
          type="checkbox"
          checked={filter.isGrouped}
          onChange={(event) => model.setParameter("each", event.currentTarget.checked ? "" : "1")}
        />
        Repeats on one line
      </label>
      <span class="vw-muted rs-count">
        {groupDigits(lines.order.length)} of {plural(total, "reason")}
        {lines.count < lines.order.length && ` on ${plural(lines.count, "line")}`}
      </span>
    </div>
  );
}

interface LinesProps {
  model: ExecutionModel;
  execution: Execution;
  lines: ReasonLines;
  current: number;
  onCurrent: (reason: number) => void;
}

function Lines({ model, execution, lines, current, onCurrent }: LinesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  useEffect(() => {
    const element = scroller.current!;
    const measure = (): void => {
      height.value = element.clientHeight;
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // Lines that late events bring above what is in view do not move it.
  const before = useRef({ execution, lines });
  useLayoutEffect(() => {
    const old = before.current;
    before.current = { execution, lines };
    if (old.execution === execution) return;
    const element = scroller.current!;
    const place = Math.ceil(element.scrollTop / LINE_PX);
    if (place >= old.lines.count) return;
    const now = lineOf(lines, sameReason(old.execution, old.lines.order[old.lines.first[place]], execution));
    if (now < 0) return;
    element.scrollTop += (now - place) * LINE_PX;
    top.value = element.scrollTop;
  }, [execution, lines]);
  // What is in view changes only when the scrolling passes a line.
  const first = useComputed(() => Math.max(0, Math.floor(top.value / LINE_PX) - OVERSCAN)).value;
  const most = Math.ceil(height.value / LINE_PX) + 2 * OVERSCAN;
  const from = Math.min(first, Math.max(0, lines.count - most));
  const to = Math.min(lines.count, from + most);
  const at = current < 0 ? -1 : lineOf(lines, current);
  const goTo = (line: number): void => {
    const next = Math.max(0, Math.min(lines.count - 1, line));
    onCurrent(lines.order[lines.first[next]]);
    const element = scroller.current!;
    // The detail that opens below takes height: look again once it has.
    requestAnimationFrame(() => {
      const y = next * LINE_PX;
      if (y < element.scrollTop) element.scrollTop = y;
      else if (y + LINE_PX > element.scrollTop + element.clientHeight) element.scrollTop = y + LINE_PX - element.clientHeight;
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(height.peek() / LINE_PX) - 1);
    const to: Record<string, number> = {
      ...{ ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1 },
      ...{ PageDown: at + page, PageUp: at - page, Home: 0, End: lines.count - 1 },
    };
    if (event.key === "Enter" && at >= 0 && event.target === scroller.current) model.go(placeOfReason(execution, current));
    else if (event.key in to) goTo(to[event.key]);
    else return;
    event.preventDefault();
  };
  return (
    <div
      class="rs-scroll"
      ref={scroller}
      role="grid"
      aria-label="Reasons in the order of time"
      aria-rowcount={lines.count}
      aria-activedescendant={at >= from && at < to ? `reason-${at}` : undefined}
      tabIndex={0}
      data-first
      onScroll={() => (top.value = scroller.current!.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div class="rs-spacer" role="presentation" style={{ height: `${lines.count * LINE_PX}px` }}>
        <div class="rs-window" role="rowgroup" style={{ top: `${from * LINE_PX}px` }}>
          {Array.from({ length: to - from }, (_, i) => (
            <ReasonLine
              key={from + i}
              model={model}
              execution={execution}
              lines={lines}
              line={from + i}
              isCurrent={from + i === at}
              onCurrent={() => goTo(from + i)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}
