"""The name of the program that builds trees."""

import shutil
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import pytest

from spanwise_server.reader import maker


@pytest.mark.parametrize(
    "module",
    [
        "spanwise_server/domain/waits.py",
        "spanwise_server/rpc/codecs/native_queries.py",
        "spanwise_server/storage/sql/packed.py",
        "spanwise_server/storage/sql/event_log.py",
    ],
)
def test_it_changes_with_every_part_that_makes_a_tree(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = maker.tree_maker()
    assert maker.tree_maker() == before

    copy = tmp_path / "spanwise_server"
    shutil.copytree(Path(maker.__file__).parents[1], copy)

    def files_of(package: str) -> Traversable:
        parent, _, name = package.rpartition(".")
        return copy / name if parent == "spanwise_server" else files(package)

    monkeypatch.setattr(maker, "files", files_of)
    assert maker.tree_maker() == before
    with (tmp_path / module).open("a") as file:
        file.write("# changed\n")
    assert maker.tree_maker() != before
