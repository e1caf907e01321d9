"""What a client says that it takes, and that it has already."""

from starlette.datastructures import Headers


def takes_gzip(headers: Headers) -> bool:
    """Tell whether an answer may be sent with gzip."""
    for coding in headers.get("accept-encoding", "").split(","):
        name, _, quality = coding.replace(" ", "").partition(";")
        if name.lower() in ("gzip", "*"):
            return quality.rstrip("0").rstrip(".") != "q="
    return False


def has_etag(headers: Headers, etag: str) -> bool:
    """Tell whether the client has what an ETag stands for already.

    Whether the tag says that it is a weak one does not matter for reading (RFC 9110, 13.1.2).
    """
    known = [each.strip() for each in headers.get("if-none-match", "").split(",")]
    return known == ["*"] or etag.removeprefix("W/") in (each.removeprefix("W/") for each in known)
