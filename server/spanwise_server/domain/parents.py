"""Who contains whom: nodes are tied to their parents, and attempts to their nodes."""

import re
from collections import defaultdict
from collections.abc import Mapping

from spanwise_server.domain.entities import Attempt, Entity
from spanwise_server.domain.events import NodeFacts
from spanwise_server.domain.history import Life, fold_history, history_of
from spanwise_server.domain.identifiers import EntityKind, root_key
from spanwise_server.domain.known import KnownExecution
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.quality import SpanQuality

_NESTED_ID = re.compile(r"-(?=([0-9]+)-(.+))")
"""Where the id of a parent may end in <parent node id>-<parent attempt>-<spec node id>.
Source: flytepropeller v1.16 controller/nodes/common/utils.go. Longer ids are hashed, and tell
nothing."""

_ITEM_ID = re.compile(r"\A(.+)-n[0-9]+\Z")
"""Id of an item of an array node: <array node id>-n<index>.
Source: flytepropeller v1.16 controller/nodes/array/handler.go."""

_LONGEST_ID = 256
"""Ids that are longer are not taken apart: FlytePropeller's have at most 20 characters."""


def plant(known: KnownExecution) -> list[Entity]:
    """Give the execution and its nodes, tied together.

    The execution comes first, and parents before children.

    The parent is the one that events name. Where they name none although the id has the form of a
    nested one, it is the longest known id that the id begins with, and the node is flagged.
    """
    key = root_key(known.key)
    root = Entity(key, "", NodeFacts(), _life(known, key, EntityKind.EXECUTION))
    entities = {
        node.node_id: Entity(
            node.key, node.node_id, node.facts, _life(known, node.key, EntityKind.NODE)
        )
        for node in sorted(known.nodes, key=lambda node: node.node_id)
    }
    _tie_attempts(known, entities)
    children: dict[int, list[Entity]] = defaultdict(list)
    parents: dict[int, Entity] = {}
    for entity in entities.values():
        parent = _parent(entities, entity) or root
        parents[entity.key] = parent
        children[parent.key].append(entity)
    for entity in _other_names(entities, parents):
        if entity.life is None and not entity.attempts and not children.get(entity.key):
            children[parents[entity.key].key].remove(entity)
            del entities[entity.node_id]
    order = _reach(root, children)
    reached = {entity.key for entity in order}
    for entity in entities.values():
        if entity.key not in reached:
            # It is on a cycle of parents, or below one. One node of the cycle goes to the root.
            loose = _first_of_cycle(parents, entity)
            children[parents[loose.key].key].remove(loose)
            loose.qualities |= SpanQuality.INFERRED_PARENT
            root.children.append(loose)
            more = _reach(loose, children)
            order += more
            reached.update(each.key for each in more)
    return order


def _life(known: KnownExecution, key: int, kind: EntityKind) -> Life | None:
    history = history_of(known, key, kind)
    return None if history is None else history.life


def _tie_attempts(known: KnownExecution, entities: Mapping[str, Entity]) -> None:
    by_key = {entity.key: entity for entity in entities.values()}
    for attempt in known.attempts:
        life = fold_history(EntityKind.TASK_ATTEMPT, *known.events[attempt.key]).life
        node = by_key[attempt.node_key]
        node.attempts.append(Attempt(attempt, life, life.end_ns, life.qualities))
    for entity in by_key.values():
        if len(entity.attempts) > 1:
            entity.attempts.sort(
                key=lambda each: (each.life.start_ns, each.known.retry_attempt, each.known.key)
            )


def _parent(entities: Mapping[str, Entity], entity: Entity) -> Entity | None:
    """Find the node that contains `entity`; None: the execution contains it."""
    parent_id = entity.facts.parent_node_id
    if not parent_id:
        return _parent_from_id(entities, entity)
    parent = entities.get(parent_id)
    if (parent is None or parent.life is None) and (item := _ITEM_ID.match(entity.node_id)):
        # Items name the spec id of their array as parent, not the id of the node.
        # Source: flytepropeller v1.16 controller/nodes/array: it passes on nCtx.NodeID().
        array = entities.get(item[1])
        if array is not None and array is not entity and array.facts.spec_node_id == parent_id:
            entity.qualities |= SpanQuality.INFERRED_PARENT
            return array
    return parent


def _parent_from_id(entities: Mapping[str, Entity], entity: Entity) -> Entity | None:
    spec_id = entity.facts.spec_node_id
    if spec_id == entity.node_id or len(entity.node_id) > _LONGEST_ID:
        return None  # a node of the top level, or one whose id tells nothing
    for match in reversed(list(_NESTED_ID.finditer(entity.node_id))):
        attempt, rest = match[1], match[2]
        parent = entities.get(entity.node_id[: match.start()])
        if parent is not None and spec_id in ("", rest):
            entity.qualities |= SpanQuality.INFERRED_PARENT
            entity.facts = entity.facts._replace(
                spec_node_id=rest, retry_group=entity.facts.retry_group or attempt
            )
            return parent
    if item := _ITEM_ID.match(entity.node_id):
        array = entities.get(item[1])
        if array is not None and array.facts.kind is NodeKind.ARRAY:
            entity.qualities |= SpanQuality.INFERRED_PARENT
            return array
    return None


def _other_names(entities: Mapping[str, Entity], parents: Mapping[int, Entity]) -> list[Entity]:
    """Give the nodes that items named as their parent although another one is."""
    names = {
        entity.facts.parent_node_id
        for entity in entities.values()
        if entity.facts.parent_node_id not in ("", parents[entity.key].node_id)
    }
    return [entities[name] for name in sorted(names) if name in entities]


def _first_of_cycle(parents: Mapping[int, Entity], entity: Entity) -> Entity:
    """Follow parents into their cycle, and give its node with the least id."""
    path: dict[int, Entity] = {}
    while entity.key not in path:
        path[entity.key] = entity
        entity = parents[entity.key]
    cycle = list(path.values())
    cycle = cycle[cycle.index(entity) :]
    return min(cycle, key=lambda each: each.node_id)


def _reach(top: Entity, children: Mapping[int, list[Entity]]) -> list[Entity]:
    order = [top]
    for entity in order:  # grows while it is walked
        below = children.get(entity.key)
        if below:
            entity.children.extend(below)
            order.extend(below)
    return order
