"""What each node does, and which workflow the nodes inside it are nodes of."""

from collections.abc import Sequence

from spanwise_server.domain.entities import Entity, Scope
from spanwise_server.domain.known import KnownExecution
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.workflows import WorkflowDefinition


def settle_kinds(known: KnownExecution, order: Sequence[Entity]) -> None:
    """Say what each node does and how its children are connected.

    Events tell most kinds, the definition of the workflow tells all. Where neither does, what a
    node contains tells, and the node is flagged.

    Args:
        known: What is known of the execution.
        order: The execution and its nodes, parents before children.
    """
    root = order[0]
    root.scope = _outermost(known.workflow)
    for entity in order:
        for child in entity.children:
            if entity.scope is not None:
                child.spec = entity.scope.graph.nodes.get(child.spec_id)
            child.kind = child.facts.kind or _kind_in_definition(child)
            if child.kind is NodeKind.UNSPECIFIED:
                child.kind = _kind_from_contents(child)
            child.scope = _inner_scope(known, entity, child)


def _outermost(definition: WorkflowDefinition | None) -> Scope | None:
    return None if definition is None else Scope(definition, definition.primary)


def _kind_in_definition(node: Entity) -> NodeKind:
    return NodeKind.UNSPECIFIED if node.spec is None else node.spec.kind


def _kind_from_contents(node: Entity) -> NodeKind:
    if node.attempts:
        return NodeKind.TASK
    if node.life is None:
        return NodeKind.UNSPECIFIED
    work = [child for child in node.children if not _is_marker(child)]
    if node.children:
        node.qualities |= SpanQuality.INFERRED_KIND
        # A branch contains the one node that it picked; only workflows have markers.
        is_branch = len(work) == len(node.children) == 1
        return NodeKind.BRANCH if is_branch else NodeKind.SUBWORKFLOW
    if node.facts.spec_node_id and _has_run(node):
        # FlytePropeller names the target of every node but a gate, a branch and a subworkflow; the
        # latter two contain nodes, or are about to.
        # Source: flytepropeller v1.16 controller/nodes/transformers.go.
        node.qualities |= SpanQuality.INFERRED_KIND
        return NodeKind.GATE
    return NodeKind.UNSPECIFIED


def _is_marker(node: Entity) -> bool:
    return node.facts.kind in (NodeKind.START, NodeKind.END)


def _has_run(node: Entity) -> bool:
    return node.life is not None and node.life.has_run


def _inner_scope(known: KnownExecution, parent: Entity, node: Entity) -> Scope | None:
    """Find the workflow that the nodes inside `node` are nodes of."""
    if node.kind is NodeKind.DYNAMIC:
        made = [
            each.details.workflow
            for each in known.details.get(node.key, ())
            if each.details.workflow is not None
        ]
        return _outermost(made[-1]) if made else None
    if parent.scope is None:
        return None
    if node.kind is NodeKind.BRANCH:
        return parent.scope  # the definition has the cases beside the branch
    if node.kind is NodeKind.SUBWORKFLOW and node.spec is not None:
        definition = parent.scope.definition
        graph = definition.sub_workflows.get(node.spec.target_id)
        return None if graph is None else Scope(definition, graph)
    return None
