"""The ASGI application: what is asked for, whether it may be, and by whom it is answered."""

import secrets
from collections.abc import Callable, Mapping

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from spanwise_server.domain.errors import SpanwiseError
from spanwise_server.web.hosts import Hosts
from spanwise_server.web.responses import SECURITY_HEADERS, code_of, failed
from spanwise_server.web.static_files import StaticFile, load_static_files

_log = structlog.get_logger(__name__)

METHODS = ("GET", "HEAD")

MAX_TARGET_BYTES = 8_000
"""Of a path with its query."""


class WebApp:
    """Answers requests. To be used from one event loop."""

    def __init__(self, hosts: Hosts, is_serving: Callable[[], bool]) -> None:
        """Answer requests for `hosts`.

        Args:
            hosts: Names that may be asked for.
            is_serving: Tells whether the server takes calls.
        """
        self._hosts = hosts
        self._is_serving = is_serving
        self._files: Mapping[str, StaticFile] = load_static_files()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        send = _with_security_headers(send)
        headers = Headers(scope=scope)
        try:
            response = _refuse(scope, headers, self._hosts) or self._answer(scope, headers)
        except SpanwiseError as error:
            response = failed(code_of(error), str(error))
        except Exception:  # noqa: BLE001 - the client must hear of it
            response = _unforeseen(scope)
        await response(scope, receive, send)

    def _answer(self, scope: Scope, headers: Headers) -> Response:
        path = scope["path"]
        if (file := self._files.get(path)) is not None:
            return _give_file(file, headers)
        if path == "/healthz":
            return self._give_health()
        return failed("NOT_FOUND", f"there is nothing at {path!r}; the page is at /")

    def _give_health(self) -> Response:
        is_serving = self._is_serving()
        text = "SERVING" if is_serving else "NOT_SERVING"
        return Response(
            f"{text}\n",
            200 if is_serving else 503,
            {"cache-control": "no-store"},
            "text/plain",
        )


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


def takes_gzip(headers: Headers) -> bool:
    """Tell whether an answer may be sent with gzip."""
    for coding in headers.get("accept-encoding", "").split(","):
        name, _, quality = coding.partition(";")
        if name.strip() in ("gzip", "*"):
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def has_etag(headers: Headers, etag: str) -> bool:
    """Tell whether the client has what an ETag stands for already."""
    known = [each.strip() for each in headers.get("if-none-match", "").split(",")]
    return known == ["*"] or etag in (each.removeprefix("W/") for each in known)


def _unforeseen(scope: Scope) -> Response:
    request_id = secrets.token_hex(8)
    _log.exception(
        "a request failed in a way that nobody foresaw", path=scope["path"], request_id=request_id
    )
    return failed("INTERNAL", f"internal error; request {request_id} in the server's log")


def _with_security_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(SECURITY_HEADERS)
        await send(message)

    return send_with_headers
