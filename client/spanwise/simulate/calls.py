"""How a simulated FlytePropeller calls: its rate, its retries, and what it makes of an answer."""

import asyncio
import random
import time
from enum import Enum, auto
from typing import NamedTuple

import grpc
from flyteidl.service.admin_pb2_grpc import AdminServiceStub

from spanwise.demo.messages import EventRequest
from spanwise.demo.scenario import METHODS
from spanwise.simulate.load import Load
from spanwise.simulate.report import Tally

_BURST_S = 2.0  # event.capacity is twice event.rate
_JITTER = 0.1


class Reaction(Enum):
    """What propeller does after an answer."""

    GO_ON = auto()
    CALL_AGAIN = auto()
    REPEAT_ROUND = auto()
    STOP_EXECUTION = auto()
    STOP_ALL = auto()


_REACTIONS = {
    grpc.StatusCode.OK: Reaction.GO_ON,
    grpc.StatusCode.ALREADY_EXISTS: Reaction.GO_ON,
    grpc.StatusCode.UNAVAILABLE: Reaction.CALL_AGAIN,
    grpc.StatusCode.DEADLINE_EXCEEDED: Reaction.CALL_AGAIN,
    grpc.StatusCode.RESOURCE_EXHAUSTED: Reaction.CALL_AGAIN,
    grpc.StatusCode.FAILED_PRECONDITION: Reaction.STOP_EXECUTION,
    grpc.StatusCode.NOT_FOUND: Reaction.STOP_EXECUTION,
    grpc.StatusCode.INVALID_ARGUMENT: Reaction.STOP_EXECUTION,
    # Propeller would repeat its rounds; here every execution would get the same answer.
    grpc.StatusCode.UNIMPLEMENTED: Reaction.STOP_ALL,
    grpc.StatusCode.UNAUTHENTICATED: Reaction.STOP_ALL,
    grpc.StatusCode.PERMISSION_DENIED: Reaction.STOP_ALL,
}


class Answer(NamedTuple):
    """What a call was answered.

    Attributes:
        code: Status of the last call.
        error: Why it was not OK.
        calls: How many calls were made.
    """

    code: grpc.StatusCode
    error: grpc.aio.AioRpcError | None = None
    calls: int = 1

    @property
    def details(self) -> str:
        """What the server said; empty when all was well."""
        return "" if self.error is None else self.error.details() or ""

    @property
    def reaction(self) -> Reaction:
        """What propeller does now.

        Source: flytepropeller v1.16 events/errors/errors.go. Each of its errors throws a round
        away; those that repeating cannot mend end the execution here at once.
        """
        # The only text that propeller looks at: gRPC's own, of a message that is too large.
        if self.code is grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" in self.details:
            return Reaction.STOP_EXECUTION
        return _REACTIONS.get(self.code, Reaction.REPEAT_ROUND)


class Pacer:
    """Lets so many calls through in a second, and twice as many at once after a rest.

    Propeller's own limit fails what it does not let through, and so the round; here it waits.
    """

    def __init__(self, per_s: float) -> None:
        """Begin with a full bucket; a rate of 0 is no limit."""
        self._interval_s = 1 / per_s if per_s else 0.0
        self._next_s = 0.0

    async def wait(self) -> None:
        """Wait for the next place."""
        if not self._interval_s:
            return
        now_s = time.monotonic()
        self._next_s = max(self._next_s, now_s - _BURST_S) + self._interval_s
        if self._next_s > now_s:
            await asyncio.sleep(self._next_s - now_s)


class Caller:
    """Makes the calls of one propeller.

    Attributes:
        tally: Counts them.
    """

    def __init__(self, channel: grpc.aio.Channel, load: Load) -> None:
        stub = AdminServiceStub(channel)
        self.tally = Tally()
        self._methods = {name: getattr(stub, name) for name in METHODS.values()}
        self._pacer = Pacer(load.rate)
        self._patience = load.patience

    async def send(self, request: EventRequest) -> Answer:
        """Send an event, several times if need be, and give the last answer. Raises nothing."""
        pause_s = self._patience.call_pause_s
        answer = await self._call(request)
        for calls in range(2, self._patience.calls + 1):
            if answer.reaction is not Reaction.CALL_AGAIN:
                break
            jitter = random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - no secret
            await asyncio.sleep(pause_s * jitter)
            pause_s *= 2
            self.tally.repeated_calls += 1
            answer = (await self._call(request))._replace(calls=calls)
        return answer

    async def _call(self, request: EventRequest) -> Answer:
        method = METHODS[type(request)]
        await self._pacer.wait()
        begun_ns = time.perf_counter_ns()
        try:
            await self._methods[method](request, timeout=self._patience.call_timeout_s)
            answer = Answer(grpc.StatusCode.OK)
        except grpc.aio.AioRpcError as error:
            answer = Answer(error.code(), error)
        self.tally.latencies[method].add(time.perf_counter_ns() - begun_ns)
        self.tally.answers[method, answer.code.name] += 1
        return answer
