"""The way of an event from a codec to the sink, for the services of all event formats."""

from spanwise_server.domain.errors import EventAlreadyRecorded, EventRefused
from spanwise_server.domain.events import Disposition, Event
from spanwise_server.service.event_sink import EventSink, Recorded
from spanwise_server.telemetry import Metrics


class Intake:
    """Gives events to the sink and counts what becomes of them."""

    def __init__(self, sink: EventSink, metrics: Metrics) -> None:
        """Record to `sink`, count in `metrics`."""
        self._record = sink.record
        self._events = metrics.events

    async def record(self, event: Event) -> Recorded:
        """Store one event and give where it went, after a durable commit.

        Raises:
            EventAlreadyRecorded: It repeats a phase.
            EventRefused: It contradicts what is stored.
            StoreUnavailable: It was not stored.
            WriteConflict: It was not stored.
        """
        try:
            recorded = await self._record(event)
        except EventAlreadyRecorded:
            self._events[Disposition.DUPLICATE].inc()
            raise
        except EventRefused:
            self._events[Disposition.REFUSED].inc()
            raise
        self._events[recorded.disposition].inc()
        return recorded
