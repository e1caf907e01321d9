"""Page tokens: they lead on in their own request, and are refused elsewhere."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise_server.domain.errors import InvalidPageToken
from spanwise_server.domain.events import MAX_TIME_NS, MIN_TIME_NS
from spanwise_server.service.page_tokens import decode_page_token, encode_page_token

cursors = st.lists(st.integers(MIN_TIME_NS, MAX_TIME_NS) | st.text(), max_size=3).map(tuple)


@given(cursor=cursors)
def test_token_gives_its_cursor_back(cursor: tuple[int | str, ...]) -> None:
    assert decode_page_token("a", encode_page_token("a", cursor)) == cursor


def test_token_of_another_request_is_refused() -> None:
    with pytest.raises(InvalidPageToken):
        decode_page_token("b", encode_page_token("a", (1,)))


@pytest.mark.parametrize("part", [MAX_TIME_NS + 1, MIN_TIME_NS - 1, 10**30, True, None, 1.5, [1]])
def test_cursor_that_cannot_be_stored_is_refused(part: object) -> None:
    fingerprint = json.loads(base64.urlsafe_b64decode(encode_page_token("a", ())))[0]
    token = base64.urlsafe_b64encode(json.dumps([fingerprint, part]).encode()).decode()
    with pytest.raises(InvalidPageToken):
        decode_page_token("a", token)


@given(token=st.text())
def test_any_text_is_a_token_or_refused(token: str) -> None:
    with pytest.raises(InvalidPageToken):
        decode_page_token("a", token)
