"""docs/reading-explain.md, which tells people what explain shows."""

from pathlib import Path

from spanwise._values import operation_name, quality_name
from spanwise.v1 import span_pb2

_TEXT = (Path(__file__).parents[3] / "docs" / "reading-explain.md").read_text(encoding="utf-8")


def test_every_quality_is_explained() -> None:
    """As explain writes it."""
    names = [quality_name(number) for number in span_pb2.SpanQuality.values() if number]
    notes = [name.lower().replace("_", " ") for name in names]
    assert [note for note in notes if f"`{note}`" not in _TEXT] == []


def test_every_operation_is_explained() -> None:
    """Those of Flyte, and the parts of TASK_SETUP."""
    names = [operation_name(number) for number in span_pb2.Operation.values() if number]
    assert [name for name in names if f"`{name}`" not in _TEXT] == []
