"""Columns say what the spans say, byte for byte the same, also to readers in other languages."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanwise_server.domain.identifiers import EntityVersion
from spanwise_server.domain.node_kinds import NodeKind
from spanwise_server.domain.quality import SpanQuality
from spanwise_server.domain.spans import Operation, Span
from spanwise_server.service.kept_trees import BuiltTree, PartedTree, TreeBasis
from spanwise_server.web.columns import encode_columns
from tests.golden import REGENERATE, check_golden
from tests.unit.domain.trees import attempt, execution, mark, node, operation, random_tree
from tests.unit.web.column_trees import expected, parted, trees
from tests.unit.web.decoded import decode_columns, describe


def payload_of(tree: PartedTree, as_of_ns: int) -> bytes:
    return b"".join(encode_columns(tree, as_of_ns).pieces)


GOLDEN = Path(__file__).parents[2] / "data" / "columns"
AS_OF_NS = 2**62


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(trees(), st.integers(-(2**62), 2**62))
def test_columns_say_what_any_tree_says(root: Span, as_of_ns: int) -> None:
    payload = payload_of(parted(root), as_of_ns)
    assert describe(payload) == expected(root, as_of_ns)


@pytest.mark.parametrize("seed", range(100))
def test_the_critical_path_is_that_of_the_tree(seed: int) -> None:
    root = random_tree(random.Random(seed))
    described = describe(payload_of(parted(root), 150))
    assert described["segments"] == expected(root, 150)["segments"]
    assert [span["critical"] for span in described["spans"]] == [
        span["critical"] for span in expected(root, 150)["spans"]
    ]


def test_a_tree_in_several_parts_gives_the_columns_of_one() -> None:
    root = execution(0, 60, *(node(f"n{number}", number, 60) for number in range(50)))
    whole = parted(root)
    [part] = whole.parts(0)
    # Messages that stand side by side are one: a part may be cut between any two spans.
    ends = _span_ends(part.payload)
    cut = ends[20]
    parts = [
        part._replace(
            payload=part.payload[:cut], depths=part.depths[:21], descendants=part.descendants[:21]
        ),
        part._replace(
            payload=part.payload[cut:], depths=part.depths[21:], descendants=part.descendants[21:]
        ),
    ]
    several = BuiltTree(TreeBasis(frozenset(), {}), parts)
    assert encode_columns(several, 60) == encode_columns(whole, 60)


def test_a_column_takes_the_fewest_bytes() -> None:
    root = execution(1000, 1000 + 2**16, node("n0", 1000, 1000 + 2**16 - 2))
    places = decode_columns(payload_of(parted(root), 0)).header["columns"]
    assert {name: place["width"] for name, place in places.items()} == {
        "span_start": 0,
        "span_end": 3,
        "span_depth": 1,
        "span_name": 1,
        "span_form": 1,
        "span_id": 8,
        "span_reasons": 0,
        "span_critical": 2,
        "reason_at": 0,
        "reason_message": 0,
        "reason_form": 0,
        "segment_span": 1,
        "segment_start": 2,
        "segment_end": 3,
        "segment_approximate": 0,
        "string_end": 1,
        "strings": 1,
    }


def test_a_tree_of_ten_thousand_levels_has_columns() -> None:
    span = node("n", 0, 10)
    for _ in range(10_000):
        span = node("n", 0, 10, span)
    decoded = decode_columns(payload_of(parted(execution(0, 10, span)), 10))
    assert decoded.numbers("span_depth") == list(range(10_002))
    assert decoded.numbers("span_critical") == [0] * 10_001 + [10]


def test_columns_tell_when_an_open_span_will_have_been_silent_longest() -> None:
    heard = node("n0", 10, None)
    heard.last_heard_ns = 30
    stale = node("n1", 5, None, qualities=SpanQuality.STALE)
    ended = node("n2", 1, 2)
    way = operation(Operation.NODE_SETUP, 3, None)
    never = node("n3", 20, None)
    last = node("n4", 40, None)
    last.last_heard_ns = 50

    def silent_since_ns(*spans: Span) -> int | None:
        root = execution(0, None, *spans)
        root.last_heard_ns = 100
        return encode_columns(parted(root), 60).silent_since_ns

    assert silent_since_ns(heard, stale, ended, way, last) == 30
    assert silent_since_ns(heard, never, last) == 20
    assert silent_since_ns(stale) == 100
    assert encode_columns(parted(execution(0, 9, ended)), 60).silent_since_ns is None


@pytest.mark.parametrize("name", ["everything", "random", "open"])
def test_the_files_that_the_page_is_tested_with_are_what_is_written(name: str) -> None:
    root, as_of_ns = _GOLDEN_TREES[name]
    payload = payload_of(parted(root), as_of_ns)
    path = GOLDEN / f"{name}.bin"
    if REGENERATE:
        path.write_bytes(payload)
    assert path.read_bytes() == payload
    text = json.dumps(describe(payload), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    check_golden(GOLDEN / f"{name}.json", text)


def test_the_document_tells_of_every_field_and_every_column() -> None:
    text = (Path(__file__).parents[3] / "docs" / "columns.md").read_text()
    header_text, columns_text = text.split("## Header")[1].split("## Columns")
    header = decode_columns(payload_of(parted(execution(0, 1)), 1)).header
    assert _fields_told(header_text) == set(header)
    assert _fields_told(columns_text) == set(header["columns"])


def _fields_told(text: str) -> set[str]:
    """Give the names in code in the first cells of tables."""
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return {name for cell in cells for name in cell.replace("`", "").strip().split(", ")}


def _span_ends(payload: bytes) -> list[int]:
    ends, position = [], 0
    while position < len(payload):
        assert payload[position] == 0x0A
        assert payload[position + 1] < 0x80  # of one byte, as these spans are short
        position += 2 + payload[position + 1]
        ends.append(position)
    return ends


def _number(root: Span) -> Span:
    """Give the spans ids that are the same in every run."""
    spans = [root]
    for number, span in enumerate(spans):  # grows while it is walked
        span.span_id = -(2**62) + number * 0x1234567
        spans += span.children
    return root


def _everything() -> Span:
    start_ns = 1_767_225_600_123_456_789
    work = attempt(
        1,
        start_ns + 2_000,
        start_ns + 9_000_000_000_000_000,
        operation(Operation.TASK_SETUP, start_ns + 2_000, start_ns + 900_000),
        marks=[
            mark(start_ns + 2_000, "\ufeffWarten auf <b>Knoten</b>\n\0 🐍", Operation.SCHEDULING),
            mark(start_ns + 2_001, "x" * 301, occurrences=2**32 - 1),
            mark(start_ns + 2_001, "ä" * 300),
        ],
    )
    first = node("n0", start_ns, start_ns + 9_000_000_000_000_001, work)
    second = node(
        "n1",
        start_ns + 9_000_000_000_000_050,
        start_ns + 9_000_000_000_000_100,
        upstreams=["n0"],
        kind=NodeKind.GATE,
        qualities=SpanQuality.INFERRED_UPSTREAM | SpanQuality.CLOCK_SKEW,
    )
    way = operation(
        Operation.NODE_TRANSITION,
        start_ns + 9_000_000_000_000_001,
        start_ns + 9_000_000_000_000_050,
        to="n1",
    )
    inside = execution(start_ns - 5, start_ns + 10, name="child")
    launch = node("", start_ns, start_ns + 20, inside, kind=NodeKind.LAUNCH_PLAN)
    root = execution(
        start_ns, start_ns + 9_000_000_000_000_200, first, launch, way, second, name="süß/../%2e"
    )
    root.subject = root.subject._replace(  # type: ignore[call-arg]
        org="acme", workflow_id=EntityVersion("flytesnacks", "development", "wf", "v1")
    )
    return _number(root)


def _open() -> Span:
    root = execution(
        -50, None, node("n0", -50, 10), node("n1", 11, None, qualities=SpanQuality.STALE)
    )
    root.qualities = SpanQuality.STALE
    return _number(root)


_GOLDEN_TREES = {
    "everything": (_everything(), AS_OF_NS),
    "random": (_number(random_tree(random.Random(3))), 150),
    "open": (_open(), 70),
}
