"""Merging of what several events say about one entity.

A merge takes the greater of two texts or numbers, and an empty one never erases another. Real
sources say the same each time; what matters is that any order of arrival ends in the same record.
"""

from spanwise_server.domain.events import CacheStatus, ExecutionFacts, NodeFacts, TaskFacts

# The outcome that tells most about what the node did wins over one that tells less.
_CACHE_STATUS_RANK = {
    status: rank
    for rank, status in enumerate(
        (
            CacheStatus.UNSPECIFIED,
            CacheStatus.DISABLED,
            CacheStatus.SKIPPED,
            CacheStatus.EVICTED,
            CacheStatus.MISS,
            CacheStatus.LOOKUP_FAILURE,
            CacheStatus.PUT_FAILURE,
            CacheStatus.POPULATED,
            CacheStatus.HIT,
        )
    )
}


def merge_execution_facts(known: ExecutionFacts, said: ExecutionFacts) -> ExecutionFacts:
    """Give what both say."""
    if known == said:
        return known
    parent, other_parent = known.parent_execution_id, said.parent_execution_id
    return ExecutionFacts(
        org=max(known.org, said.org),
        workflow_id=max(known.workflow_id, said.workflow_id),
        parent_execution_id=max(parent, other_parent)
        if parent and other_parent
        else parent or other_parent,
        parent_node_id=max(known.parent_node_id, said.parent_node_id),
    )


def merge_node_facts(known: NodeFacts, said: NodeFacts) -> NodeFacts:
    """Give what both say."""
    if known == said:
        return known
    child, other_child = known.child_execution_id, said.child_execution_id
    return NodeFacts(
        parent_node_id=max(known.parent_node_id, said.parent_node_id),
        spec_node_id=max(known.spec_node_id, said.spec_node_id),
        node_name=max(known.node_name, said.node_name),
        retry_group=max(known.retry_group, said.retry_group),
        kind=max(known.kind, said.kind),
        target_id=max(known.target_id, said.target_id),
        cache_status=max(known.cache_status, said.cache_status, key=_CACHE_STATUS_RANK.__getitem__),
        child_execution_id=max(child, other_child)
        if child and other_child
        else child or other_child,
        group=max(known.group, said.group),
    )


def merge_task_facts(known: TaskFacts, said: TaskFacts) -> TaskFacts:
    """Give what both say."""
    if known == said:
        return known
    return TaskFacts(
        task_type=max(known.task_type, said.task_type),
        interruptible=known.interruptible or said.interruptible,
    )
