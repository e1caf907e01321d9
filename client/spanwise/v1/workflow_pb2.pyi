from spanwise.v1 import event_pb2 as _event_pb2
from spanwise.v1 import identifiers_pb2 as _identifiers_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WorkflowNode(_message.Message):
    __slots__ = ("node_id", "name", "kind", "target_id", "upstream_node_ids", "cases")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TARGET_ID_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_NODE_IDS_FIELD_NUMBER: _ClassVar[int]
    CASES_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    name: str
    kind: _event_pb2.NodeKind
    target_id: _identifiers_pb2.EntityVersion
    upstream_node_ids: _containers.RepeatedScalarFieldContainer[str]
    cases: _containers.RepeatedCompositeFieldContainer[WorkflowNode]
    def __init__(self, node_id: _Optional[str] = ..., name: _Optional[str] = ..., kind: _Optional[_Union[_event_pb2.NodeKind, str]] = ..., target_id: _Optional[_Union[_identifiers_pb2.EntityVersion, _Mapping]] = ..., upstream_node_ids: _Optional[_Iterable[str]] = ..., cases: _Optional[_Iterable[_Union[WorkflowNode, _Mapping]]] = ...) -> None: ...

class Workflow(_message.Message):
    __slots__ = ("workflow_id", "nodes", "failure_node", "sub_workflows")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    FAILURE_NODE_FIELD_NUMBER: _ClassVar[int]
    SUB_WORKFLOWS_FIELD_NUMBER: _ClassVar[int]
    workflow_id: _identifiers_pb2.EntityVersion
    nodes: _containers.RepeatedCompositeFieldContainer[WorkflowNode]
    failure_node: WorkflowNode
    sub_workflows: _containers.RepeatedCompositeFieldContainer[Workflow]
    def __init__(self, workflow_id: _Optional[_Union[_identifiers_pb2.EntityVersion, _Mapping]] = ..., nodes: _Optional[_Iterable[_Union[WorkflowNode, _Mapping]]] = ..., failure_node: _Optional[_Union[WorkflowNode, _Mapping]] = ..., sub_workflows: _Optional[_Iterable[_Union[Workflow, _Mapping]]] = ...) -> None: ...
