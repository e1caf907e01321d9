"""Many calls at once on one connection."""

from collections import Counter

from spanwise.v1 import event_pb2, event_service_pb2, identifiers_pb2, phase_pb2
from tests.e2e.harness import Stubs

NUM_CALLS = 6_000
NUM_BURSTS = 3


def test_bursts_on_one_connection_are_taken_whole(stubs: Stubs) -> None:
    """GRPC by itself ends calls at random when a thousand wait."""
    for burst in range(NUM_BURSTS):
        requests = [
            event_service_pb2.CreateNodeEventRequest(
                event=event_pb2.NodeEvent(
                    node_id=identifiers_pb2.NodeId(
                        execution_id=identifiers_pb2.ExecutionId(name=f"burst{burst}"),
                        node_id=f"n{number}",
                    ),
                    phase=phase_pb2.PHASE_QUEUED,
                )
            )
            for number in range(NUM_CALLS)
        ]
        calls = [stubs.events.CreateNodeEvent.future(request) for request in requests]
        assert Counter(call.code().name for call in calls) == {"OK": NUM_CALLS}
