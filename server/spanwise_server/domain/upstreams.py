"""What each node waited for: the last to end among the nodes that it depends on."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from spanwise_server.domain.entities import Entity
from spanwise_server.domain.known import KnownExecution
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.workflows import END_NODE_ID

_UNCONNECTED = frozenset({NodeKind.BRANCH, NodeKind.ARRAY})
"""What is inside these does not wait for one another: the node a branch picked, items."""


def settle_upstreams(known: KnownExecution, parent: Entity) -> None:
    """Say for each child of `parent` which siblings it waited for, and when the last one ended.

    FlyteAdmin takes the last to end among the edges of the compiled workflow. Where neither an
    event nor a definition tells the edges, it is the sibling that ended last before the child
    began, and the child is flagged. Siblings are the nodes that the same attempt of the parent
    made. What the end of a workflow waits for is also said of the parent.
    """
    if parent.kind in _UNCONNECTED:
        return
    parent.end_upstream_ids = _awaited_by_end(parent)
    for siblings in parent.families():
        _settle_siblings(known, parent, siblings)


def _awaited_by_end(parent: Entity) -> tuple[str, ...] | None:
    """Give what the end waits for. The definition tells, whether or not the end was reached."""
    end = None if parent.scope is None else parent.scope.graph.nodes.get(END_NODE_ID)
    if end is None:
        return None
    awaited = frozenset(end.upstream_ids)
    return tuple(sorted(node.node_id for node in parent.children if node.spec_id in awaited))


def _settle_siblings(known: KnownExecution, parent: Entity, siblings: Sequence[Entity]) -> None:
    by_id = {node.node_id: node for node in siblings}
    by_spec_id = {node.spec_id: node for node in siblings}
    ended = sorted(
        (node.end_ns, node.start_ns, not node.is_start, node.node_id)
        for node in siblings
        if node.end_ns is not None and not node.is_end
    )
    for node in siblings:
        if node.is_start:
            continue
        told = _told(known, parent, node, by_spec_id)
        if told is None:
            _infer(node, ended)
            continue
        node.upstream_ids = told
        if not node.is_end:
            ends_ns = [
                end_ns
                for each in told
                if each in by_id and (end_ns := by_id[each].end_ns) is not None
            ]
            node.upstream_end_ns = max(ends_ns, default=None)


def _told(
    known: KnownExecution, parent: Entity, node: Entity, by_spec_id: Mapping[str, Entity]
) -> tuple[str, ...] | None:
    """Give the upstreams that an event or a definition tells; None when neither does."""
    details = known.details.get(node.key, ())
    if details:
        told = {each for timed in details for each in timed.details.upstream_node_ids}
        if told:
            return tuple(sorted(told))
    if node.spec is None or parent.scope is None:
        return None
    if node.spec_id == parent.scope.graph.failure_node_id:
        return None  # it waits for a failure, wherever that is
    # Of the nodes in the definition, those that did not run have not been waited for.
    ids = [by_spec_id[each].node_id for each in node.spec.upstream_ids if each in by_spec_id]
    return tuple(sorted(ids))


def _infer(node: Entity, ended: Sequence[tuple[int, int, bool, str]]) -> None:
    # Of what ends in the moment when it starts, it waited for what comes first by start and id,
    # the start of the workflow before all: without that order two nodes without length would have
    # waited for each other.
    last = bisect_left(ended, (node.start_ns, node.start_ns, True, node.node_id)) - 1
    if last < 0:
        return
    upstream_end_ns, *_, upstream_id = ended[last]
    node.upstream_ids = (upstream_id,)
    node.qualities |= SpanQuality.INFERRED_UPSTREAM
    if not node.is_end:
        node.upstream_end_ns = upstream_end_ns
