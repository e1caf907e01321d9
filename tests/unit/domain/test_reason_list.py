from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.reason_list import list_marks
from tests.unit.domain.trees import attempt, execution, mark, node

TIMES = st.lists(st.integers(0, 3), max_size=6)


@given(first=TIMES, second=TIMES)
def test_reasons_are_in_the_order_of_time_and_of_one_moment_in_that_of_their_spans(
    first: list[int], second: list[int]
) -> None:
    marks = [
        [mark(at_ns, f"{number}.{place}") for place, at_ns in enumerate(sorted(times))]
        for number, times in enumerate([first, second])
    ]
    attempts = [attempt(number, 0, 9, marks=each) for number, each in enumerate(marks)]
    root = execution(0, 9, node("n0", 0, 9, attempts[0]), node("n1", 0, 9, attempts[1]))

    listed = list_marks(root)

    expected = [
        (each.occurred_at_ns, number, place, each, attempts[number])
        for number, of_one in enumerate(marks)
        for place, each in enumerate(of_one)
    ]
    expected.sort(key=lambda each: each[:3])
    assert [each.mark for each in listed] == [each[3] for each in expected]
    assert all(each.span is wanted[4] for each, wanted in zip(listed, expected, strict=True))


def test_a_search_finds_a_part_of_a_text_in_upper_or_lower_case() -> None:
    texts = ["Back-off pulling IMAGE", "unschedulable", "pulled image in 3s", "STRASSE"]
    marks = [mark(number, text) for number, text in enumerate(texts)]
    root = execution(0, 9, node("n0", 0, 9, attempt(0, 0, 9, marks=marks)))

    assert [each.mark.message for each in list_marks(root, "Image")] == [texts[0], texts[2]]
    assert [each.mark.message for each in list_marks(root, "straße")] == ["STRASSE"]
    assert list_marks(root, "nothing of the kind") == []
    assert len(list_marks(root, "")) == len(texts)


def test_only_what_is_below_a_span_is_listed() -> None:
    inner = node("n1", 0, 9, attempt(0, 0, 9, marks=[mark(1, "inner")]))
    outer = node("n0", 0, 9, attempt(0, 0, 9, marks=[mark(0, "outer")]))
    assert [each.mark.message for each in list_marks(inner)] == ["inner"]
    root = execution(0, 9, outer, inner)
    assert [each.mark.message for each in list_marks(root)] == ["outer", "inner"]
