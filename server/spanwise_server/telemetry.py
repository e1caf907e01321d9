"""Logs and metrics of the server process."""

import logging
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

import structlog
from prometheus_client import CollectorRegistry, Metric, Summary, generate_latest
from prometheus_client import Counter as CounterMetric
from prometheus_client.registry import Collector

from spanwise_server.domain.events import Disposition
from spanwise_server.service.arrivals import Recorded, Verdict
from spanwise_server.service.retention import Deleted


class Metrics:
    """Counters of one server. Safe for use by several threads.

    Children of labels are looked up once and kept: the look-up costs more than the count.
    """

    def __init__(self, worker: int | None = None) -> None:
        """Make a registry of its own, so that two servers in one process do not mix.

        Args:
            worker: Number that every sample carries, where the server has several workers.
        """
        self.registry = CollectorRegistry()
        self._worker = worker
        events = CounterMetric(
            "spanwise_events",
            "Events that were logged, by what became of them.",
            ["disposition"],
            registry=self.registry,
        )
        self._events: Mapping[Disposition, CounterMetric] = {
            disposition: events.labels(disposition.name.lower()) for disposition in Disposition
        }
        self._deleted_executions = CounterMetric(
            "spanwise_deleted_executions",
            "Executions that retention deleted.",
            registry=self.registry,
        )
        self._deleted_events = CounterMetric(
            "spanwise_deleted_events",
            "Events that retention deleted.",
            registry=self.registry,
        )
        self._sweeps = Summary(
            "spanwise_sweep_seconds",
            "Sweeps of retention that came to their end, and how long they took.",
            registry=self.registry,
        )
        self._failures = CounterMetric(
            "spanwise_rpc_failures",
            "Calls that ended with another status than OK.",
            ["method", "code"],
            registry=self.registry,
        )
        self._failure_children: dict[tuple[str, str], CounterMetric] = {}

    def count_verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """Count what became of the events of a batch."""
        dispositions = Counter(
            [verdict.disposition for verdict in verdicts if isinstance(verdict, Recorded)]
        )
        for disposition, number in dispositions.items():
            self._events[disposition].inc(number)

    def count_deleted(self, deleted: Deleted, took_s: float) -> None:
        """Count what a sweep of retention deleted, and its seconds."""
        self._deleted_executions.inc(deleted.num_executions)
        self._deleted_events.inc(deleted.num_events)
        self._sweeps.observe(took_s)

    def count_failure(self, method: str, code: str) -> None:
        """Count one call that did not end with OK."""
        key = (method, code)
        child = self._failure_children.get(key)
        if child is None:
            child = self._failure_children[key] = self._failures.labels(method, code)
        child.inc()

    def to_text(self) -> bytes:
        """Give all of them as Prometheus reads them: text format 0.0.4."""
        if self._worker is None:
            return generate_latest(self.registry)
        return generate_latest(_OfWorker(self.registry, self._worker))


class _OfWorker(Collector):
    """Samples with the number of a worker among their labels.

    Workers share an address, so a scrape is answered by any of them.
    """

    def __init__(self, inner: Collector, worker: int) -> None:
        self._inner = inner
        self._label = {"worker": str(worker)}

    def collect(self) -> Iterator[Metric]:
        for metric in self._inner.collect():
            metric.samples = [
                sample._replace(labels={**self._label, **sample.labels})
                for sample in metric.samples
            ]
            yield metric


def configure_logging(
    level: str, stream: TextIO = sys.stderr, *, worker: int | None = None
) -> None:
    """Write logs to `stream`: as key=value lines on a terminal, as JSON lines otherwise.

    Records of libraries take the same way, from WARNING up.

    Args:
        level: Lowest level of our own records: debug, info, warning or error.
        stream: Where to write.
        worker: Number that every record carries, where the server has several workers.
    """

    def name_worker(
        _: object, __: str, record: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        return record if worker is None else {**record, "worker": worker}

    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        name_worker,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"])
        if stream.isatty()
        else structlog.processors.JSONRenderer()
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("spanwise_server").setLevel(level.upper())
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
