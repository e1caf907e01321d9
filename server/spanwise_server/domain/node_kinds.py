"""What a node can do."""

from enum import IntEnum


class NodeKind(IntEnum):
    """What a node does (spanwise.v1.NodeKind)."""

    UNSPECIFIED = 0
    TASK = 1
    DYNAMIC = 2
    ARRAY = 3
    SUBWORKFLOW = 4
    LAUNCH_PLAN = 5
    BRANCH = 6
    GATE = 7
    START = 8
    END = 9
    TRACE = 10
