"""Databases with the executions that tests of the page look at."""

import getpass
import os
import shutil
import tempfile
import time
from hashlib import sha256
from pathlib import Path

import spanwise_server.storage
from spanwise_server.config import Settings
from spanwise_server.domain.identifiers import ExecutionId
from spanwise_server.reader.maker import tree_maker
from spanwise_server.rpc.codecs.payloads import decode_payload
from spanwise_server.rpc.codecs.workflow_payloads import decode_stored_definition
from spanwise_server.rpc.span_trees import SpanTrees
from spanwise_server.rpc.turns import Turns
from spanwise_server.service.kept_trees import KeptTrees
from spanwise_server.service.span_queries import SpanQueries
from spanwise_server.storage.sql import open_storage
from spanwise_server.web.held_columns import ColumnStore
from tests.ui.big import BIG, big_arrivals
from tests.ui.events import store
from tests.ui.small import small_arrivals

KEPT_FILES = 3
"""Of BIG, each of which some version of the sources made."""


def write_small(database: Path) -> None:
    """Store the executions of small.py in a new SQLite file."""
    store(f"sqlite:///{database}", small_arrivals())


def write_big(database: Path) -> None:
    """Put a SQLite file there that has BIG, as after it ended in a server: its tree is kept.

    That takes half a minute, and more on a busy machine, so whatever may be the first to ask needs
    a long timeout. The file is made once for this version of the sources, in the folder for
    temporary files, and copied from there.
    """
    made = _cache() / f"big-{_digest()}.db"
    if not made.exists():
        with tempfile.TemporaryDirectory(dir=_cache()) as folder:
            being_made = Path(folder) / "big.db"
            store(f"sqlite:///{being_made}", big_arrivals())
            keep_tree(being_made, BIG)
            being_made.replace(made)
        for old in sorted(_cache().glob("big-*.db"), key=_made_at)[:-KEPT_FILES]:
            old.unlink(missing_ok=True)
    shutil.copy(made, database)


def keep_tree(database: Path, execution_id: ExecutionId) -> None:
    """Keep the tree of an ended execution, with its columns, as the reader process does."""
    stale_after_ns = Settings.model_fields["stale_after_s"].default * 10**9
    storage = open_storage(f"sqlite:///{database}")
    queries = SpanQueries(
        storage, decode_payload, decode_stored_definition, stale_after_ns=stale_after_ns
    )
    columns = ColumnStore(stale_after_ns)
    kept = KeptTrees(storage, tree_maker(), columns.make_compressed)
    trees = SpanTrees(queries, kept, Turns(queries))
    trees.prepare(execution_id, time.time_ns())
    trees.close()
    storage.close()


def _cache() -> Path:
    """Give a folder that is this user's alone."""
    folder = Path(tempfile.gettempdir()) / f"spanwise-tests-{getpass.getuser()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to somebody else; remove it")
    return folder


def _made_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another run was quicker
        return 0.0


def _digest() -> str:
    """Give a text that changes with all that makes the file."""
    digest = sha256(tree_maker().encode())
    storage = Path(spanwise_server.storage.__path__[0])
    own = [Path(__file__).parent / f"{name}.py" for name in ("big", "events", "fixtures")]
    for source in [*own, *sorted(storage.rglob("*.py"))]:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:32]
