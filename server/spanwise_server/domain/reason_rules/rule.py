"""What a rule says of a text."""

from enum import Enum
from typing import NamedTuple

from spanwise_server.domain.events import Severity
from spanwise_server.domain.spans import Operation


class Edge(Enum):
    """What happens to the wait at the moment of the text."""

    BEGINS = "begins"
    GOES_ON = "goes on"
    """As BEGINS, but it says too little to replace a closer cause that is known already."""
    ENDS = "ends"


class Rule(NamedTuple):
    """One known text.

    Texts are compared in lower case, without blanks around them and without what the known sources
    put before them (see the classifier). What users and agents write may hold any words, so a rule
    holds a text to the form in which its source prints it: from its first character on, with the
    names, quotes or numbers that follow. Every quantifier is bounded, so that no text takes long.

    Attributes:
        rule_id: Stable name, "project/what-is-said".
        operation: What the time goes into.
        edge: Whether that begins, goes on or ends.
        severity: Stands in where the source gave none.
        phrase: Words that every such text contains; looked for first, because that is quick.
        pattern: Regular expression that the text begins with. Named groups: duration (in Go's
            form), with_waiting (as duration, but with the wait for a turn to begin), size and unit.
        source: Project, version and file that print it.
        examples: Such texts as they are printed; never empty.
        then: What begins when an ENDS is said; UNSPECIFIED where that is not known.
        cause: Regular expression that must be found behind the pattern, where a source lists or
            quotes causes; empty where the pattern is enough.
    """

    rule_id: str
    operation: Operation
    edge: Edge
    severity: Severity
    phrase: str
    pattern: str
    source: str
    examples: tuple[str, ...]
    then: Operation = Operation.UNSPECIFIED
    cause: str = ""


GO_DURATION = r"[0-9.hmsnuµμ]{2,40}"
"""Characters of a duration as Go prints it; the classifier checks the rest."""


def waiting_container(reasons: str) -> str:
    """Give the pattern of Flyte's reason for a container that waits, for one of such reasons.

    Source: flyteplugins v1.16 go/tasks/pluginmachinery/flytek8s/pod_helper.go.
    """
    return rf"\[\w{{1,63}}\|(?:{reasons})\]: "
