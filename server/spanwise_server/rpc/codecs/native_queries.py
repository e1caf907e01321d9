"""Codec of native read requests: what they ask for, or InvalidQuery."""

from collections.abc import Iterable

from spanwise.v1 import identifiers_pb2, span_service_pb2
from spanwise_server.domain.errors import InvalidQuery, NotSupported
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.phases import Phase
from spanwise_server.rpc.codecs.native import decode_execution_id
from spanwise_server.rpc.codecs.timestamps import decode_optional
from spanwise_server.rpc.tree_selection import Selection
from spanwise_server.service.execution_list import Wanted
from spanwise_server.storage.records import ExecutionFilter

MAX_ANSWER_BYTES = 60 * 2**20
"""Of the spans in one message. Clients of spanwise take 64 MiB."""

SPAN_ID_BYTES = 8
USUAL_REASONS, MAX_REASONS = 1_000, 10_000
USUAL_NODES, MAX_NODES = 200, 10_000
_NO_BOUND = 2**62


def require_execution_id(
    message: identifiers_pb2.ExecutionId, field: str = "execution_id"
) -> ExecutionId:
    """Give the execution that a field of a request names.

    Raises:
        InvalidQuery: It names none.
    """
    if not message.name:
        raise InvalidQuery(f"{field}.name", "is empty; name the execution")
    return decode_execution_id(message)


def require_page_size(page_size: int) -> int:
    """Give the page size of a request, which the service clamps.

    Raises:
        InvalidQuery: It is negative.
    """
    return _not_negative("page_size", page_size, "give 1 to 1000, or 0 for 100")


def require_after_sequence(after_sequence: int) -> int:
    """Give the cursor of a request, the sequence of an event; 0 for none.

    Raises:
        InvalidQuery: It is negative.
    """
    instead = "give the sequence of an event, or 0 for all"
    return _not_negative("after_sequence", after_sequence, instead)


def require_max_findings(max_findings: int) -> int:
    """Give the number of findings that a request asks for; 0 for the usual one.

    Raises:
        InvalidQuery: It is negative.
    """
    return _not_negative("max_findings", max_findings, "give 1 or more, or 0 for 5")


def require_spans_page_size(page_size: int) -> int:
    """Give the most spans of a page; 0 in the request means no bound.

    Raises:
        InvalidQuery: It is negative.
    """
    return _not_negative("page_size", page_size, "give 1 or more, or 0 for no bound") or _NO_BOUND


def decode_max_bytes(field: str, max_bytes: int, usual: int) -> int:
    """Give the most bytes of spans in a message: `usual` for 0, and MAX_ANSWER_BYTES at most.

    Raises:
        InvalidQuery: It is negative.
    """
    given = _not_negative(field, max_bytes, f"give 1 or more, or 0 for {usual}")
    return min(given or usual, MAX_ANSWER_BYTES)


def require_reasons_page_size(page_size: int) -> int:
    """Give the most reasons of a page.

    Raises:
        InvalidQuery: It is negative.
    """
    given = _not_negative("page_size", page_size, "give 1 to 10,000, or 0 for 1,000")
    return min(given or USUAL_REASONS, MAX_REASONS)


def require_max_nodes(max_nodes: int) -> int:
    """Give the most nodes of a comparison.

    Raises:
        InvalidQuery: It is negative.
    """
    given = _not_negative("max_nodes", max_nodes, "give 1 to 10,000, or 0 for 200")
    return min(given or USUAL_NODES, MAX_NODES)


def _not_negative(field: str, value: int, instead: str) -> int:
    if value < 0:
        raise InvalidQuery(field, f"is {value}; {instead}")
    return value


def require_span_id(field: str, span_id: bytes) -> bytes:
    """Give the id of a span; empty for none.

    Raises:
        InvalidQuery: It has not the length of an id.
    """
    if len(span_id) not in (0, SPAN_ID_BYTES):
        raise InvalidQuery(field, f"has {len(span_id)} bytes; ids of spans have 8")
    return span_id


def decode_selection(message: span_service_pb2.SpanSelection) -> Selection:
    """Give which part of a tree a request asks for.

    Raises:
        InvalidQuery: The id of a span is none, or the window ends before it starts.
    """
    root_span_id = require_span_id("selection.root_span_id", message.root_span_id)
    start_ns = decode_optional(message, "window_start")
    end_ns = decode_optional(message, "window_end")
    if start_ns is not None and end_ns is not None and end_ns < start_ns:
        raise InvalidQuery("selection.window_end", "is before window_start; swap them")
    return Selection(_depth(message), root_span_id, start_ns, end_ns)


def decode_watch_depth(request: span_service_pb2.WatchExecutionSpanRequest) -> int | None:
    """Give the levels below the root that somebody wants to watch; None for all.

    Raises:
        NotSupported: It asks for a part of the tree that cannot be watched. To give more than was
            asked for would be taken for the part.
    """
    selection = request.selection
    unserved = {
        "root_span_id": bool(selection.root_span_id),
        "window_start": selection.HasField("window_start"),
        "window_end": selection.HasField("window_end"),
    }
    for field, is_given in unserved.items():
        if is_given:
            raise NotSupported(
                f"selection.{field} cannot be watched; leave it unset, and limit the answers with"
                " selection.depth"
            )
    return _depth(selection)


def _depth(selection: span_service_pb2.SpanSelection) -> int | None:
    return selection.depth if selection.HasField("depth") else None


def decode_filter(request: span_service_pb2.ListExecutionsRequest) -> Wanted:
    """Give which executions a request asks for.

    Raises:
        InvalidQuery: It names a phase that is none.
    """
    query = ExecutionFilter(
        project=request.project,
        domain=request.domain,
        phases=_decode_phases(request.phases),
        started_from_ns=decode_optional(request, "started_after"),
        started_before_ns=decode_optional(request, "started_before"),
    )
    return Wanted(query, request.search, request.slower_than_usual)


def _decode_phases(numbers: Iterable[int]) -> frozenset[Phase]:
    try:
        return frozenset(Phase(number) for number in numbers)
    except ValueError as error:
        raise InvalidQuery("phases", str(error)) from error
