"""How long executions are kept: which of them may go, and from when on."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from spanwise_server.domain.phases import UNSUCCESSFUL_PHASES, Phase


class Ages(NamedTuple):
    """How long the executions of one scope are kept, in nanoseconds. None: for ever.

    Attributes:
        ended_ns: Those that ended, from their end on.
        unsuccessful_ns: Those that failed, were aborted or timed out, from their end on. They are
            never kept for a shorter time than those that succeeded.
        silent_ns: Those that have not ended, from the moment on when they were last heard of.
    """

    ended_ns: int | None = None
    unsuccessful_ns: int | None = None
    silent_ns: int | None = None


class RetentionPolicy(NamedTuple):
    """What is kept for how long.

    Attributes:
        default: Ages where nothing else is said.
        projects: Ages of a project.
        domains: Ages of a domain of a project, by (project, domain). They go before the project's.
        max_bytes: Size of what is stored above which the executions that ended first go before
            their time; None: there is no such bound.
    """

    default: Ages = Ages()
    projects: Mapping[str, Ages] = {}
    domains: Mapping[tuple[str, str], Ages] = {}
    max_bytes: int | None = None

    def ages_of(self, project: str, domain: str) -> Ages:
        """Give the ages of the narrowest scope that holds an execution."""
        ages = self.domains.get((project, domain))
        return ages or self.projects.get(project) or self.default

    def least_ended_ns(self) -> int | None:
        """Give an age below which nothing that has ended goes; None when nothing ever does."""
        # Unsuccessful ones are kept as long at least.
        return _least(ages.ended_ns for ages in self._all_ages())

    def least_silent_ns(self) -> int | None:
        """Give a silence below which nothing that is open goes; None when nothing ever does."""
        return _least(ages.silent_ns for ages in self._all_ages())

    def _all_ages(self) -> Iterator[Ages]:
        yield self.default
        yield from self.projects.values()
        yield from self.domains.values()


class Life(NamedTuple):
    """What retention asks of an execution.

    Attributes:
        project: Project.
        domain: Domain.
        phase: Phase that it ended in; None while it is open.
        ended_at_ns: Its end at the source; None while it is open.
        heard_at_ns: When an event of it was last received, of its nodes and tasks included. Asked
            of open ones alone.
    """

    project: str
    domain: str
    phase: Phase | None
    ended_at_ns: int | None
    heard_at_ns: int | None = None


def goes_at_ns(policy: RetentionPolicy, life: Life) -> int | None:
    """Give the first moment at which an execution may go; None: it stays.

    An execution that has not ended never goes for its age. It may go for its silence, where the
    policy says so: whoever would report its end is lost.
    """
    ages = policy.ages_of(life.project, life.domain)
    if life.ended_at_ns is None:
        return _after(life.heard_at_ns, ages.silent_ns)
    if life.phase not in UNSUCCESSFUL_PHASES or ages.ended_ns is None:
        return _after(life.ended_at_ns, ages.ended_ns)
    if ages.unsuccessful_ns is None:
        return None
    return life.ended_at_ns + max(ages.ended_ns, ages.unsuccessful_ns)


def _after(moment_ns: int | None, age_ns: int | None) -> int | None:
    return None if moment_ns is None or age_ns is None else moment_ns + age_ns


def _least(ages_ns: Iterator[int | None]) -> int | None:
    return min((age_ns for age_ns in ages_ns if age_ns is not None), default=None)
