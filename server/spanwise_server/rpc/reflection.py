"""grpc.reflection: what this server serves, for grpcurl, Postman and their like."""

from collections.abc import Iterable
from typing import cast

from grpc_reflection.v1alpha import reflection, reflection_pb2

from spanwise_server.rpc.methods import Handler, Method, StreamKind

_SERVICES = ("grpc.reflection.v1.ServerReflection", reflection.SERVICE_NAME)
"""The stable name and the older one. Their messages are the same on the wire; newer tools ask the
first, and not all of them fall back."""


def reflection_methods(services: Iterable[str]) -> list[Method]:
    """Give the method table of reflection over `services` and itself."""
    servicer = reflection.aio.ReflectionServicer([*services, *_SERVICES])
    # Typed for the context of grpcio, which it does not use.
    answer = cast("Handler", servicer.ServerReflectionInfo)
    return [
        Method(
            f"/{service}/ServerReflectionInfo",
            reflection_pb2.ServerReflectionRequest,
            StreamKind.BIDIRECTIONAL,
            answer,
        )
        for service in _SERVICES
    ]
