"""docs/reading-explain.md, which tells people what explain shows."""

from pathlib import Path

from spanwise._values import operation_name, quality_name
from spanwise.v1 import span_pb2
from tests.unit.client.spans import attempt, execution, node, operation, reason, tree

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


def _training() -> list[span_pb2.Span]:
    """Give a run that waited for a machine and an image, failed, and is tried again."""
    root = execution(0, None, "nightly")
    root.MergeFrom(span_pb2.Span(phase="PHASE_RUNNING"))
    n0, n2 = node(0, 60, root, "n0"), node(62, None, root, "n2")
    n0.name, n2.name = "prepare_data", "train_model"
    first, failed, again = attempt(1, 59, n0), attempt(64, 370, n2), attempt(380, None, n2, 1)
    failed.MergeFrom(span_pb2.Span(phase="PHASE_FAILED"))
    failed.reasons.extend(
        reason(seconds, "text") for seconds in (64, 65, 77, 195, 197, 286, 287, 369)
    )
    first_setup, setup = (
        operation(start_s, end_s, run, "TASK_SETUP")
        for start_s, end_s, run in ((1, 13, first), (64, 290, failed))
    )
    parts = (("SCHEDULING", 65, 77), ("SCALE_UP", 77, 195), ("IMAGE_PULL", 197, 286))
    return [
        *(root, n0, first, first_setup, operation(1, 13, first_setup, "IMAGE_PULL")),
        *(operation(13, 59, first, "TASK_RUNTIME"), n2, failed, setup),
        *(operation(start_s, end_s, setup, name) for name, start_s, end_s in parts),
        *(operation(290, 368, failed, "TASK_RUNTIME"), operation(370, 380, n2, "NODE_RESET")),
        *(again, operation(380, 390, again, "TASK_SETUP")),
        operation(390, None, again, "TASK_RUNTIME"),
    ]


def test_the_waterfall_of_the_page_is_what_is_drawn() -> None:
    """A picture that nobody draws would go stale."""
    picture = tree(_training(), as_of_s=560).waterfall_text(width=90)
    assert f"```text\n{picture}```\n" in _TEXT, picture
