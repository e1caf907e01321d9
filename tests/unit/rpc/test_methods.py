"""Method tables."""

import asyncio

import grpc
import grpc.aio
import pytest
from flyteidl.service import admin_pb2
from google.protobuf.wrappers_pb2 import StringValue

from spanwise.v1 import event_service_pb2, span_service_pb2
from spanwise_server.rpc.methods import Call, StreamKind, service_methods, service_names
from tests.unit.rpc.in_process import bidirectional, server_stream, serving, unary

EVENT_SERVICE = event_service_pb2.DESCRIPTOR.services_by_name["EventService"]
SPAN_SERVICE = span_service_pb2.DESCRIPTOR.services_by_name["SpanService"]
ADMIN_SERVICE = admin_pb2.DESCRIPTOR.services_by_name["AdminService"]


def explain(method: str) -> str:
    """Give the text of a method that nobody serves."""
    return f"{method} is not for here"


@pytest.mark.parametrize("service", [EVENT_SERVICE, SPAN_SERVICE, ADMIN_SERVICE])
def test_every_declared_method_has_a_row(service: object) -> None:
    """A method without a row would answer "Method not found"."""
    methods = service_methods(service, {}, explain)  # type: ignore[arg-type]
    names = [method.path.rpartition("/")[2] for method in methods]
    assert names == [method.name for method in service.methods]  # type: ignore[attr-defined]


def test_the_kind_of_a_method_is_read_from_its_declaration() -> None:
    """Three kinds are in use."""
    kinds = {
        method.path.rpartition("/")[2]: method.kind
        for method in service_methods(EVENT_SERVICE, {}, explain)
    }
    assert kinds["CreateTaskEvent"] is StreamKind.UNARY
    assert kinds["WatchEvents"] is StreamKind.SERVER
    assert kinds["CreateEvents"] is StreamKind.BIDIRECTIONAL


def test_a_handler_of_no_declared_method_is_a_mistake() -> None:
    """It would never be called."""

    async def handle(request: StringValue, call: Call) -> StringValue:
        return request

    with pytest.raises(ValueError, match="CreateTaskEvnt"):
        service_methods(EVENT_SERVICE, {"CreateTaskEvnt": handle}, explain)


def test_a_method_without_handler_explains_itself() -> None:
    """Of every kind, as UNIMPLEMENTED."""

    async def call_all() -> list[tuple[grpc.StatusCode, str]]:
        async with serving(service_methods(EVENT_SERVICE, {}, explain)) as channel:
            prefix = f"/{EVENT_SERVICE.full_name}"
            calls = (
                unary(channel, f"{prefix}/CreateTaskEvent")(b""),
                server_stream(channel, f"{prefix}/WatchEvents")(b""),
                bidirectional(channel, f"{prefix}/CreateEvents")(iter([b""])),
            )
            return [(await call.code(), await call.details()) for call in calls]

    assert asyncio.run(call_all()) == [
        (grpc.StatusCode.UNIMPLEMENTED, f"{name} is not for here")
        for name in ("CreateTaskEvent", "WatchEvents", "CreateEvents")
    ]


def test_services_of_a_table_are_named_once() -> None:
    """For health and reflection."""
    methods = service_methods(SPAN_SERVICE, {}, explain) + service_methods(
        EVENT_SERVICE, {}, explain
    )
    assert service_names(methods) == ["spanwise.v1.EventService", "spanwise.v1.SpanService"]
