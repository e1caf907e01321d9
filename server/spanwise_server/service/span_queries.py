"""The way out for spans: trees of executions."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from spanwise_server.domain.flyte_metrics import render_metrics
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.domain.known import KnownExecution
from spanwise_server.domain.liveness import judge_liveness
from spanwise_server.domain.metric_spans import MetricSpan
from spanwise_server.domain.span_builder import PlacedSpan, build_span_tree, walk_span_tree
from spanwise_server.domain.spans import Span
from spanwise_server.service.arrivals import PayloadDecoder
from spanwise_server.service.known_executions import KnownExecutions, KnownFamily
from spanwise_server.service.workflow_registry import DefinitionDecoder
from spanwise_server.storage.api import Storage
from spanwise_server.storage.records import ExecutionVersion

LARGE_EVENTS = 1_000
"""An execution with this many events, as far as is known before it is read, counts as large. A tree
of fewer is built in about a tenth of a second, so that small ones may wait for each other."""


class VersionedTree(NamedTuple):
    """A tree with what tells how long it holds.

    Attributes:
        root: Root.
        sequence: Highest sequence of the execution itself that the tree takes into account.
        execution_keys: Executions that it depends on: the execution, those that it started, at any
            level, and those that are named there and may still come.
        versions: Versions of the known ones of them. The tree is the same while they are.
        next_stale_ns: When another span will be stale if nothing more is heard; None for never.
    """

    root: Span
    sequence: int
    execution_keys: frozenset[bytes]
    versions: Mapping[bytes, ExecutionVersion]
    next_stale_ns: int | None


class VersionedWalk(NamedTuple):
    """A tree that is made while it is walked, with what tells how long it holds.

    Attributes:
        end_ns: End of the execution; None while it is open.
        spans: Its spans in pre-order. To be walked once; may be walked after the reading is over.
        execution_keys: As those of a VersionedTree.
        versions: As those of a VersionedTree.
    """

    end_ns: int | None
    spans: Iterator[PlacedSpan]
    execution_keys: frozenset[bytes]
    versions: Mapping[bytes, ExecutionVersion]


class SpanQueries:
    """Builds spans from storage. Blocking; safe for several threads."""

    def __init__(
        self,
        storage: Storage,
        decode: PayloadDecoder,
        decode_definition: DefinitionDecoder,
        *,
        stale_after_ns: int,
    ) -> None:
        """Read from `storage`.

        Args:
            storage: Storage.
            decode: Decodes the payloads that carry details.
            decode_definition: Decodes registered workflows.
            stale_after_ns: Silence after which an open span is flagged STALE.
        """
        self._storage = storage
        self._known = KnownExecutions(decode, decode_definition)
        self._stale_after_ns = stale_after_ns

    def get_versioned_tree(self, execution_id: ExecutionId, as_of_ns: int) -> VersionedTree:
        """Give the span tree of an execution, with the executions that it started.

        Args:
            execution_id: Execution.
            as_of_ns: Moment for which it is said which open spans are stale. The tree itself holds
                everything that is known, also what came later.

        Raises:
            ExecutionNotFound: No event ever named it, or it was deleted.
            CorruptRecord: A payload of the log or a registered workflow cannot be decoded.
        """
        execution, children, versions = self._read_family(execution_id)
        root = build_span_tree(execution, children)
        return VersionedTree(
            root=root,
            sequence=versions[execution.key].last_sequence,
            execution_keys=frozenset(_keys([execution, *children.values()])),
            versions=versions,
            next_stale_ns=judge_liveness(root, as_of_ns, self._stale_after_ns),
        )

    def walk_tree(self, execution_id: ExecutionId, as_of_ns: int) -> VersionedWalk:
        """Give the spans of get_versioned_tree() one after the other. Raises as it does."""
        execution, children, versions = self._read_family(execution_id)
        walk = walk_span_tree(execution, children, as_of_ns, self._stale_after_ns)
        keys = frozenset(_keys([execution, *children.values()]))
        return VersionedWalk(walk.end_ns, walk.spans, keys, versions)

    def get_versions(self, keys: Collection[bytes]) -> dict[bytes, ExecutionVersion]:
        """Give the present versions of the known ones of these executions."""
        with self._storage.read() as reader:
            return reader.get_versions(keys)

    def get_metrics(self, execution_id: ExecutionId, depth: int) -> MetricSpan:
        """Give the tree as Flyte's GetExecutionMetrics does. Raises as get_versioned_tree."""
        execution, children, _ = self._read_family(execution_id)
        return render_metrics(build_span_tree(execution, children), depth)

    def _read_family(self, execution_id: ExecutionId) -> KnownFamily:
        with self._storage.read() as reader:
            return self._known.read_family(reader, execution_id)


def _keys(executions: Iterable[KnownExecution]) -> Iterator[bytes]:
    """Give the keys of executions, and of those that nodes in them say they have started."""
    for execution in executions:
        yield execution.key
        for node in execution.nodes:
            if node.facts.child_execution_id is not None:
                yield execution_key(node.facts.child_execution_id)
