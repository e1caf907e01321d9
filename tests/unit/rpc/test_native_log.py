"""Parts of a log outward."""

from spanwise_server.domain.events import Disposition, PayloadType
from spanwise_server.domain.identifiers import EntityKind
from spanwise_server.domain.phases import Phase
from spanwise_server.domain.quality import EventQuality
from spanwise_server.rpc.codecs.native_log import encode_watched_events
from spanwise_server.storage.records import EventRecord, LoggedEvent

MIB = 2**20


def logged(sequence: int, payload_bytes: int) -> LoggedEvent:
    """Give an event with a payload of some size."""
    record = EventRecord(
        execution_key=bytes(16),
        sequence=sequence,
        entity_key=1,
        kind=EntityKind.NODE,
        phase=Phase.RUNNING,
        phase_version=0,
        occurred_at_ns=1,
        reported_at_ns=None,
        recorded_at_ns=2,
        producer_id="",
        disposition=Disposition.ACCEPTED,
        refusal="",
        qualities=EventQuality.NONE,
        has_details=False,
        payload_type=PayloadType.NODE_EVENT,
        payload=bytes(payload_bytes),
    )
    return LoggedEvent(record, "n0", 0)


def test_large_payloads_are_parted_into_answers_of_a_mebibyte() -> None:
    """In order; one that is larger goes alone, and clients with the usual cap take the others."""
    sizes = [MIB // 2, MIB // 2, 1, 5 * MIB, 0, 3, MIB]
    answers = encode_watched_events(
        logged(sequence, size) for sequence, size in enumerate(sizes, 1)
    )
    assert [[event.sequence for event in answer.events] for answer in answers] == [
        [1, 2],
        [3],
        [4],
        [5, 6],
        [7],
    ]


def test_no_events_make_an_answer_of_their_own() -> None:
    """It shows that the watch has begun."""
    assert [list(answer.events) for answer in encode_watched_events([])] == [[]]
