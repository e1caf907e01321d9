"""spanwise.v1.WorkflowService: definitions of workflows, and what executions run."""

from spanwise.v1 import workflow_service_pb2
from spanwise.v1.identifiers_pb2 import EntityVersion as EntityVersionMessage
from spanwise.v1.workflow_service_pb2 import (
    BindExecutionRequest,
    BindExecutionResponse,
    GetWorkflowRequest,
    GetWorkflowResponse,
    RegisterWorkflowRequest,
    RegisterWorkflowResponse,
)
from spanwise_server.domain.errors import InvalidQuery, InvalidWorkflow
from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.workflows import WorkflowFormat
from spanwise_server.rpc.codecs.native import decode_entity
from spanwise_server.rpc.codecs.native_queries import require_execution_id
from spanwise_server.rpc.codecs.native_spans import fill_entity
from spanwise_server.rpc.codecs.workflow_payloads import encode_record
from spanwise_server.rpc.methods import Call, Handler, Method, service_methods
from spanwise_server.rpc.query_pool import QueryPool
from spanwise_server.service.workflow_registry import WorkflowRegistry

_SERVICE = workflow_service_pb2.DESCRIPTOR.services_by_name["WorkflowService"]


class WorkflowServicer:
    """Handlers of WorkflowService."""

    def __init__(self, registry: WorkflowRegistry, pool: QueryPool) -> None:
        """Run `registry` in `pool`."""
        self._registry = registry
        self._pool = pool

    def methods(self) -> list[Method]:
        """Give the method table."""
        handlers: dict[str, Handler] = {
            "RegisterWorkflow": self._register_workflow,
            "GetWorkflow": self._get_workflow,
            "BindExecution": self._bind_execution,
        }
        return service_methods(_SERVICE, handlers, _explain_unserved)

    async def _register_workflow(
        self, request: RegisterWorkflowRequest, call: Call
    ) -> RegisterWorkflowResponse:
        workflow_format, payload = _definition_of(request)
        workflow_id = await self._pool.run(
            lambda: self._registry.register(workflow_format, payload)
        )
        response = RegisterWorkflowResponse()
        fill_entity(response.workflow_id, workflow_id)
        return response

    async def _get_workflow(self, request: GetWorkflowRequest, call: Call) -> GetWorkflowResponse:
        workflow_id = _require_workflow_id(request.workflow_id)

        def answer() -> GetWorkflowResponse:
            record = self._registry.get(workflow_id)
            return GetWorkflowResponse(workflow=encode_record(record))

        return await self._pool.run(answer)

    async def _bind_execution(
        self, request: BindExecutionRequest, call: Call
    ) -> BindExecutionResponse:
        execution_id = require_execution_id(request.execution_id)
        workflow_id = _require_workflow_id(request.workflow_id)
        await self._pool.run(lambda: self._registry.bind(execution_id, workflow_id))
        return BindExecutionResponse()


def _definition_of(request: RegisterWorkflowRequest) -> tuple[WorkflowFormat, bytes]:
    match request.WhichOneof("definition"):
        case "workflow":
            return WorkflowFormat.NATIVE, request.workflow.SerializeToString()
        case "flyte_compiled_workflow":
            return WorkflowFormat.FLYTE1_COMPILED_CLOSURE, request.flyte_compiled_workflow
        case _:
            raise InvalidWorkflow(
                "definition", "is not set; give workflow or flyte_compiled_workflow"
            )


def _require_workflow_id(message: EntityVersionMessage) -> EntityVersion:
    if not message.name:
        raise InvalidQuery("workflow_id.name", "is empty; name the workflow")
    return decode_entity(message)


def _explain_unserved(method: str) -> str:
    return f"this version does not serve WorkflowService.{method} yet"
