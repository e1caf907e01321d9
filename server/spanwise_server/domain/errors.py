"""Errors of the domain. What crosses a border is translated to or from one of these.

    SpanwiseError
    ├── InvalidEvent            nothing addressable in an event
    ├── InvalidQuery            a read request that cannot be answered as it stands
    │   └── InvalidPageToken    a page token that was not made for this request
    ├── InvalidWorkflow         a definition of a workflow that cannot be registered
    ├── NotFound
    │   ├── ExecutionNotFound   no event named the execution, or it was deleted
    │   ├── SpanNotFound        the execution has no such span
    │   └── WorkflowNotFound    nobody registered the workflow
    ├── EventAlreadyRecorded    the event repeats a phase
    ├── EventRefused            the event contradicts what is stored
    │   ├── AlreadyInTerminalPhase
    │   └── IllegalTransition
    ├── StoreUnavailable        the store cannot be reached, is shutting down, or is not migrated
    ├── WriteConflict           the store gave up on a conflict after retries
    ├── CorruptRecord           a stored record cannot be decoded
    └── NotSupported            declared in the API, not served here

Each carries data, not just prose; its text names ids and values, never payloads or SQL. Errors are
pickled between the processes of a server: what they carry is in `args`.
"""

from spanwise_server.domain.phases import Phase


class SpanwiseError(Exception):
    """Base of every error that the domain knows. Never raised itself."""


class InvalidEvent(SpanwiseError):
    """An event, or the request that carries it, names nothing that it could be stored under."""

    def __init__(self, field: str, reason: str) -> None:
        """Keep the path of the offending field and what is wrong with it."""
        super().__init__(field, reason)
        self.field = field
        self.reason = reason

    def __str__(self) -> str:
        """Give field and reason."""
        return f"{self.field}: {self.reason}"


class InvalidQuery(SpanwiseError):
    """A read request cannot be answered as it stands."""

    def __init__(self, field: str, reason: str) -> None:
        """Keep the path of the offending field and what is wrong with it."""
        super().__init__(field, reason)
        self.field = field
        self.reason = reason

    def __str__(self) -> str:
        """Give field and reason."""
        return f"{self.field}: {self.reason}"


class InvalidPageToken(InvalidQuery):
    """A page token is damaged or belongs to another request."""

    def __init__(self) -> None:
        """Say what to do: start again without a token."""
        super().__init__(
            "page_token", "is not a token of this request; start again with an empty one"
        )

    def __reduce__(self) -> tuple[type["InvalidPageToken"], tuple[()]]:
        """Pickle it without the arguments that it gives itself."""
        return InvalidPageToken, ()


class InvalidWorkflow(SpanwiseError):
    """A definition of a workflow contradicts itself, or has no name to store it under."""

    def __init__(self, field: str, reason: str) -> None:
        """Keep the path of the offending field and what is wrong with it."""
        super().__init__(field, reason)
        self.field = field
        self.reason = reason

    def __str__(self) -> str:
        """Give field and reason."""
        return f"{self.field}: {self.reason}"


class NotFound(SpanwiseError):
    """What was asked for is not known."""


class ExecutionNotFound(NotFound):
    """No event ever named this execution, or it was deleted since: nothing tells which."""

    def __init__(self, project: str, domain: str, name: str) -> None:
        """Keep the three parts of the id."""
        super().__init__(project, domain, name)
        self.name = f"{project}/{domain}/{name}"

    def __str__(self) -> str:
        """Name the execution."""
        return (
            f"nothing is stored of the execution {self.name}: no event has named it, or it was"
            " deleted"
        )


class SpanNotFound(NotFound):
    """The tree of the execution has no such span."""

    def __init__(self, span_id: bytes) -> None:
        """Keep the id."""
        super().__init__(span_id)
        self.span_id = span_id

    def __str__(self) -> str:
        """Name the span."""
        return f"the execution has no span {self.span_id.hex()}"


class WorkflowNotFound(NotFound):
    """Nobody registered this workflow."""

    def __init__(self, project: str, domain: str, name: str, version: str) -> None:
        """Keep the four parts of the id."""
        super().__init__(project, domain, name, version)
        self.name = f"{project}/{domain}/{name}/{version}"

    def __str__(self) -> str:
        """Name the workflow."""
        return f"nobody registered the workflow {self.name} (project/domain/name/version)"


class EventAlreadyRecorded(SpanwiseError):
    """The event brings no new phase. It is logged, and what else is new in it is kept."""

    def __init__(self, phase: Phase) -> None:
        """Keep the phase that was reported again."""
        super().__init__(phase)
        self.phase = phase

    def __str__(self) -> str:
        """Name the phase."""
        return f"phase {self.phase.name} is already recorded; new reasons in this event were kept"


class EventRefused(SpanwiseError):
    """The event contradicts what is stored. It is logged as refused."""


class AlreadyInTerminalPhase(EventRefused):
    """The event came after the end, by its own clock."""

    def __init__(self, current: Phase) -> None:
        """Keep the terminal phase that is stored."""
        super().__init__(current)
        self.current = current

    def __str__(self) -> str:
        """Name the phase."""
        return f"already in terminal phase {self.current.name}; the event was logged as refused"


class IllegalTransition(EventRefused):
    """The event leads backwards in a way that its entity cannot go."""

    def __init__(self, current: Phase, requested: Phase) -> None:
        """Keep the stored phase and the phase that was asked for."""
        super().__init__(current, requested)
        self.current = current
        self.requested = requested

    def __str__(self) -> str:
        """Name both phases."""
        return (
            f"cannot go from phase {self.current.name} back to {self.requested.name};"
            " the event was logged as refused"
        )


class StoreUnavailable(SpanwiseError):
    """The store cannot take or give anything now. The caller may try again as it is."""


class WriteConflict(SpanwiseError):
    """Writers got in each other's way, also after retries. The caller may try again as it is."""


class CorruptRecord(SpanwiseError):
    """A stored record cannot be decoded."""


class NotSupported(SpanwiseError):
    """The call is declared in the API but is not served here."""
