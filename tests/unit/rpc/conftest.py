"""What tests of reads share: each module stores what it reads, in its fixture `storage`."""

import pytest

from spanwise_server.rpc.span_reads import SpanReads
from spanwise_server.rpc.span_trees import SpanTrees
from spanwise_server.rpc.turns import Turns
from spanwise_server.service.diagnoses import Diagnoses
from spanwise_server.service.kept_trees import KeptTrees
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.storage.api import Storage
from tests.unit.service.test_recording import queries_of


@pytest.fixture
def queries(storage: Storage) -> SpanQueries:
    """Give the queries of a server."""
    return queries_of(storage)


@pytest.fixture
def reads(storage: Storage, queries: SpanQueries) -> SpanReads:
    """Give reads of trees, tables and diagnoses."""
    turns = Turns(queries)
    trees = SpanTrees(queries, KeptTrees(storage, "this version"), turns)
    return SpanReads(queries, trees, Diagnoses(storage, queries), turns)
