"""Tables of executions: of operations, of reasons, and of what differs between two."""

from typing import NamedTuple

from spanwise_server.domain.comparison import Comparison, Side, compare
from spanwise_server.domain.errors import SpanNotFound
from spanwise_server.domain.identifiers import ExecutionId, span_id_bytes
from spanwise_server.domain.operation_table import OperationTable, tabulate_operations
from spanwise_server.domain.reason_list import PlacedMark, list_marks
from spanwise_server.domain.span_builder import walk_spans
from spanwise_server.domain.spans import Span
from spanwise_server.service.kept_trees import TreeBasis
from spanwise_server.service.span_queries import SpanQueries, VersionedTree
from spanwise_server.storage.records import ExecutionVersion


class ReasonList(NamedTuple):
    """Reasons of an execution, with what tells how long the list holds."""

    root: Span
    marks: list[PlacedMark]
    basis: TreeBasis


class OperationsOf(NamedTuple):
    """Operations summed up.

    Attributes:
        table: The table.
        basis: What it was made of, if it is the same at every moment; None while a span is open.
    """

    table: OperationTable
    basis: TreeBasis | None


class ComparedExecutions(NamedTuple):
    """Two executions, and what differs.

    Attributes:
        root: Tree of the one.
        base_root: Tree of the other.
        comparison: What differs.
        basis: As that of OperationsOf, for both.
    """

    root: Span
    base_root: Span
    comparison: Comparison
    basis: TreeBasis | None


class SpanTables:
    """Makes tables of executions. Blocking; safe for several threads.

    All methods raise ExecutionNotFound for an execution that no event ever named, SpanNotFound for
    a span that its tree has not, and CorruptRecord for a payload that cannot be decoded.
    """

    def __init__(self, queries: SpanQueries) -> None:
        """Read trees with `queries`."""
        self._queries = queries

    def tabulate_operations(
        self, execution_id: ExecutionId, top_span_id: bytes, as_of_ns: int
    ) -> OperationsOf:
        """Sum up the operations of a span, and of all below it; of the execution for no id."""
        tree = self._queries.get_versioned_tree(execution_id, as_of_ns)
        table = tabulate_operations(tree.root, _find_span(tree.root, top_span_id), as_of_ns)
        return OperationsOf(table, _lasting_basis(tree))

    def list_reasons(
        self, execution_id: ExecutionId, top_span_id: bytes, search: str, as_of_ns: int
    ) -> ReasonList:
        """Give the reasons of a span, and of all below it, that contain a text: see list_marks."""
        tree = self._queries.get_versioned_tree(execution_id, as_of_ns)
        top = _find_span(tree.root, top_span_id)
        basis = TreeBasis(tree.execution_keys, tree.versions)
        return ReasonList(tree.root, list_marks(top, search), basis)

    def compare(
        self, execution_id: ExecutionId, base_id: ExecutionId, as_of_ns: int
    ) -> ComparedExecutions:
        """Tell where an execution took longer than the base."""
        tree = self._queries.get_versioned_tree(execution_id, as_of_ns)
        base = self._queries.get_versioned_tree(base_id, as_of_ns)
        comparison = compare(Side(tree.root, as_of_ns), Side(base.root, as_of_ns))
        basis = _lasting_basis(tree, base)
        return ComparedExecutions(tree.root, base.root, comparison, basis)


def _lasting_basis(*trees: VersionedTree) -> TreeBasis | None:
    """Give what trees were made of; None if anything in them is open, and grows with the clock."""
    keys: set[bytes] = set()
    versions: dict[bytes, ExecutionVersion] = {}
    for tree in trees:
        if any(span.end_ns is None for span, *_ in walk_spans(tree.root)):
            return None
        # Of one that is in both, a change between the two reads must not go unseen.
        if any(versions.get(key, version) != version for key, version in tree.versions.items()):
            return None
        keys |= tree.execution_keys
        versions |= tree.versions
    return TreeBasis(frozenset(keys), versions)


def _find_span(root: Span, span_id: bytes) -> Span:
    """Give the span of an id; the root for an empty one."""
    if not span_id:
        return root
    for span, *_ in walk_spans(root):
        if span_id_bytes(span.span_id) == span_id:
            return span
    raise SpanNotFound(span_id)
