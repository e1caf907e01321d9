"""Merging of what events say: an empty part erases nothing, and order does not matter."""

from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.events import CacheStatus, ExecutionFacts, NodeFacts, TaskFacts
from spanwise_server.domain.facts import (
    merge_execution_facts,
    merge_node_facts,
    merge_task_facts,
)
from spanwise_server.domain.identifiers import EntityVersion, ExecutionId
from spanwise_server.domain.node_kinds import NodeKind

texts = st.sampled_from(["", "a", "b"])
executions = st.none() | st.builds(ExecutionId, texts, texts, texts)
versions = st.builds(EntityVersion, texts, texts, texts, texts)
execution_facts = st.builds(ExecutionFacts, texts, versions, executions, texts)
node_facts = st.builds(
    NodeFacts,
    texts,
    texts,
    texts,
    texts,
    st.sampled_from(NodeKind),
    versions,
    st.sampled_from(CacheStatus),
    executions,
    texts,
)
task_facts = st.builds(TaskFacts, texts, st.booleans())


@given(facts=node_facts)
def test_empty_facts_erase_nothing_of_a_node(facts: NodeFacts) -> None:
    assert merge_node_facts(facts, NodeFacts()) == facts
    assert merge_node_facts(NodeFacts(), facts) == facts


@given(facts=execution_facts)
def test_empty_facts_erase_nothing_of_an_execution(facts: ExecutionFacts) -> None:
    assert merge_execution_facts(facts, ExecutionFacts()) == facts
    assert merge_execution_facts(ExecutionFacts(), facts) == facts


@given(facts=task_facts)
def test_empty_facts_erase_nothing_of_an_attempt(facts: TaskFacts) -> None:
    assert merge_task_facts(facts, TaskFacts()) == facts
    assert merge_task_facts(TaskFacts(), facts) == facts


@given(one=node_facts, two=node_facts, three=node_facts)
def test_facts_of_a_node_are_the_same_in_any_order(
    one: NodeFacts, two: NodeFacts, three: NodeFacts
) -> None:
    forward = merge_node_facts(merge_node_facts(one, two), three)
    backward = merge_node_facts(three, merge_node_facts(two, one))
    assert forward == backward


def test_cache_status_that_tells_more_wins() -> None:
    miss, populated = (
        NodeFacts(cache_status=status) for status in (CacheStatus.MISS, CacheStatus.POPULATED)
    )
    assert merge_node_facts(populated, miss).cache_status is CacheStatus.POPULATED
