"""Numbers of reasons as labels below a bar."""

from hypothesis import given
from hypothesis import strategies as st

from spanwise._marks import clustered


def test_marks_far_apart_have_a_label_each() -> None:
    """Its bracket stands at the moment."""
    assert clustered([0, 5, 9], 20) == [(0, "[1]"), (5, "[2]"), (9, "[3]")]


def test_marks_that_fall_together_share_a_label() -> None:
    """A label that grows may meet the next one, which joins it."""
    assert clustered([0, 2, 8, 9, 14], 20) == [(0, "[1-2]"), (8, "[3-4]"), (14, "[5]")]
    assert clustered([0, 2, 4], 20) == [(0, "[1-3]")]


def test_a_label_at_the_right_edge_moves_left() -> None:
    """And joins the one that it meets there."""
    assert clustered([19], 20) == [(17, "[1]")]
    assert clustered([15, 19], 20) == [(15, "[1-2]")]
    assert clustered([10, 15, 19], 20) == [(10, "[1]"), (15, "[2-3]")]


@given(st.lists(st.integers(0, 79)), st.just(80))
def test_labels_tell_every_number_once_and_do_not_overlap(cells: list[int], width: int) -> None:
    """Whatever the order of the moments, which clocks may confuse."""
    marks = clustered(cells, width)
    told = [
        number
        for _, label in marks
        for first, _, last in [label.strip("[]").partition("-")]
        for number in range(int(first), int(last or first) + 1)
    ]
    assert told == list(range(1, len(cells) + 1))
    ends = [column + len(label) for column, label in marks]
    assert all(end <= width for end in ends)
    assert all(end <= column for end, (column, _) in zip(ends, marks[1:], strict=False))
