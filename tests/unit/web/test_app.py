"""The application: what becomes of failures."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from google.rpc import code_pb2
from starlette.types import ASGIApp, Receive, Scope, Send

from spanwise_server.domain import errors
from spanwise_server.domain.errors import SpanwiseError, StoreUnavailable
from spanwise_server.rpc.status import TABLE, code_name
from spanwise_server.web.app import WebApp
from spanwise_server.web.hosts import Hosts
from spanwise_server.web.responses import STATUSES


class Broken:
    """An Api that fails."""

    def __init__(self, error: Exception, *, begun: bool = False) -> None:
        """Fail with `error`, after the answer has begun or before."""
        self._error = error
        self._begun = begun

    async def answer(self, *_: object) -> ASGIApp:
        """See Api."""
        if not self._begun:
            raise self._error

        async def respond(scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            raise self._error

        return respond


def ask(api: Any, path: str = "/api/v1/executions", *, is_serving: bool = True) -> httpx.Response:
    """Ask an application for a path."""
    app = WebApp(Hosts([]), api, code_name, lambda: is_serving, lambda: b"")

    async def run() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(path)

    return asyncio.run(run())


def test_what_nobody_foresaw_is_told_without_its_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The log has that, under the number that the answer gives."""
    answer = ask(Broken(RuntimeError("a secret")))
    assert answer.status_code == 500
    assert "a secret" not in answer.text
    request_id = answer.json()["error"]["message"].split()[3]
    assert request_id in "".join(capsys.readouterr())


def test_an_answer_that_fails_on_its_way_is_broken_off() -> None:
    """A second one in the middle of the first would be taken for its end."""
    with pytest.raises(RuntimeError, match="late"):
        ask(Broken(RuntimeError("late"), begun=True))


def test_a_store_that_is_away_says_when_to_come_back() -> None:
    """In a header."""
    answer = ask(Broken(StoreUnavailable("the database is away")))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error"] == {"code": "UNAVAILABLE", "message": "the database is away"}


def test_a_server_that_takes_no_calls_says_so() -> None:
    """To whoever looks after its health."""
    answer = ask(Broken(RuntimeError()), "/healthz", is_serving=False)
    assert (answer.status_code, answer.text) == (503, "NOT_SERVING\n")


def all_errors(base: type[SpanwiseError] = SpanwiseError) -> Iterator[type[SpanwiseError]]:
    """Give every error of the domain."""
    for each in base.__subclasses__():
        if each.__module__ == errors.__name__:
            yield each
            yield from all_errors(each)


@pytest.mark.parametrize("error", [each for each in all_errors() if each in TABLE])
def test_errors_have_the_codes_that_grpc_has(error: type[SpanwiseError]) -> None:
    """Each of them, and a status."""
    code = code_name(error.__new__(error))
    assert code_pb2.Code.Value(code) == TABLE[error].code
    assert 400 <= STATUSES[code] < 600
