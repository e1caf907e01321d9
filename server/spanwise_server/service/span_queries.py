"""The way out for spans: trees and lists of executions."""

from typing import NamedTuple

from spanwise_server.domain.errors import InvalidPageToken
from spanwise_server.domain.flyte_metrics import render_metrics
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.domain.metric_spans import MetricSpan
from spanwise_server.domain.span_builder import build_span_tree
from spanwise_server.domain.spans import Span
from spanwise_server.service.arrivals import PayloadDecoder
from spanwise_server.service.event_log import clamp_page_size
from spanwise_server.service.known_executions import KnownExecutions
from spanwise_server.service.page_tokens import Cursor, decode_page_token, encode_page_token
from spanwise_server.service.workflow_registry import DefinitionDecoder
from spanwise_server.storage.api import (
    ExecutionFilter,
    ExecutionRecord,
    Storage,
)


class ExecutionPage(NamedTuple):
    """A page of executions. `next_page_token` is empty on the last one."""

    executions: list[ExecutionRecord]
    next_page_token: str


class SpanQueries:
    """Builds spans from storage. Blocking; safe for several threads."""

    def __init__(
        self,
        storage: Storage,
        decode: PayloadDecoder,
        decode_definition: DefinitionDecoder,
    ) -> None:
        """Read from `storage`.

        Args:
            storage: Storage.
            decode: Decodes the payloads that carry details.
            decode_definition: Decodes registered workflows.
        """
        self._storage = storage
        self._known = KnownExecutions(decode, decode_definition)

    def get_span(self, execution_id: ExecutionId) -> Span:
        """Give the span tree of an execution, with the executions that it started.

        Raises:
            ExecutionNotFound: No event ever named it.
            CorruptRecord: A payload of the log or a registered workflow cannot be decoded.
        """
        with self._storage.read() as reader:
            family = self._known.read_family(reader, execution_id)
        return build_span_tree(family.execution, family.children)

    def get_metrics(self, execution_id: ExecutionId, depth: int) -> MetricSpan:
        """Give the tree as GetExecutionMetrics of Flyte gives it. Raises as get_span."""
        return render_metrics(self.get_span(execution_id), depth)

    def list_executions(
        self, query: ExecutionFilter, page_size: int, page_token: str
    ) -> ExecutionPage:
        """Give a page of executions, the latest start first.

        Args:
            query: Which ones.
            page_size: Most executions; 0 means 100, more than 1000 means 1000.
            page_token: next_page_token of the page before; empty for the first.

        Raises:
            InvalidPageToken: The token is damaged or was made for another query.
        """
        request = ("executions", *query._replace(phases=frozenset()), sorted(query.phases))
        after = _to_place(decode_page_token(request, page_token)) if page_token else None
        limit = clamp_page_size(page_size)
        with self._storage.read() as reader:
            executions = reader.list_executions(query, after=after, limit=limit + 1)
        if len(executions) <= limit:
            return ExecutionPage(executions, "")
        last = executions[limit - 1]
        start_ns = last.first_seen_ns if last.state is None else last.state.created_at_ns
        token = encode_page_token(request, (start_ns, last.execution_key.hex()))
        return ExecutionPage(executions[:limit], token)


def _to_place(cursor: Cursor) -> tuple[int, bytes]:
    match cursor:
        case (int(start_ns), str(key)):
            try:
                return start_ns, bytes.fromhex(key)
            except ValueError as error:
                raise InvalidPageToken from error
        case _:
            raise InvalidPageToken
