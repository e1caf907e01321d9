"""Commands that read from a server."""

import base64
import json
import sys
import time
from collections.abc import Iterable
from enum import StrEnum
from itertools import islice
from typing import Annotated, Any

import typer

from spanwise import Client, ExecutionId, InvalidRequest
from spanwise._client import DEFAULT_ENDPOINT
from spanwise._dump import to_json
from spanwise._text import write_text
from spanwise._times import rfc3339, short_duration, to_ns
from spanwise._values import enum_name, phase_name, quality_name
from spanwise.cli import options
from spanwise.cli.table import write_growing_table, write_table
from spanwise.v1 import event_service_pb2, identifiers_pb2, span_service_pb2


class Order(StrEnum):
    """Order of events."""

    RECORDED = "recorded"
    OCCURRED = "occurred"


class Form(StrEnum):
    """Form of dump."""

    TREE = "tree"
    BREAKDOWN = "breakdown"


_EVENT_COLUMNS = {
    "sequence": 8,
    "occurred_at": 30,
    "recorded_at": 30,
    "entity": 10,
    "phase": 24,
    "disposition": 11,
    "notes": 0,
}
"""Columns of events, and their widths where the events are still to come."""


def list_executions(
    scope: Annotated[
        str, typer.Argument(metavar="PROJECT[/DOMAIN]", help="Only of these.", show_default=False)
    ] = "",
    *,
    phase: Annotated[
        list[str] | None,
        typer.Option(metavar="PHASE", help="Only in this phase, for instance FAILED. Repeatable."),
    ] = None,
    search: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="Only those with this text in their name or that of their workflow.",
            show_default=False,
        ),
    ] = "",
    slower: Annotated[
        bool,
        typer.Option("--slower", help="Only those that took longer than is usual."),
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Most executions to show.")] = 50,
    local_time: options.LocalTime = False,
    as_json: options.JsonLines = False,
    endpoint: options.Endpoint = DEFAULT_ENDPOINT,
) -> None:
    """List executions, the newest first.

    The duration of an open one is that up to now. Usual is the median of the last 50 executions
    of the same workflow that succeeded and started before it, and slower what took longer than
    95 % of them.
    """
    project, _, domain = scope.partition("/")
    if "/" in domain:
        raise InvalidRequest(
            f"{scope!r} is not of the form PROJECT or PROJECT/DOMAIN; for one execution, "
            "see 'spanwise explain'"
        )
    with Client(endpoint) as client:
        found = client.list_executions(
            project,
            domain,
            phases=phase or (),
            search=search,
            slower_than_usual=slower,
            page_size=min(limit + 1, 1000),
        )
        summaries = list(islice(found, limit + 1))
    shown = summaries[:limit]
    if as_json:
        _write_json_lines(map(_summary_values, shown))
    else:
        head = ["execution", "phase", "start_timestamp", "end_timestamp", "duration", "workflow"]
        now_ns = time.time_ns()
        rows = [_summary_row(summary, now_ns, local_time=local_time) for summary in shown]
        if any(summary.HasField("usual") for summary in shown):
            head.append("usual")
            rows = [(*row, _usual(each)) for row, each in zip(rows, shown, strict=True)]
        write_table(head, rows, right_aligned={"duration"})
    if not summaries:
        hint = (
            "none fits; 'spanwise list' shows all"
            if scope or phase or search or slower
            else f"see one with 'spanwise demo --endpoint {endpoint}'"
        )
        typer.echo(f"spanwise: no executions: {hint}", err=True)
    if len(summaries) > limit:
        typer.echo(f"spanwise: there are more than {limit}; see them with --limit", err=True)


def list_events(
    execution: options.Execution,
    *,
    order: Annotated[
        Order, typer.Option(help="By receipt, or by the clock of the source.")
    ] = Order.RECORDED,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Go on with new events as they are stored, until Ctrl-C."),
    ] = False,
    payload: Annotated[
        bool,
        typer.Option("--payload", help="With --json: the request as received, in base64."),
    ] = False,
    local_time: options.LocalTime = False,
    as_json: options.JsonLines = False,
    endpoint: options.Endpoint = DEFAULT_ENDPOINT,
) -> None:
    """List every event of an execution.

    Also those that came late, were repeated or were refused. With --follow the execution need not
    have begun, and the columns fit the usual values.
    """
    if payload and not as_json:
        raise typer.BadParameter("--payload needs --json: a table cannot show bytes")
    if follow and order is Order.OCCURRED:
        raise typer.BadParameter("--follow is by receipt: what happened before may come later")
    with Client(endpoint) as client:
        events = (
            client.watch_events(execution, include_payload=payload)
            if follow
            else client.list_events(
                execution, order=order.value, include_payload=payload, page_size=1000
            )
        )
        if as_json:
            _write_json_lines(_event_values(event, payload=payload) for event in events)
            return
        rows = (_event_row(event, local_time=local_time) for event in events)
        if follow:
            write_growing_table(_EVENT_COLUMNS, rows, right_aligned={"sequence"})
        else:
            write_table(list(_EVENT_COLUMNS), rows, right_aligned={"sequence"})


