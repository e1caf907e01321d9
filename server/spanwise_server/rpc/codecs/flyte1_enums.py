"""Flyte 1 enums as the domain's. Numbers that are not in a table are of the future, or damaged.

Source: flyteidl 1.16 core/execution.proto, core/catalog.proto, core/identifier.proto.
"""

from flyteidl.core.catalog_pb2 import CatalogCacheStatus
from flyteidl.core.execution_pb2 import (
    ExecutionError,
    NodeExecution,
    TaskExecution,
    WorkflowExecution,
)
from flyteidl.core.identifier_pb2 import ResourceType

from spanwise_server.domain.events import CacheStatus, ErrorKind
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase


def _phases(names: list[tuple[str, int]]) -> dict[int, Phase]:
    # The phases have Flyte's names, so the tables cannot drift. UNDEFINED is no phase.
    return {number: Phase[name] for name, number in names if name != "UNDEFINED"}


EXECUTION_PHASES = _phases(WorkflowExecution.Phase.items())
NODE_PHASES = _phases(NodeExecution.Phase.items())
TASK_PHASES = _phases(TaskExecution.Phase.items())

CACHE_STATUSES: dict[int, CacheStatus] = {
    number: CacheStatus[name.removeprefix("CACHE_")] for name, number in CatalogCacheStatus.items()
}

ERROR_KINDS: dict[int, ErrorKind] = {
    ExecutionError.USER: ErrorKind.USER,
    ExecutionError.SYSTEM: ErrorKind.SYSTEM,
}

TARGET_KINDS: dict[int, NodeKind] = {
    ResourceType.TASK: NodeKind.TASK,
    ResourceType.WORKFLOW: NodeKind.SUBWORKFLOW,
    ResourceType.LAUNCH_PLAN: NodeKind.LAUNCH_PLAN,
}


def flyte_phase_name(phase: Phase) -> str:
    """Give Flyte's spelling of a phase."""
    return "UNDEFINED" if phase is Phase.UNSPECIFIED else phase.name
