"""Execution ids as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise import ExecutionId, InvalidRequest

_parts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/:"))
_names = _parts.filter(bool)


@given(_parts, _parts, _names)
def test_an_id_reads_back_as_it_was_written(project: str, domain: str, name: str) -> None:
    """What str gives, parse takes, whatever the parts hold."""
    execution_id = ExecutionId(project, domain, name)
    assert ExecutionId.parse(str(execution_id)) == execution_id
    assert ExecutionId.from_message(execution_id.to_message()) == execution_id


def test_slashes_after_the_second_belong_to_the_name() -> None:
    """A name from another orchestrator may hold slashes, and must stay reachable."""
    assert ExecutionId.parse("p/d/a/b") == ("p", "d", "a/b")


@pytest.mark.parametrize(
    "text", ["", "a1b2c3", "p/d", "p/d/", "//", "https://console/p/d/a1", "p/d/\udcff"]
)
def test_a_bad_id_is_named_and_the_form_is_told(text: str) -> None:
    """The message holds the text, harmless for a terminal, and what would be right."""
    with pytest.raises(InvalidRequest) as caught:
        ExecutionId.parse(text)
    assert ascii(text) in str(caught.value)
    assert "form project/domain/name" in str(caught.value) or "UTF-8" in str(caught.value)


@given(st.text())
def test_any_text_is_an_id_or_an_invalid_request(text: str) -> None:
    """No other error comes from a text, and the message is one line of printable ASCII."""
    try:
        ExecutionId.parse(text)
    except InvalidRequest as error:
        message = str(error)
    else:
        message = ""
    assert message.isascii()
    assert message.isprintable()
