"""Which program builds trees: another one may build another tree of the same events."""

from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

_SOURCES = (
    "spanwise_server.domain",
    "spanwise_server.rpc",
    "spanwise_server.service",
    "spanwise_server.storage",
    "spanwise_server.web",
    "spanwise.v1",
)


def tree_maker() -> str:
    """Give a text that changes with everything that makes a tree, and with nothing else.

    A digest of sources: trees that an older version kept are not given, and nobody need remember to
    count up a number.
    """
    digest = sha256()
    for package in _SOURCES:
        for source in _walk(files(package)):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:32]


def _walk(folder: Traversable) -> Iterator[Traversable]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _walk(entry)
        elif entry.name.endswith(".py"):
            yield entry
