"""Codec of native read requests: what they ask for, or InvalidQuery."""

from collections.abc import Iterable, Mapping

from spanwise.v1 import identifiers_pb2, span_service_pb2
from spanwise_server.domain.errors import InvalidQuery, NotSupported
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.phases import Phase
from spanwise_server.rpc.codecs.native import decode_execution_id
from spanwise_server.rpc.codecs.timestamps import decode_optional
from spanwise_server.storage.api import ExecutionFilter


def require_execution_id(message: identifiers_pb2.ExecutionId) -> ExecutionId:
    """Give the execution that a request names.

    Raises:
        InvalidQuery: It names none.
    """
    if not message.name:
        raise InvalidQuery("execution_id.name", "is empty; name the execution")
    return decode_execution_id(message)


def require_page_size(page_size: int) -> int:
    """Give the page size of a request, which the service clamps.

    Raises:
        InvalidQuery: It is negative.
    """
    if page_size < 0:
        raise InvalidQuery("page_size", f"is {page_size}; give 1 to 1000, or 0 for 100")
    return page_size


def require_max_findings(max_findings: int) -> int:
    """Give the number of findings that a request asks for; 0 for the usual one.

    Raises:
        InvalidQuery: It is negative.
    """
    if max_findings < 0:
        raise InvalidQuery("max_findings", f"is {max_findings}; give 1 or more, or 0 for 5")
    return max_findings


def decode_depth(request: span_service_pb2.GetExecutionSpanRequest) -> int | None:
    """Give the levels below the root that a request for a tree asks for; None for all.

    Raises:
        NotSupported: It asks for a part of the tree that this version cannot pick. To give more
            than was asked for would be taken for the part.
    """
    _refuse_unserved(
        "GetExecutionSpan",
        _unserved_parts(request.selection)
        | {"page_size": bool(request.page_size), "page_token": bool(request.page_token)},
    )
    return _depth(request.selection)


def decode_watch_depth(request: span_service_pb2.WatchExecutionSpanRequest) -> int | None:
    """Give the levels below the root that somebody wants to watch: as decode_depth."""
    _refuse_unserved("WatchExecutionSpan", _unserved_parts(request.selection))
    return _depth(request.selection)


def _unserved_parts(selection: span_service_pb2.SpanSelection) -> dict[str, bool]:
    return {
        "selection.root_span_id": bool(selection.root_span_id),
        "selection.window_start": selection.HasField("window_start"),
        "selection.window_end": selection.HasField("window_end"),
    }


def _refuse_unserved(method: str, unserved: Mapping[str, bool]) -> None:
    for field, is_given in unserved.items():
        if is_given:
            raise NotSupported(
                f"this version does not serve {field} of {method} yet; leave it unset,"
                " and limit the answer with selection.depth"
            )


def _depth(selection: span_service_pb2.SpanSelection) -> int | None:
    return selection.depth if selection.HasField("depth") else None


def decode_filter(request: span_service_pb2.ListExecutionsRequest) -> ExecutionFilter:
    """Give which executions a request asks for.

    Raises:
        InvalidQuery: It names a phase that is none.
    """
    return ExecutionFilter(
        project=request.project,
        domain=request.domain,
        phases=_decode_phases(request.phases),
        started_from_ns=decode_optional(request, "started_after"),
        started_before_ns=decode_optional(request, "started_before"),
    )


def _decode_phases(numbers: Iterable[int]) -> frozenset[Phase]:
    try:
        return frozenset(Phase(number) for number in numbers)
    except ValueError as error:
        raise InvalidQuery("phases", str(error)) from error
