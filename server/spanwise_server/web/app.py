"""The ASGI application: what is asked for, whether it may be, and by whom it is answered."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spanwise_server.domain.errors import SpanwiseError
from spanwise_server.web.api import Api
from spanwise_server.web.endpoints import API
from spanwise_server.web.event_stream import until_gone
from spanwise_server.web.hosts import Hosts
from spanwise_server.web.negotiation import has_etag, takes_gzip
from spanwise_server.web.responses import SECURITY_HEADERS, failed
from spanwise_server.web.static_files import StaticFile, load_static_files

_log = structlog.get_logger(__name__)

METHODS = ("GET", "HEAD")

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Of Prometheus."""

_NOT_STORED = {"cache-control": "no-store"}

_API = f"{API}/".encode()

MAX_TARGET_BYTES = 8_000
"""Of a path with its query."""


class WebApp:
    """Answers requests. To be used from one event loop."""

    def __init__(
        self,
        hosts: Hosts,
        api: Api,
        code_of: Callable[[SpanwiseError], str],
        is_serving: Callable[[], bool],
        metrics: Callable[[], bytes],
    ) -> None:
        """Answer requests.

        Args:
            hosts: Names that may be asked for.
            api: Answers what is below API.
            code_of: Names the code of an error that was foreseen: that which gRPC callers get.
            is_serving: Tells whether the server takes calls.
            metrics: Gives the counters of this process as METRICS_TYPE.
        """
        self._metrics = metrics
        self._hosts = hosts
        self._api = api
        self._code_of = code_of
        self._is_serving = is_serving
        self._files: Mapping[str, StaticFile] = load_static_files()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        answer = _Answer(send)
        headers = Headers(scope=scope)
        try:
            response = _refuse(scope, headers, self._hosts) or await self._answer(
                scope, headers, receive
            )
            if response is not None:
                await response(scope, receive, answer.send)
        except SpanwiseError as error:
            await failed(self._code_of(error), str(error))(scope, receive, answer.send)
        except Exception:
            request_id = secrets.token_hex(8)
            _log.exception(
                "a request failed in a way that nobody foresaw",
                path=scope["path"],
                request_id=request_id,
            )
            if answer.has_begun:
                raise  # which breaks the connection off
            text = f"internal error; request {request_id} in the server's log"
            await failed("INTERNAL", text)(scope, receive, answer.send)

    async def _answer(self, scope: Scope, headers: Headers, receive: Receive) -> ASGIApp | None:
        """Give the answer, or None to a client that has left."""
        path = scope["path"]
        raw_path: bytes = scope["raw_path"]
        if raw_path.startswith(_API):
            raw_path = raw_path.removeprefix(_API)
            answering = self._api.answer(raw_path, scope["query_string"], headers)
            return await _unless_gone(answering, receive)
        if (file := self._files.get(path)) is not None:
            return _give_file(file, headers)
        if path == "/healthz":
            return self._give_health()
        if path == "/metrics":
            return Response(self._metrics(), headers=_NOT_STORED, media_type=METRICS_TYPE)
        return failed("NOT_FOUND", f"there is nothing at {path!r}; the page is at /")

    def _give_health(self) -> Response:
        is_serving = self._is_serving()
        text = "SERVING" if is_serving else "NOT_SERVING"
        return Response(
            f"{text}\n",
            200 if is_serving else 503,
            _NOT_STORED,
            "text/plain",
        )


async def _unless_gone(work: Coroutine[None, None, ASGIApp], receive: Receive) -> ASGIApp | None:
    """Give what work gives; cancel it, and give None, when the client leaves before."""
    working = asyncio.create_task(work)
    gone = asyncio.create_task(until_gone(receive))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        return await working if working.done() else None
    finally:
        working.cancel()
        gone.cancel()


def _refuse(scope: Scope, headers: Headers, hosts: Hosts) -> Response | None:
    """Give the answer to a request that is none of ours, or None."""
    if scope["method"] not in METHODS:
        refusal = failed(
            "UNIMPLEMENTED",
            f"{scope['method']} is not served; everything here is read with GET",
            status=405,
        )
        refusal.headers["allow"] = ", ".join(METHODS)
        return _and_close(refusal)
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        message = "the request has a body; ask with parameters"
        return _and_close(failed("INVALID_ARGUMENT", message, status=413))
    host = headers.get("host", "")
    if not hosts.knows(host):
        return failed(
            "PERMISSION_DENIED",
            f"this server is not known as {host!r}; use its IP address, or name it in the setting"
            " http_hosts",
        )
    if (
        headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        and headers.get("sec-fetch-mode") != "navigate"
    ):
        # It could not read the answer, but make the server compute.
        return failed("PERMISSION_DENIED", "a page from elsewhere may link here, and no more")
    if len(scope["raw_path"]) + len(scope["query_string"]) > MAX_TARGET_BYTES:
        return failed(
            "INVALID_ARGUMENT", f"the address has more than {MAX_TARGET_BYTES} bytes", status=414
        )
    return None


def _and_close(response: Response) -> Response:
    """End the connection after an answer, instead of reading a body that nobody wants."""
    response.headers["connection"] = "close"
    return response


def _give_file(file: StaticFile, headers: Headers) -> Response:
    told = {"etag": file.etag, "cache-control": file.cache_control, "vary": "accept-encoding"}
    if has_etag(headers, file.etag):
        return Response(status_code=304, headers=told)
    content = file.content
    if file.gzipped is not None and takes_gzip(headers):
        content, told["content-encoding"] = file.gzipped, "gzip"
    return Response(content, headers=told, media_type=file.media_type)


class _Answer:
    """The answer to one request, with the headers that all have."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            MutableHeaders(scope=message).update(SECURITY_HEADERS)
        await self._send(message)
