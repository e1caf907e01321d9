"""What a diagnosis calls the spans that it speaks of, so that each is found in the tree."""

from spanwise_server.domain.span_paths import SpanPaths
from spanwise_server.domain.spans import (
    ExecutionSubject,
    NodeSubject,
    OperationSubject,
    Span,
    TaskAttemptSubject,
)

LONGEST_NAME = 100


def name_node(node: Span, paths: SpanPaths) -> str:
    """Give id and name of a node, and the execution where that is not the root.

    For instance "n1 (roll_out) of execution f3k2"; a node without a name goes by what it runs.
    """
    subject = node.subject
    if not isinstance(subject, NodeSubject):
        return shorten(node.name, LONGEST_NAME)
    name = _title(node)
    node_id = shorten(subject.node_id, LONGEST_NAME)
    return f"{node_id} ({name}){_of(node, paths)}" if name else f"{node_id}{_of(node, paths)}"


def name_target(transition: Span, paths: SpanPaths) -> str:
    """Give the node that a NODE_TRANSITION leads to, as name_node gives it."""
    node_id = target_of(transition)
    target = _find_target(transition, paths)
    if target is not None:
        return name_node(target, paths)
    return f"{shorten(node_id, LONGEST_NAME)}{_of(transition, paths)}"


def target_of(span: Span) -> str:
    """Give the id of the node that a NODE_TRANSITION leads to; "" for other spans."""
    return span.subject.node_id if isinstance(span.subject, OperationSubject) else ""


def label_span(span: Span, node: Span | None, paths: SpanPaths) -> str:
    """Give the path of a span with what it stands for.

    For instance "n2/0/TASK_RUNTIME (train_model)" or "NODE_TRANSITION to n4 (clean_returns)". Long
    paths are shortened, as everything that a diagnosis calls a span.

    Args:
        span: The span.
        node: The node that it lies in, if any.
        paths: Of the tree.
    """
    path = paths.short_path(span)
    node_id = target_of(span)
    if node_id:
        target = _find_target(span, paths)
        above, slash, _ = path.rpartition("/")
        path = f"{above}{slash}{span.name} to {shorten(node_id, LONGEST_NAME)}"
        name = _title(target) if target is not None else ""
    else:
        name = _title(node) if node is not None else ""
    return f"{path} ({name})" if name else path


def name_task(attempt: Span) -> str:
    """Give the task of an attempt, as short as people say it; "" for a nameless one."""
    subject = attempt.subject
    return _last_part(subject.task_id.name) if isinstance(subject, TaskAttemptSubject) else ""


def name_nameless_task(node: Span, paths: SpanPaths) -> str:
    """Give the name of the node that runs a nameless task, or tell which node it is."""
    return _title(node) or f"the task of {name_node(node, paths)}"


def shorten(text: str, longest: int) -> str:
    """Give a text with at most `longest` characters and a count of the others."""
    rest = len(text) - longest
    return text if rest <= 0 else f"{text[:longest]} (+{rest} chars)"


def _title(node: Span) -> str:
    """Give the name of a node; of a nameless one that of its target or task; "" if none is known.

    The ids are no names.
    """
    subject = node.subject
    if not isinstance(subject, NodeSubject):
        return ""
    name = node.name if node.name not in {"", subject.node_id, subject.spec_node_id} else ""
    name = name or _last_part(subject.target_id.name)
    name = name or next(filter(None, map(name_task, node.children)), "")
    return shorten(name, LONGEST_NAME)


def _last_part(name: str) -> str:
    """Give the last part of a dotted name, which people say: the function of a task."""
    return name.rpartition(".")[2]


def _find_target(transition: Span, paths: SpanPaths) -> Span | None:
    node_id = target_of(transition)
    parent = paths.parent(transition)
    for child in parent.children if parent is not None else ():
        if isinstance(child.subject, NodeSubject) and child.subject.node_id == node_id:
            return child
    return None


def _of(span: Span, paths: SpanPaths) -> str:
    """Name the execution that a span is of; "" where that is the root."""
    above = paths.parent(span)
    while above is not None and not isinstance(above.subject, ExecutionSubject):
        above = paths.parent(above)
    if above is None or paths.parent(above) is None:
        return ""
    return f" of execution {shorten(above.name, LONGEST_NAME)}"
