"""The files of the page, held in memory from the start of the server.

So no path that anybody asks for is ever looked up in the file system.
"""

import gzip
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

_MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "woff2": "font/woff2",
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
}

_MIN_GZIP_BYTES = 1_000

INDEX = "/index.html"

FOR_EVER = "public, max-age=31536000, immutable"
"""For files whose names hold a digest of what is in them."""

CHECKED = "no-cache"
"""For all others: kept, and asked for again each time, which is answered with 304."""


class StaticFile(NamedTuple):
    """A file.

    Attributes:
        media_type: Its Content-Type.
        etag: Changes with its content.
        cache_control: How long it may be kept.
        content: Its bytes.
        gzipped: The same with gzip; None where that is not worth it.
    """

    media_type: str
    etag: str
    cache_control: str
    content: bytes
    gzipped: bytes | None


def load_static_files() -> Mapping[str, StaticFile]:
    """Read the files of the page, by path from the root. `/` is the index."""
    found = dict(_walk(files("spanwise_server.web") / "static", ""))
    if INDEX in found:
        found["/"] = found[INDEX]
    return found


def _walk(folder: Traversable, path: str) -> Iterator[tuple[str, StaticFile]]:
    for entry in folder.iterdir():
        entry_path = f"{path}/{entry.name}"
        if entry.is_dir():
            yield from _walk(entry, entry_path)
        elif (media_type := _MEDIA_TYPES.get(entry.name.rpartition(".")[2])) is not None:
            yield entry_path, _load(entry_path, media_type, entry.read_bytes())


def _load(path: str, media_type: str, content: bytes) -> StaticFile:
    gzipped = gzip.compress(content, mtime=0) if len(content) >= _MIN_GZIP_BYTES else None
    return StaticFile(
        media_type=media_type,
        etag=f'"{sha256(content).hexdigest()[:16]}"',
        cache_control=FOR_EVER if path.startswith("/assets/") else CHECKED,
        content=content,
        gzipped=gzipped,
    )
