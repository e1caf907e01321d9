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

    Texts are compared in lower case and without blanks around them. Every quantifier of a pattern
    is bounded or anchored, so that no text takes long.

    Attributes:
        rule_id: Stable name, "project/what-is-said".
        operation: What the time goes into.
        edge: Whether that begins, goes on or ends.
        severity: Stands in where the source gave none.
        phrase: Words that every such text contains; looked for first, because that is quick.
        pattern: Regular expression that must be found too; empty where the phrase is enough. Named
            groups: duration (in Go's form), with_waiting (as duration, but with the wait for a turn
            to begin), size and unit.
        source: Project, version and file that print it.
        examples: Such texts as they are printed; never empty.
        then: What begins when an ENDS is said; UNSPECIFIED where that is not known.
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


GO_DURATION = r"[0-9.hmsnuµμ]{2,40}"
"""Characters of a duration as Go prints it; the classifier checks the rest."""
