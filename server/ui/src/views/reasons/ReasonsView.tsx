// All reasons in the order of time. Only what is in view is in the document.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Execution } from "../../data/execution";
import { sameReason } from "../../model/sameReason";
import { groupDigits, plural } from "../../model/words";
import { say } from "../../shell/say";
import type { ExecutionModel } from "../execution/model";
import { Check, Choice, LazyInput } from "../fields";
import { State } from "../parts";
import { lineOf, reasonLines, SEVERITIES, type ReasonFilter, type ReasonLines } from "./lines";
import { ReasonDetail } from "./ReasonDetail";
import { LINE_PX, placeOfReason, ReasonHeads, ReasonLine } from "./ReasonLine";

const OVERSCAN = 6;

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
  const text = model.parameter("text");
  const severity = SEVERITIES.find((each) => each === model.parameter("severity")) ?? "";
  const isGrouped = model.parameter("each") !== "1";
  const lines = useMemo(() => reasonLines(execution, { text, severity, isGrouped }), [execution, text, severity, isGrouped]);
  /** The reason that the keyboard is at, by its number in `known`. */
  const current = useSignal(-1);
  const known = useRef(execution);
  if (known.current !== execution) {
    current.value = sameReason(known.current, current.peek(), execution);
    known.current = execution;
  }
  useEffect(() => say(plural(lines.count, "line")), [lines.count]);
  return (
    <div class="rs">
      <Tools model={model} filter={{ text, severity, isGrouped }} lines={lines} total={execution.reasons.count} />
      {lines.count === 0 ? (
        <State title="No reason is like that" />
      ) : (
        <Lines model={model} execution={execution} lines={lines} current={current.value} onCurrent={(reason) => (current.value = reason)} />
      )}
      {current.value >= 0 && <ReasonDetail key={current.value} model={model} execution={execution} lines={lines} reason={current.value} />}
    </div>
  );
}

interface ToolsProps {
  model: ExecutionModel;
  filter: ReasonFilter;
  lines: ReasonLines;
  total: number;
}

function Tools({ model, filter, lines, total }: ToolsProps) {
  return (
    <div class="vw-row">
      <LazyInput
        data-search
        aria-label="Only reasons with this text"
        placeholder="Only reasons with this text"
        value={filter.text}
        onText={(text) => model.setParameter("text", text)}
      />
      <Choice
        label="Severity"
        value={filter.severity}
        options={[
          ["", "Any severity"],
          ["WARNING", "Warnings and errors"],
          ["ERROR", "Errors"],
        ]}
        onChoice={(severity) => model.setParameter("severity", severity)}
      />
      <Check label="Repeats on one line" isOn={filter.isGrouped} onChange={(isOn) => model.setParameter("each", isOn ? "" : "1")} />
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
  /** The first line in view, and how many there is room for. What is drawn changes only when one of them does. */
  const first = useSignal(0);
  const room = useSignal(24);
  useEffect(() => {
    const observer = new ResizeObserver(([{ contentRect }]) => (room.value = Math.floor(contentRect.height / LINE_PX) - 1));
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, []);
  const onScroll = (): void => {
    first.value = Math.floor(scroller.current!.scrollTop / LINE_PX);
  };
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
    onScroll();
  }, [execution, lines]);
  const most = room.value + 2 * OVERSCAN;
  const from = Math.max(0, Math.min(first.value - OVERSCAN, lines.count - most));
  const at = current < 0 ? -1 : lineOf(lines, current);
  const goTo = (line: number): void => {
    const next = Math.max(0, Math.min(lines.count - 1, line));
    onCurrent(lines.order[lines.first[next]]);
    // The detail that opens below takes height: look once it has.
    requestAnimationFrame(() => {
      const element = scroller.current!;
      const y = next * LINE_PX;
      element.scrollTop = Math.min(y, Math.max(element.scrollTop, y + 2 * LINE_PX - element.clientHeight)); // The heads are a line.
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, room.peek() - 1);
    const to: Record<string, number> = {
      ...{ ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1 },
      ...{ PageDown: at + page, PageUp: at - page, Home: 0, End: lines.count - 1 },
    };
    if (event.key === "Enter" && at >= 0 && event.target === scroller.current) model.go(placeOfReason(execution, current));
    else if (event.key in to) goTo(to[event.key]);
    else return;
    event.preventDefault();
  };
  const inView = Array.from({ length: Math.min(most, lines.count) }, (_, i) => from + i);
  return (
    <div
      class="rs-scroll"
      ref={scroller}
      role="grid"
      aria-label="Reasons in the order of time"
      aria-rowcount={lines.count + 1}
      aria-activedescendant={inView.includes(at) ? `reason-${at}` : undefined}
      tabIndex={0}
      data-first
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <ReasonHeads />
      <div class="rs-spacer" role="presentation" style={{ height: `${lines.count * LINE_PX}px` }}>
        <div class="rs-window" role="rowgroup" style={{ top: `${from * LINE_PX}px` }}>
          {inView.map((line) => (
            <ReasonLine
              key={line}
              model={model}
              execution={execution}
              lines={lines}
              line={line}
              isCurrent={line === at}
              onCurrent={() => goTo(line)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}
