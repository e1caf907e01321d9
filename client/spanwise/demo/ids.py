"""Ids as FlytePropeller makes them.

Source: flytestdlib v1.16 encoding.go (FixedLengthUniqueID), flytepropeller v1.16
controller/nodes/common/utils.go (GenerateUniqueID) and nodes/subworkflow/util.go
(GetChildExecutionID).
"""

import base64
from typing import NamedTuple

_NODE_ID_LENGTH = 20
_CHILD_NAME_LENGTH = 20
_POD_NAME_LENGTH = 50
_FNV_PRIMES = {32: 0x01000193, 64: 0x100000001B3}
_FNV_OFFSETS = {32: 0x811C9DC5, 64: 0xCBF29CE484222325}
_ALPHABET = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"abcdefghijklmnopqrstuvwxyz123456"
)


def node_id_below(parent_node_id: str, parent_attempt: int, spec_id: str) -> str:
    """Give the id of a node below another one; an empty parent is the execution itself."""
    parts = (parent_node_id, str(parent_attempt), spec_id) if parent_node_id else (spec_id,)
    return _fitted("-".join(parts), _NODE_ID_LENGTH, 32)


def child_execution_name(execution_name: str, node_id: str, attempt: int) -> str:
    """Give the name of the execution that a launch plan node starts."""
    return _fitted(f"{execution_name}-{node_id}-{attempt}", _CHILD_NAME_LENGTH, 64)


def pod_name(execution_name: str, node_id: str, attempt: int) -> str:
    """Give the name of the pod that an attempt runs in: the generated_name of its task events."""
    return _fitted(f"{execution_name}-{node_id}-{attempt}", _POD_NAME_LENGTH, 32)


def fnv1a(text: str, bits: int) -> int:
    """Give the FNV-1a hash of a text: of 32 or 64 bits."""
    hashed = _FNV_OFFSETS[bits]
    for byte in text.encode():
        hashed = (hashed ^ byte) * _FNV_PRIMES[bits] % 2**bits
    return hashed


def _fitted(text: str, max_length: int, bits: int) -> str:
    """Keep what is short enough; hash the rest with FNV-1a."""
    if len(text) <= max_length:
        return text
    hashed = fnv1a(text, bits)
    digits = base64.b32encode(hashed.to_bytes(bits // 8, "big")).decode().rstrip("=")
    return "f" + digits.translate(_ALPHABET)


class Place(NamedTuple):
    """Where a node stands in its execution.

    Attributes:
        node_id: Its id, unique in the execution.
        spec_id: Its id in the workflow that defines it.
        parent_id: Node that contains it; empty for the nodes of the execution itself.
        is_in_dynamic_chain: Whether a dynamic node contains it, at any distance.
    """

    node_id: str
    spec_id: str
    parent_id: str = ""
    is_in_dynamic_chain: bool = False


def place_below(parent: Place | None, spec_id: str, *, is_dynamic: bool = False) -> Place:
    """Give the place of a node.

    Args:
        parent: Node that contains it; None for the execution itself. Its attempt is the first.
        spec_id: Id in the workflow that defines it.
        is_dynamic: Whether that workflow was made by the parent.
    """
    if parent is None:
        return Place(node_id_below("", 0, spec_id), spec_id)
    return Place(
        node_id=node_id_below(parent.node_id, 0, spec_id),
        spec_id=spec_id,
        parent_id=parent.node_id,
        is_in_dynamic_chain=is_dynamic or parent.is_in_dynamic_chain,
    )