def explain(
    execution: options.Execution,
    *,
    depth: Annotated[
        int | None,
        typer.Option(min=0, help="Levels below the execution. Default: all.", show_default=False),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Long texts whole, and one by one what is alike: reasons, sub-tasks, marks.",
        ),
    ] = False,
    waterfall: Annotated[
        bool,
        typer.Option("--waterfall", help="Bars over a time axis instead of a table."),
    ] = False,
    local_time: options.LocalTime = False,
    as_json: options.Json = False,
    endpoint: options.Endpoint = DEFAULT_ENDPOINT,
) -> None:
    """Show where the time went, and why.

    A tree of spans: the execution, its nodes, their attempts, and the operations in between. Below
    a span stand its reasons: number, time since its start, phase, what it means, text. With
    --waterfall, each is a bar, filled with its operations, and the numbers of the reasons stand
    below it at their times. All of it is explained in docs/reading-explain.md.
    """
    if waterfall and as_json:
        raise typer.BadParameter("--waterfall and --json are two forms: choose one")
    with Client(endpoint) as client:
        span = client.get_execution_span(execution, depth=depth)
    if as_json:
        for piece in to_json(span):
            sys.stdout.write(piece)
        sys.stdout.write("\n")
    elif waterfall:
        span.waterfall(local_time=local_time, full=full)
    else:
        span.explain(local_time=local_time, full=full)


def dump(
    execution: options.Execution,
    *,
    form: Annotated[
        Form,
        typer.Option("--format", help="The tree of spans, or seconds by operation at every level."),
    ] = Form.TREE,
    endpoint: options.Endpoint = DEFAULT_ENDPOINT,
) -> None:
    """Write the spans of an execution as YAML."""
    with Client(endpoint) as client:
        client.get_execution_span(execution).dump(form.value)


def _write_json_lines(values: Iterable[dict[str, Any]]) -> None:
    for each in values:
        write_text(f"{json.dumps(each)}\n", sys.stdout)
        sys.stdout.flush()  # the next one may be long in coming


def _summary_values(summary: span_service_pb2.ExecutionSummary) -> dict[str, Any]:
    start_ns, end_ns = to_ns(summary.start_time), _end_ns(summary)
    return {
        "execution_id": str(ExecutionId.from_message(summary.execution_id)),
        "phase": phase_name(summary.phase),
        "start_time": rfc3339(start_ns),
        "end_time": None if end_ns is None else rfc3339(end_ns),
        "duration_ns": None if end_ns is None else end_ns - start_ns,
        "workflow": _workflow(summary.workflow_id),
        "qualities": list(map(quality_name, summary.qualities)),
        "usual": _usual_values(summary.usual) if summary.HasField("usual") else None,
        "slower_than_usual": summary.slower_than_usual,
    }


def _usual_values(usual: span_service_pb2.UsualDuration) -> dict[str, int]:
    return {
        "p50_ns": usual.p50.ToNanoseconds(),
        "p95_ns": usual.p95.ToNanoseconds(),
        "sample_count": usual.sample_count,
    }


def _usual(summary: span_service_pb2.ExecutionSummary) -> str:
    if not summary.HasField("usual"):
        return ""
    usual = short_duration(summary.usual.p50.ToNanoseconds())
    return f"{usual}, this is slower" if summary.slower_than_usual else usual


def _summary_row(
    summary: span_service_pb2.ExecutionSummary, now_ns: int, *, local_time: bool
) -> tuple[str, ...]:
    start_ns, end_ns = to_ns(summary.start_time), _end_ns(summary)
    return (
        str(ExecutionId.from_message(summary.execution_id)),
        phase_name(summary.phase) or "unknown",
        rfc3339(start_ns, local_time=local_time),
        "open" if end_ns is None else rfc3339(end_ns, local_time=local_time),
        short_duration(max((now_ns if end_ns is None else end_ns) - start_ns, 0)),
        _workflow(summary.workflow_id),
    )


def _end_ns(summary: span_service_pb2.ExecutionSummary) -> int | None:
    return to_ns(summary.end_time) if summary.HasField("end_time") else None


def _workflow(workflow_id: identifiers_pb2.EntityVersion) -> str:
    return " ".join(part for part in (workflow_id.name, workflow_id.version) if part)


def _event_values(event: event_service_pb2.LoggedEvent, *, payload: bool) -> dict[str, Any]:
    values = {
        "sequence": event.sequence,
        "entity_kind": enum_name(event_service_pb2.EntityKind, event.entity_kind),
        "node_id": event.node_id,
        "retry_attempt": event.retry_attempt if event.HasField("retry_attempt") else None,
        "phase": phase_name(event.phase),
        "phase_version": event.phase_version,
        "occurred_at": rfc3339(to_ns(event.occurred_at)),
        "reported_at": (
            rfc3339(to_ns(event.reported_at)) if event.HasField("reported_at") else None
        ),
        "recorded_at": rfc3339(to_ns(event.recorded_at)),
        "producer_id": event.producer_id,
        "disposition": enum_name(event_service_pb2.Disposition, event.disposition),
        "refusal": event.refusal,
        "qualities": _event_qualities(event),
        "payload_type": event.payload_type,
    }
    if payload:
        values["payload"] = base64.b64encode(event.payload).decode()
    return values


def _event_row(event: event_service_pb2.LoggedEvent, *, local_time: bool) -> tuple[str, ...]:
    entity = event.node_id or "execution"
    if event.HasField("retry_attempt"):
        entity = f"{event.node_id}[{event.retry_attempt}]"
    notes = [event.refusal, *(name.lower().replace("_", " ") for name in _event_qualities(event))]
    version = f" v{event.phase_version}" if event.HasField("retry_attempt") else ""
    return (
        str(event.sequence),
        rfc3339(to_ns(event.occurred_at), local_time=local_time),
        rfc3339(to_ns(event.recorded_at), local_time=local_time),
        entity,
        phase_name(event.phase) + version,
        enum_name(event_service_pb2.Disposition, event.disposition),
        "; ".join(note for note in notes if note),
    )


def _event_qualities(event: event_service_pb2.LoggedEvent) -> list[str]:
    return [enum_name(event_service_pb2.EventQuality, number) for number in event.qualities]
