"""The API: from an address to the read that answers it."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from google.protobuf.message_factory import GetMessageClass
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp

from spanwise_server.domain.errors import InvalidQuery, NotFound, StoreUnavailable
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.web.changes import Changes, Reader
from spanwise_server.web.column_reads import GET_COLUMNS, ColumnsRequest, decode_answer
from spanwise_server.web.endpoints import API, ENDPOINTS, METHODS, OF_EXECUTION, Endpoint
from spanwise_server.web.event_stream import EventStream
from spanwise_server.web.json_answers import read_name
from spanwise_server.web.negotiation import has_etag, takes_gzip
from spanwise_server.web.parameters import decode_segment, fill_request, read_parameters
from spanwise_server.web.responses import JSON

MAX_READS = 8
"""At once. The reader process computes in one interpreter, and answers gRPC callers as well."""

MAX_WAITING = 64
"""Reads that wait for one of those. Beyond that, to wait would help nobody."""

_EXECUTIONS = OF_EXECUTION.split("{")[0].strip("/").encode()
_NUM_PARTS = 4
"""Of a path behind that: project, domain, name, and what is asked for."""

COLUMNS = f"{OF_EXECUTION}/columns"
CHANGES = f"{OF_EXECUTION}/changes"
COLUMNS_TYPE = "application/x-spanwise-columns"

PATHS = (*(each.path for each in ENDPOINTS), COLUMNS, CHANGES)
"""All that there is below API."""


class Reads:
    """Reads for HTTP, a few at a time. To be used from one event loop."""

    def __init__(self, reader: Reader) -> None:
        """Read with `reader`."""
        self._reader = reader
        self._slots = asyncio.Semaphore(MAX_READS)
        self._num_waiting = 0

    async def read(self, name: str, payload: bytes) -> bytes:
        """Give the answer to a request of a read.

        Raises:
            StoreUnavailable: Too many wait already, or the store or the reader process is away.
            SpanwiseError: What is wrong with the request.
        """
        async with self._slot():
            return await self._reader.read(name, payload)

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        if self._num_waiting >= MAX_WAITING:
            raise StoreUnavailable("too many requests wait for an answer; try again")
        self._num_waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._num_waiting -= 1
        try:
            yield
        finally:
            self._slots.release()


class Api:
    """Answers what is below API. To be used from one event loop."""

    def __init__(self, reads: Reads, changes: Changes) -> None:
        """Answer with `reads`, and follow `changes`."""
        self._reads = reads
        self._changes = changes
        self._endpoints: Mapping[str, Endpoint] = {each.path: each for each in ENDPOINTS}

    async def answer(self, raw_path: bytes, query: bytes, headers: Headers) -> ASGIApp:
        """Answer a request.

        Args:
            raw_path: Path behind API, as it was sent.
            query: Query string, as it was sent.
            headers: Headers.

        Raises:
            SpanwiseError: What is wrong with it.
        """
        path, execution_id = _split(raw_path)
        if path in (COLUMNS, CHANGES) and execution_id is not None:
            read_parameters(query, ())
            if not execution_id.name:
                raise InvalidQuery("name", "is empty; name the execution")
            if path == CHANGES:
                return EventStream(self._changes, execution_id)
            return await self._give_columns(execution_id, headers)
        endpoint = self._endpoints.get(path)
        if endpoint is None:
            raise NotFound(_there_is())
        pairs = read_parameters(query, endpoint.parameters)
        return await self._ask(endpoint, execution_id, pairs, with_gzip=takes_gzip(headers))

    async def _ask(
        self,
        endpoint: Endpoint,
        execution_id: ExecutionId | None,
        pairs: Iterable[tuple[str, str]],
        *,
        with_gzip: bool,
    ) -> Response:
        request: Any = GetMessageClass(METHODS[endpoint.method].input_type)()
        if execution_id is not None:
            named = request.execution_id
            named.project, named.domain, named.name = execution_id
        fill_request(request, pairs, endpoint.parameters)
        name = read_name(endpoint.method, with_gzip=with_gzip)
        try:
            body = await self._reads.read(name, request.SerializeToString())
        except InvalidQuery as error:
            raise _name_parameter(error, endpoint) from error
        told = {"cache-control": "no-store", "vary": "accept-encoding"}
        if with_gzip:
            told["content-encoding"] = "gzip"
        return Response(body, headers=told, media_type=JSON)

    async def _give_columns(self, execution_id: ExecutionId, headers: Headers) -> Response:
        known = headers.get("if-none-match", "").strip().removeprefix("W/").strip('"')
        request = ColumnsRequest(execution_id, known)
        answer = decode_answer(await self._reads.read(GET_COLUMNS, request.encode()))
        told = {
            # A weak one: columns of one revision differ in the moment that they are of.
            "etag": f'W/"{answer.revision}"',
            "cache-control": "no-cache",
            "vary": "accept-encoding",
        }
        if not answer.compressed or has_etag(headers, told["etag"]):
            return Response(status_code=304, headers=told)
        body = answer.compressed
        if takes_gzip(headers):
            told["content-encoding"] = "gzip"
        else:
            body = await asyncio.to_thread(gzip.decompress, body)
        return Response(body, headers=told, media_type=COLUMNS_TYPE)


def _split(raw_path: bytes) -> tuple[str, ExecutionId | None]:
    """Give the path of the row that is asked for, and the execution that is named on the way."""
    first, *rest = raw_path.removeprefix(b"/").split(b"/")
    if first == _EXECUTIONS and not rest:
        return f"/{first.decode()}", None
    if first == _EXECUTIONS and len(rest) == _NUM_PARTS:
        project, domain, name, last = map(decode_segment, rest)
        return f"{OF_EXECUTION}/{last}", ExecutionId(project, domain, name)
    raise NotFound(_there_is())


def _there_is() -> str:
    return f"there is no such address; there are {', '.join(API + path for path in PATHS)}"


def _name_parameter(error: InvalidQuery, endpoint: Endpoint) -> InvalidQuery:
    """Let an error speak of the parameter that was given, instead of the field that it sets."""
    by_field = {field: name for name, field in endpoint.parameters.items()}
    outer, _, last = error.field.rpartition(".")
    name = by_field.get(error.field) or by_field.get(outer) or last
    return InvalidQuery(name, error.reason)
