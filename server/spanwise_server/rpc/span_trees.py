"""Trees in parts for whoever reads: those that are kept, and else those that are built."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import structlog

from spanwise_server.domain.errors import SpanwiseError
from spanwise_server.domain.identifiers import ExecutionId, execution_key
from spanwise_server.domain.span_builder import walk_spans
from spanwise_server.domain.totals import fill_totals
from spanwise_server.rpc.codecs.tree_parts import encode_parts
from spanwise_server.rpc.turns import Turns
from spanwise_server.service.kept_trees import (
    BuiltTree,
    KeptTrees,
    PartedTree,
    StoredTree,
    TreeBasis,
)
from spanwise_server.service.latest import Latest
from spanwise_server.service.span_queries import SpanQueries

_log = structlog.get_logger(__name__)

MIN_KEPT_SPANS = 2_000
"""Smaller trees are built about as quickly as it is found out whether a kept one still holds."""

MAX_RECENT_BYTES = 2**26
"""Of trees in memory, packed: those of twenty executions of 10,000 nodes."""


class TreeKey(NamedTuple):
    """What a tree is the tree of, beside the moment."""

    execution_id: ExecutionId
    include_totals: bool


class _Recent(NamedTuple):
    """A tree that was built. `as_of_ns` is None where it is the same at every moment."""

    tree: BuiltTree
    as_of_ns: int | None


class SpanTrees:
    """Gives trees. Blocking; safe for several threads.

    Trees of finished executions that take long to build are kept in the database; so that pages of
    others go on with the tree that they began with, the latest are held in memory. Neither is given
    when anything has changed since.
    """

    def __init__(self, queries: SpanQueries, kept: KeptTrees, turns: Turns) -> None:
        """Build with `queries` when `turns` says so, and keep in `kept`."""
        self._queries = queries
        self._kept = kept
        self._turns = turns
        self._recent: Latest[_Recent] = Latest(MAX_RECENT_BYTES)
        self._keeper = ThreadPoolExecutor(1, thread_name_prefix="spanwise-keeper")

    def get(self, key: TreeKey, as_of_ns: int) -> PartedTree:
        """Give a tree. Whoever asks for one that is being built waits for it.

        One that is worth it is kept soon after. Raises as SpanQueries.get_versioned_tree, and as
        Turns.take_alone.
        """
        tree, to_keep = self._find(key, as_of_ns)
        if to_keep is not None:
            self._keeper.submit(self._keep, key.execution_id, to_keep)
        return tree

    def get_without_totals(self, execution_id: ExecutionId, as_of_ns: int) -> PartedTree:
        """Do what get() does, for the tree of an execution without totals."""
        return self.get(TreeKey(execution_id, include_totals=False), as_of_ns)

    def prepare(self, execution_id: ExecutionId, as_of_ns: int) -> None:
        """Keep the tree of an execution that has ended before somebody asks for it.

        Returns at once. One tree is built at a time.
        """
        self._keeper.submit(self._prepare, TreeKey(execution_id, include_totals=False), as_of_ns)

    def close(self) -> None:
        """Wait until all that is to be kept is kept."""
        self._keeper.shutdown()

    def _prepare(self, key: TreeKey, as_of_ns: int) -> None:
        try:
            _, to_keep = self._find(key, as_of_ns)
        except SpanwiseError as error:
            _log.warning("a tree was not kept", execution=key.execution_id, error=str(error))
        else:
            if to_keep is not None:
                self._keep(key.execution_id, to_keep)

    def _find(self, key: TreeKey, as_of_ns: int) -> tuple[PartedTree, BuiltTree | None]:
        """Give a tree, and again if it was built now and is to be kept."""
        found = self._look_up(key, as_of_ns)
        if found is not None:  # which is quick, and need not wait for anybody
            return found, None
        with self._turns.take_alone(key, key.execution_id) as turn:
            found = self._look_up(key, as_of_ns)  # somebody else may have built it meanwhile
            if found is not None:
                return found, None
            with turn:
                built = self._build(key, as_of_ns)
            return built.tree, built.tree if _is_to_be_kept(key, built) else None

    def _look_up(self, key: TreeKey, as_of_ns: int) -> PartedTree | None:
        """Give a tree that need not be built."""
        found: PartedTree | None = self._recall(key, as_of_ns)
        if found is None and not key.include_totals:
            found = self.find_kept(key.execution_id)
        return found

    def _recall(self, key: TreeKey, as_of_ns: int) -> PartedTree | None:
        recent = self._recent.find(key)
        if recent is None or recent.as_of_ns not in (None, as_of_ns):
            return None
        basis = recent.tree.basis
        if self._queries.get_versions(basis.execution_keys) != basis.versions:
            return None
        return recent.tree

    def find_kept(self, execution_id: ExecutionId) -> StoredTree | None:
        """Give the tree that is kept of an execution, if it is the one that would be built now."""
        return self._kept.find(execution_key(execution_id))

    def _build(self, key: TreeKey, as_of_ns: int) -> _Recent:
        if key.include_totals:
            tree = self._queries.get_versioned_tree(key.execution_id, as_of_ns)
            fill_totals(tree.root, as_of_ns)
            basis = TreeBasis(tree.execution_keys, tree.versions)
            end_ns, spans = tree.root.end_ns, walk_spans(tree.root)
        else:
            walk = self._queries.walk_tree(key.execution_id, as_of_ns)
            basis = TreeBasis(walk.execution_keys, walk.versions)
            end_ns, spans = walk.end_ns, walk.spans
        # While something is open, the tree depends on the moment that it is asked for.
        built = _Recent(
            BuiltTree(basis, encode_parts(spans)), None if end_ns is not None else as_of_ns
        )
        self._recent.hold(key, built, built.tree.size_bytes)
        return built

    def _keep(self, execution_id: ExecutionId, tree: BuiltTree) -> None:
        try:
            self._kept.keep(execution_key(execution_id), tree)
        except SpanwiseError as error:
            _log.warning("a tree was not kept", execution=execution_id, error=str(error))


def _is_to_be_kept(key: TreeKey, built: _Recent) -> bool:
    is_large = built.tree.starts[-1] >= MIN_KEPT_SPANS
    return is_large and built.as_of_ns is None and not key.include_totals
