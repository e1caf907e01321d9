from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.span_paths import LONGEST_PATH, SpanPaths
from spanwise_server.domain.spans import Span
from tests.unit.domain.trees import execution, node


def nested(names: list[str]) -> tuple[Span, Span]:
    """Give an execution of nested nodes, and the innermost one."""
    innermost = inner = node(names[-1], 0, 1)
    for name in reversed(names[:-1]):
        inner = node(name, 0, 1, inner)
    return execution(0, 1, inner), innermost


@given(st.lists(st.integers(0, 3), min_size=1, max_size=700), st.integers(0, 1200))
def test_only_the_middle_of_a_long_path_is_left_out(lengths: list[int], longest: int) -> None:
    names = ["ab/%"[:length] for length in lengths]
    names.insert(len(names) // 2, "c" * longest)
    root, innermost = nested(names)
    paths = SpanPaths(root)
    path, short = paths.path(innermost), paths.short_path(innermost)
    if len(path) <= LONGEST_PATH:
        assert short == path
        return
    half = LONGEST_PATH // 2
    assert short == f"{path[:half]}…(+{len(path) - LONGEST_PATH} chars)…{path[-half:]}"
    assert LONGEST_PATH < len(short) < LONGEST_PATH + 50


def test_the_path_of_the_root_is_empty() -> None:
    root = execution(0, 1)
    assert SpanPaths(root).short_path(root) == ""
