"""Paths of spans, for people: the same text as the client's `ExecutionSpan.path`.

A step for each span below the root, "/" between them: the node id, the number of an attempt, index
and attempt of a sub-task, the name of an operation or of a child execution. A step that stood
before among the siblings gets the suffix "#2", "#3" and so on. Ids and depth make
a path of any length; where that must not be, `short_path` leaves out its middle.
"""

from collections import Counter

from spanwise_server.domain.spans import (
    ExecutionSubject,
    NodeSubject,
    Span,
    SubtaskSubject,
    TaskAttemptSubject,
)

_ESCAPES = str.maketrans({"%": "%25", "/": "%2F", "#": "%23"})
_EMPTY = "%"  # no other step is written so

LONGEST_PATH = 1000
"""Characters of a path that short_path gives whole, and of what it keeps of a longer one."""


class SpanPaths:
    """Parents and paths of the spans of a tree.

    Spans are known by their id(), because nothing keeps two spans of a damaged tree from sharing a
    span id.
    """

    def __init__(self, root: Span) -> None:
        """Look at the whole tree."""
        self._parents: dict[int, Span] = {}
        self._steps: dict[int, str] = {}
        stack = [root]
        while stack:
            span = stack.pop()
            for child in span.children:
                self._parents[id(child)] = span
                if child.children:
                    stack.append(child)

    def parent(self, span: Span) -> Span | None:
        """Give the span that contains a span; None for the root."""
        return self._parents.get(id(span))

    def path(self, span: Span) -> str:
        """Give the path of a span; "" for the root."""
        return "/".join(self._steps_to(span))

    def short_path(self, span: Span) -> str:
        """Give the path of a span, without its middle if it has more than LONGEST_PATH characters.

        What is left out is counted in its place: "n0/n0-0-n1…(+2048 chars)…n7/0". Such a text has
        more than LONGEST_PATH characters itself, which no whole path has that is given here. Takes
        time in proportion to the depth, not to the length of the path.
        """
        steps = self._steps_to(span)
        length = sum(map(len, steps)) + max(len(steps) - 1, 0)
        if length <= LONGEST_PATH:
            return "/".join(steps)
        half = LONGEST_PATH // 2
        # No step is empty, so that many are enough; nor is more joined of any.
        beginning = "/".join(step[:half] for step in steps[:half])[:half]
        end = "/".join(step[-half:] for step in steps[-half:])[-half:]
        return f"{beginning}…(+{length - 2 * half} chars)…{end}"

    def _steps_to(self, span: Span) -> list[str]:
        steps: list[str] = []
        while (parent := self.parent(span)) is not None:
            if id(span) not in self._steps:
                self._number(parent)
            steps.append(self._steps[id(span)])
            span = parent
        steps.reverse()
        return steps

    def _number(self, parent: Span) -> None:
        """Set the steps of all children at once, which takes time in proportion to them."""
        counts: Counter[str] = Counter()
        for child in parent.children:
            own = _step(child)
            counts[own] += 1
            self._steps[id(child)] = own if counts[own] == 1 else f"{own}#{counts[own]}"


def _step(span: Span) -> str:
    match span.subject:
        case ExecutionSubject(execution_id=execution_id):
            name = execution_id.name
        case NodeSubject(node_id=node_id):
            name = node_id
        case TaskAttemptSubject(retry_attempt=retry_attempt):
            name = str(retry_attempt)
        case SubtaskSubject(ordinal=ordinal, retry_attempt=retry_attempt):
            name = f"{ordinal}.{retry_attempt}"
        case subject:
            name = subject.operation.name if subject.operation else span.name or "unknown"
    return name.translate(_ESCAPES) or _EMPTY
