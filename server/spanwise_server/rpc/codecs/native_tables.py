"""Codec of tables of executions: domain outward, as messages of spanwise.v1.SpanService."""

from collections.abc import Iterable, Iterator

from spanwise.v1 import span_service_pb2
from spanwise_server.domain.comparison import NodeDelta, OperationDelta
from spanwise_server.domain.identifiers import span_id_bytes
from spanwise_server.domain.operation_table import OperationRow, OperationTable
from spanwise_server.domain.reason_list import PlacedMark
from spanwise_server.domain.span_paths import SpanPaths
from spanwise_server.domain.totals import end_of
from spanwise_server.rpc.codecs.native_spans import fill_mark
from spanwise_server.rpc.codecs.timestamps import fill_duration
from spanwise_server.service.span_tables import ComparedExecutions


def encode_operations(table: OperationTable) -> span_service_pb2.SummarizeOperationsResponse:
    """Give the message of a table, but for the moment that it was made as of."""
    message = span_service_pb2.SummarizeOperationsResponse(approximate=table.is_approximate)
    for row in table.rows:
        _fill_row(message.operations.add(), row)
    fill_duration(message.critical_path, table.critical_ns)
    fill_duration(message.unattributed_critical, table.unattributed_ns)
    fill_duration(message.wall_time, table.wall_ns)
    return message


def _fill_row(message: span_service_pb2.OperationSummary, row: OperationRow) -> None:
    message.operation = row.operation  # type: ignore[assignment]
    message.count = row.num_spans
    message.open_count = row.num_open
    fill_duration(message.total, row.total_ns)
    fill_duration(message.union, row.union_ns)
    fill_duration(message.self_time, row.self_ns)
    fill_duration(message.mean, row.mean_ns)
    fill_duration(message.p50, row.p50_ns)
    fill_duration(message.p95, row.p95_ns)
    fill_duration(message.max, row.max_ns)
    fill_duration(message.critical, row.critical_ns)
    message.longest_span_id = span_id_bytes(row.longest.span_id)


def encode_placed_reasons(marks: Iterable[PlacedMark], paths: SpanPaths) -> Iterator[bytes]:
    """Give each reason as the bytes of a ListReasonsResponse that has it alone."""
    for mark, span in marks:
        message = span_service_pb2.ListReasonsResponse()
        placed = message.reasons.add(
            span_id=span_id_bytes(span.span_id), path=paths.short_path(span)
        )
        fill_mark(placed.reason, mark)
        yield message.SerializeToString()


def encode_comparison(
    compared: ComparedExecutions, max_nodes: int, as_of_ns: int
) -> span_service_pb2.CompareExecutionsResponse:
    """Give the message of a comparison that was made as of a moment, but for that moment."""
    root, base_root, (operations, nodes), _ = compared
    message = span_service_pb2.CompareExecutionsResponse(
        phase=root.phase,  # type: ignore[arg-type]
        base_phase=base_root.phase,  # type: ignore[arg-type]
        left_out_count=max(len(nodes) - max_nodes, 0),
    )
    fill_duration(message.duration, end_of(root, as_of_ns) - root.start_ns)
    fill_duration(message.base_duration, end_of(base_root, as_of_ns) - base_root.start_ns)
    for operation in operations:
        _fill_operation(message.operations.add(), operation)
    paths, base_paths = SpanPaths(root), SpanPaths(base_root)
    for delta in nodes[:max_nodes]:
        _fill_node(message.nodes.add(), delta, paths, base_paths)
    return message


def _fill_node(
    message: span_service_pb2.NodeDelta, delta: NodeDelta, paths: SpanPaths, base_paths: SpanPaths
) -> None:
    times, base_times, operations = delta
    if base_times is not None:
        message.path = base_paths.short_path(base_times.span)
        message.base_span_id = span_id_bytes(base_times.span.span_id)
        fill_duration(message.base_duration, base_times.duration_ns)
        message.base_phase = base_times.span.phase  # type: ignore[assignment]
        message.base_attempt_count = base_times.num_attempts
    if times is not None:
        message.path = paths.short_path(times.span)
        message.span_id = span_id_bytes(times.span.span_id)
        fill_duration(message.duration, times.duration_ns)
        message.phase = times.span.phase  # type: ignore[assignment]
        message.attempt_count = times.num_attempts
    for operation in operations:
        _fill_operation(message.operations.add(), operation)


def _fill_operation(message: span_service_pb2.OperationDelta, delta: OperationDelta) -> None:
    message.operation = delta.operation  # type: ignore[assignment]
    fill_duration(message.duration, delta.duration_ns)
    fill_duration(message.base_duration, delta.base_duration_ns)
    message.count = delta.num_spans
    message.base_count = delta.base_num_spans
