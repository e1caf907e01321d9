"""What every answer is made of: its headers, and the form of errors."""

import json

from starlette.responses import Response

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
        " connect-src 'self'; worker-src 'self'; font-src 'self'; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script';"
        " trusted-types spanwise"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Of every answer: nothing but what this server itself gives runs in the page or is read by it, and
no page from elsewhere frames it or takes anything from it."""

JSON = "application/json"

STATUSES = {
    "INVALID_ARGUMENT": 400,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "FAILED_PRECONDITION": 409,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
    "DATA_LOSS": 500,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
}
"""HTTP status by name of the code, as google/rpc/code.proto maps them; for DATA_LOSS as well."""

RETRY_AFTER_S = 1


def failed(code: str, message: str, *, status: int | None = None) -> Response:
    """Give the answer to a request that cannot be answered otherwise.

    Args:
        code: Name of a gRPC status code.
        message: What was wrong, with which value, and what to do.
        status: HTTP status, where it says more than that of the code.
    """
    body = json.dumps({"error": {"code": code, "message": message}}, ensure_ascii=False)
    status = status or STATUSES[code]
    headers = {"cache-control": "no-store"}
    if code == "UNAVAILABLE":
        headers["retry-after"] = str(RETRY_AFTER_S)
    # The surrogates of undecodable bytes have no place in UTF-8.
    return Response(body.encode("utf-8", "replace"), status, headers, JSON)
