"""One of several simulated FlytePropellers: its executions, its workers, and their rounds.

A worker takes an execution out of the queue, sends a streak of its events, one call at a time, and
puts it back: so the events of one execution come in bursts, and those of many are interleaved. A
streak that fails is sent again from its beginning, after a pause.
Source: flytepropeller v1.16 controller/workers.go and controller/handler.go.
"""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from itertools import groupby

import grpc

from spanwise._errors import translated
from spanwise._identifiers import ExecutionId
from spanwise.demo.chance import Chance
from spanwise.demo.propeller import Sent
from spanwise.simulate.calls import Answer, Caller, Reaction
from spanwise.simulate.load import Load
from spanwise.simulate.plan import SimulatedExecution

_STREAK = 8  # propeller.max-streak-length
_OPEN_PER_WORKER = 2  # so that a worker that puts one back finds another one

_Job = Callable[[], Awaitable[None]]


class _Run:
    """An execution that is being sent."""

    def __init__(self, execution: SimulatedExecution) -> None:
        self.execution_id = execution.execution_id
        self.stages = (group for _, group in groupby(execution.strands(), lambda each: each.stage))
        self.repeats = Chance(execution.seed)
        self.open_lanes = 0
        self.is_stopped = False


class _Lane:
    """Events of one stage that are sent in order, streak by streak.

    Attributes:
        run: The execution.
        sent: The events.
        size: Node executions that end in it.
        position: Where the next streak begins.
        tried: How many events, from the first one, have been sent.
        taken: How many of them have been taken.
        failures: How often the streak has failed.
        twice: Beginnings of the streaks that are still to be repeated.
    """

    def __init__(self, run: _Run, sent: list[Sent], size: int, twice: set[int]) -> None:
        self.run = run
        self.sent = sent
        self.size = size
        self.position = 0
        self.tried = 0
        self.taken = 0
        self.failures = 0
        self.twice = twice


class Shard:
    """Sends the executions of one propeller.

    Attributes:
        tally: Counts of what was sent.
        example: The first execution of which everything was taken; None as long as there is none.
    """

    def __init__(
        self, executions: Iterator[SimulatedExecution], caller: Caller, load: Load, endpoint: str
    ) -> None:
        """Prepare it; nothing is sent before `work`.

        Args:
            executions: What to send. Each is asked for when there is room for it.
            caller: Makes the calls.
            load: How to send it. `work` must be called as many times as it says.
            endpoint: Where to, for errors.
        """
        self.tally = caller.tally
        self.example: ExecutionId | None = None
        self._executions = executions
        self._caller = caller
        self._load = load
        self._endpoint = endpoint
        self._ready: asyncio.Queue[_Job | None] = asyncio.Queue()
        self._open = load.workers * _OPEN_PER_WORKER
        for _ in range(self._open):
            self._ready.put_nowait(self._open_next)

    async def work(self) -> None:
        """Do what a worker does, until everything is sent or given up.

        Raises:
            RemoteError: The server takes nothing, or is gone for too long.
        """
        while (job := await self._ready.get()) is not None:
            await job()

    async def _open_next(self) -> None:
        execution = next(self._executions, None)
        if execution is not None:
            await self._next_stage(_Run(execution))
            return
        self._open -= 1
        if not self._open:
            for _ in range(self._load.workers):
                self._ready.put_nowait(None)

    async def _next_stage(self, run: _Run) -> None:
        strands = []
        for strand in next(run.stages, ()):
            strands.append(strand)
            await asyncio.sleep(0)  # making events takes a while; answers must not wait for it
        if not strands:
            self.tally.finished += 1
            self.example = self.example or run.execution_id
            self._ready.put_nowait(self._open_next)
            return
        parts = [(list(strand.sent), strand.size) for strand in strands]
        if self._load.rate:
            in_order = heapq.merge(*(sent for sent, _ in parts), key=lambda each: each.at_ns)
            parts = [(list(in_order), sum(size for _, size in parts))]
        run.open_lanes = len(parts)
        for sent, size in parts:
            twice = {
                position
                for position in range(0, len(sent), _STREAK)
                if run.repeats.between(0, 1) < self._load.duplicates
            }
            self._ready.put_nowait(partial(self._send_streak, _Lane(run, sent, size, twice)))

    async def _send_streak(self, lane: _Lane) -> None:
        run = lane.run
        end = min(lane.position + _STREAK, len(lane.sent))
        for position in range(lane.position, end):
            if run.is_stopped:
                self._close(lane)
                return
            answer = await self._caller.send(lane.sent[position].request)
            if not self._is_taken(lane, position, answer):
                self._fail(lane, answer)
                return
        lane.failures = 0
        if lane.position in lane.twice:
            lane.twice.remove(lane.position)
        else:
            lane.position = end
        if lane.position < len(lane.sent):
            self._ready.put_nowait(partial(self._send_streak, lane))
            return
        self.tally.nodes += lane.size
        self._close(lane)

    def _is_taken(self, lane: _Lane, position: int, answer: Answer) -> bool:
        if position < lane.taken:
            self.tally.sent_again += 1
            # FlyteAdmin refuses the beginning of what has ended, also when it is a repetition.
            if answer.code is grpc.StatusCode.FAILED_PRECONDITION:
                return True
        is_first = position >= lane.tried and answer.calls == 1
        lane.tried = max(lane.tried, position + 1)
        if answer.reaction is not Reaction.GO_ON:
            return False
        if position >= lane.taken:
            lane.taken += 1
            self.tally.taken += 1
            # An answer may have been lost on its way; what was never sent is from somebody else.
            self.tally.known += is_first and answer.code is grpc.StatusCode.ALREADY_EXISTS
        return True

    def _fail(self, lane: _Lane, answer: Answer) -> None:
        run = lane.run
        reaction = answer.reaction
        if reaction in {Reaction.CALL_AGAIN, Reaction.REPEAT_ROUND}:
            self.tally.failed_rounds += 1
            lane.failures += 1
            if lane.failures <= self._load.patience.rounds:
                self._send_later(lane)
                return
        if reaction in {Reaction.CALL_AGAIN, Reaction.STOP_ALL} and answer.error is not None:
            with translated(self._endpoint, f"the events of {run.execution_id}"):
                raise answer.error
        if not run.is_stopped:
            run.is_stopped = True
            self.tally.stopped += 1
            self.tally.add_problem(f"{run.execution_id}: {answer.code.name}: {answer.details}")
        self._close(lane)

    def _send_later(self, lane: _Lane) -> None:
        pause_s = self._load.patience.round_pause_s * 2 ** (lane.failures - 1)
        asyncio.get_running_loop().call_later(
            min(pause_s, self._load.patience.longest_pause_s),
            self._ready.put_nowait,
            partial(self._send_streak, lane),
        )

    def _close(self, lane: _Lane) -> None:
        run = lane.run
        run.open_lanes -= 1
        if not run.open_lanes:
            next_job = self._open_next if run.is_stopped else partial(self._next_stage, run)
            self._ready.put_nowait(next_job)
