"""Page tokens: where a listing goes on, tied to the request that it belongs to."""

import base64
import binascii
import hashlib
import json

from spanwise_server.domain.errors import InvalidPageToken
from spanwise_server.domain.events import MAX_TIME_NS, MIN_TIME_NS

Cursor = tuple[int | str, ...]


def encode_page_token(request: object, cursor: Cursor) -> str:
    """Give a token for the page after `cursor`. `request` is what must stay the same, as text."""
    body = json.dumps([_fingerprint(request), *cursor], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(body).decode()


def decode_page_token(request: object, token: str) -> Cursor:
    """Give the cursor of a token that encode_page_token made for the same request.

    Raises:
        InvalidPageToken: It was not.
    """
    try:
        fingerprint, *cursor = json.loads(base64.urlsafe_b64decode(token.encode("ascii")))
    except (ValueError, TypeError, binascii.Error, RecursionError) as error:
        raise InvalidPageToken from error
    if fingerprint != _fingerprint(request) or not all(map(_can_be_stored, cursor)):
        raise InvalidPageToken
    return tuple(cursor)


def _can_be_stored(part: object) -> bool:
    if isinstance(part, int):
        return not isinstance(part, bool) and MIN_TIME_NS <= part <= MAX_TIME_NS
    return isinstance(part, str)


def _fingerprint(request: object) -> str:
    return hashlib.sha256(repr(request).encode("utf-8", "surrogatepass")).hexdigest()[:16]
