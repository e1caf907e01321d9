"""What a server says about itself: health, reflection, and methods that it does not serve."""

from typing import Any

import grpc
import pytest
from flyteidl.service import admin_pb2
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.reflection_pb2 import (
    ServerReflectionRequest,
    ServerReflectionResponse,
)

from tests.e2e.harness import Stubs, failure, unary

ADMIN_SERVICE = admin_pb2.DESCRIPTOR.services_by_name["AdminService"]
SERVED = {"CreateWorkflowEvent", "CreateNodeEvent", "CreateTaskEvent", "GetExecutionMetrics"}
SERVICES = [
    "flyteidl.service.AdminService",
    "spanwise.v1.EventService",
    "spanwise.v1.SpanService",
    "grpc.health.v1.Health",
]


@pytest.mark.parametrize("name", ["", "flyteadmin", *SERVICES[:3]])
def test_every_service_is_healthy(name: str, stubs: Stubs) -> None:
    """Also under the name that FlyteAdmin has."""
    health: Any = health_pb2_grpc.HealthStub(stubs.channel)  # its stubs name no methods
    answer = health.Check(health_pb2.HealthCheckRequest(service=name))
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def reflect(
    stubs: Stubs, version: str, *requests: ServerReflectionRequest
) -> list[ServerReflectionResponse]:
    """Ask the reflection service."""
    stub = stubs.channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=ServerReflectionRequest.SerializeToString,
        response_deserializer=ServerReflectionResponse.FromString,
    )
    return list(stub(iter(requests)))


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_reflection_lists_and_describes_every_service(version: str, stubs: Stubs) -> None:
    """To tools of both generations."""
    (listed,) = reflect(stubs, version, ServerReflectionRequest(list_services=""))
    names = {service.name for service in listed.list_services_response.service}
    assert names >= {*SERVICES, "grpc.reflection.v1alpha.ServerReflection"}
    symbols = [ServerReflectionRequest(file_containing_symbol=name) for name in SERVICES]
    for answer in reflect(stubs, version, *symbols):
        assert answer.file_descriptor_response.file_descriptor_proto


@pytest.mark.parametrize(
    "method", [method.name for method in ADMIN_SERVICE.methods if method.name not in SERVED]
)
def test_an_unserved_admin_method_says_what_to_do(method: str, stubs: Stubs) -> None:
    """Which method, what is served, and where to point the caller instead."""
    request = GetMessageClass(ADMIN_SERVICE.methods_by_name[method].input_type)()
    with pytest.raises(grpc.RpcError) as failed:
        getattr(stubs.admin, method)(request)
    code, text = failure(failed.value)
    assert code is grpc.StatusCode.UNIMPLEMENTED
    for part in (f"AdminService.{method}", "CreateTaskEvent", "GetExecutionMetrics", "FlyteAdmin"):
        assert part in text


@pytest.mark.parametrize(
    "path", ["/flyteidl.service.SignalService/GetOrCreateSignal", "/nobody.Service/Method"]
)
def test_an_unknown_service_is_unimplemented(path: str, stubs: Stubs) -> None:
    """UNKNOWN would make flytekit log in."""
    with pytest.raises(grpc.RpcError) as failed:
        unary(stubs.channel, path)(b"")
    assert failure(failed.value)[0] is grpc.StatusCode.UNIMPLEMENTED
