"""Enums: the numbers of the wire are those of the domain, and no name is left out."""

from enum import IntEnum, IntFlag

import pytest
from flyteidl.core.catalog_pb2 import CatalogCacheStatus
from flyteidl.core.execution_pb2 import NodeExecution, TaskExecution, WorkflowExecution
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from spanwise.v1 import event_pb2, event_service_pb2, phase_pb2, span_pb2
from spanwise_server.domain.events import CacheStatus, Disposition, ErrorKind, Severity
from spanwise_server.domain.identifiers import EntityKind
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality, SpanQuality
from spanwise_server.domain.spans import Operation
from spanwise_server.rpc.codecs.flyte1_enums import (
    CACHE_STATUSES,
    EXECUTION_PHASES,
    NODE_PHASES,
    TASK_PHASES,
    flyte_phase_name,
)


def wire_numbers(enum: EnumTypeWrapper, prefix: str) -> dict[str, int]:
    """Give the numbers of a proto enum by name, without its zero value and prefix."""
    return {name.removeprefix(prefix): number for name, number in enum.items() if number}


@pytest.mark.parametrize(
    ("ours", "wire", "prefix"),
    [
        (Phase, phase_pb2.Phase, "PHASE_"),
        (Severity, event_pb2.Severity, "SEVERITY_"),
        (ErrorKind, event_pb2.ErrorKind, "ERROR_KIND_"),
        (CacheStatus, event_pb2.CacheStatus, "CACHE_STATUS_"),
        (NodeKind, event_pb2.NodeKind, "NODE_KIND_"),
        (Disposition, event_service_pb2.Disposition, "DISPOSITION_"),
        (EntityKind, event_service_pb2.EntityKind, "ENTITY_KIND_"),
        (Operation, span_pb2.Operation, "OPERATION_"),
    ],
)
def test_numbers_of_the_domain_are_those_of_the_wire(
    ours: type[IntEnum], wire: EnumTypeWrapper, prefix: str
) -> None:
    """Codecs pass them on as they are."""
    assert {member.name: member.value for member in ours if member} == wire_numbers(wire, prefix)


@pytest.mark.parametrize(
    ("ours", "wire", "prefix"),
    [
        (EventQuality, event_service_pb2.EventQuality, "EVENT_QUALITY_"),
        (SpanQuality, span_pb2.SpanQuality, "SPAN_QUALITY_"),
    ],
)
def test_flags_are_shifted_by_their_number_on_the_wire(
    ours: type[IntFlag], wire: EnumTypeWrapper, prefix: str
) -> None:
    """So that a set fits into one integer."""
    expected = {name: 1 << number for name, number in wire_numbers(wire, prefix).items()}
    assert {member.name: member.value for member in ours} == expected


@pytest.mark.parametrize(
    ("table", "enum"),
    [
        (EXECUTION_PHASES, WorkflowExecution.Phase),
        (NODE_PHASES, NodeExecution.Phase),
        (TASK_PHASES, TaskExecution.Phase),
    ],
)
def test_every_flyte_phase_keeps_its_name(table: dict[int, Phase], enum: EnumTypeWrapper) -> None:
    """And UNDEFINED is none."""
    names = {number: phase.name for number, phase in table.items()}
    assert names == {number: name for name, number in enum.items() if name != "UNDEFINED"}


def test_every_flyte_cache_status_has_a_meaning() -> None:
    """Numbers are one above Flyte's, because 0 says nothing here."""
    assert {number: status - 1 for number, status in CACHE_STATUSES.items()} == {
        number: number for number in CatalogCacheStatus.values()
    }


def test_an_unspecified_phase_is_undefined_in_flyte() -> None:
    """All other phases have the same name there."""
    assert flyte_phase_name(Phase.UNSPECIFIED) == "UNDEFINED"
    assert flyte_phase_name(Phase.ABORTED) == "ABORTED"
