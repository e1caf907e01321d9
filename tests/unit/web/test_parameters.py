"""Parameters of addresses."""

from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given
from hypothesis import strategies as st

from spanwise.v1.phase_pb2 import PHASE_FAILED, PHASE_RUNNING
from spanwise.v1.span_service_pb2 import ListExecutionsRequest
from spanwise_server.domain.errors import InvalidQuery
from spanwise_server.web.endpoints import ENDPOINTS, METHODS, Endpoint
from spanwise_server.web.parameters import decode_segment, fill_request, read_parameters

BY_METHOD = {endpoint.method: endpoint for endpoint in ENDPOINTS}


def read(method: str, query: str | bytes) -> Any:
    """Read a query string into the request of a call."""
    endpoint = BY_METHOD[method]
    request = GetMessageClass(METHODS[method].input_type)()
    raw = query if isinstance(query, bytes) else query.encode()
    fill_request(request, read_parameters(raw, endpoint.parameters), endpoint.parameters)
    return request


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_every_parameter_sets_a_field_that_the_request_has(endpoint: Endpoint) -> None:
    """So that a row of the table cannot name another."""
    for path in endpoint.parameters.values():
        descriptor: Any = METHODS[endpoint.method].input_type
        *outer, last = path.split(".")
        for part in outer:
            descriptor = descriptor.fields_by_name[part].message_type
        assert last in descriptor.fields_by_name


def test_parameters_of_a_list() -> None:
    """Of each kind."""
    request = read(
        "ListExecutions",
        "project=a%2Fb&domain=&phase=running&phase=PHASE_FAILED&page_size=5"
        "&started_after=2023-11-14T22:13:20.000000001Z&started_before=2023-11-14T23:13:20%2B01:00"
        "&search=caf%C3%A9+au&slower_than_usual=true",
    )
    expected = ListExecutionsRequest(
        project="a/b",
        phases=[PHASE_RUNNING, PHASE_FAILED],
        page_size=5,
        search="café au",
        slower_than_usual=True,
    )
    expected.started_after.FromNanoseconds(1_700_000_000_000_000_001)
    expected.started_before.FromNanoseconds(1_700_000_000_000_000_000)
    assert request == expected


def test_parameters_of_a_part_of_a_tree() -> None:
    """They stand in a message of their own; a depth of 0 is one."""
    request = read("GetExecutionSpan", "depth=0&root_span_id=00ff0102030405AA&include_totals=1")
    assert request.selection.HasField("depth")
    assert request.selection.depth == 0
    assert request.selection.root_span_id == bytes.fromhex("00ff0102030405aa")
    assert request.include_totals
    assert not read("GetExecutionSpan", "").HasField("selection")


def test_an_execution_to_compare_with() -> None:
    """Slashes inside of a part are encoded once more."""
    value = "/".join(quote(part, safe="") for part in ("p/q", "d e", "ä"))
    other = read("CompareExecutions", urlencode({"with": value})).base_execution_id
    assert (other.project, other.domain, other.name) == ("p/q", "d e", "ä")


@pytest.mark.parametrize(
    ("method", "query", "field", "part"),
    [
        ("ListExecutions", "page_size=many", "page_size", "'many'; write a whole number"),
        ("ListExecutions", "page_size=1.5", "page_size", "'1.5'"),
        ("ListExecutions", "page_size=2147483648", "page_size", "up to 2147483647"),
        ("ListExecutions", f"page_size={'9' * 5000}", "page_size", "999…"),
        ("ListExecutions", "page_size=%D9%A3", "page_size", "whole number"),  # a digit elsewhere
        ("ListExecutions", "page_size=1&page_size=2", "page_size", "more than once"),
        ("ListExecutions", "phase=DONE", "phase", "'DONE'; write one of QUEUED,"),
        ("ListExecutions", "phase=UNSPECIFIED", "phase", "write one of QUEUED"),
        ("ListExecutions", "started_after=yesterday", "started_after", "'yesterday'"),
        ("ListExecutions", "started_after=2023-01-01", "started_after", "RFC 3339"),
        ("ListExecutions", "started_after=2023-01-01T00:00:00+01:00", "started_after", "RFC 3339"),
        ("ListExecutions", "slower_than_usual=yes", "slower_than_usual", "true or false"),
        ("ListExecutions", "colour=red", "colour", "is no parameter here; there are project,"),
        ("ListExecutions", "project=%ff", "query", "UTF-8"),
        ("ListExecutions", b"project=\xff", "query", "UTF-8"),
        ("ListExecutions", "&".join(["phase=RUNNING"] * 101), "query", "up to 100"),
        ("GetExecutionSpan", "depth=-1", "depth", "'-1'; write a whole number from 0"),
        ("GetExecutionSpan", "root_span_id=xyz", "root_span_id", "hexadecimal"),
        ("GetExecutionSpan", "root_span_id=abc", "root_span_id", "two for each byte"),
        ("CompareExecutions", "with=x", "with", "'x'; write PROJECT/DOMAIN/NAME"),
        ("CompareExecutions", "with=a/b/c/d", "with", "PROJECT/DOMAIN/NAME"),
    ],
)
def test_a_parameter_that_cannot_be_read_is_named_with_its_value(
    method: str, query: str | bytes, field: str, part: str
) -> None:
    """And with what may stand there, however long it is."""
    with pytest.raises(InvalidQuery) as caught:
        read(method, query)
    assert caught.value.field == field
    assert part in caught.value.reason
    assert len(str(caught.value)) < 500


@given(
    st.sampled_from(sorted(BY_METHOD)),
    st.one_of(
        st.binary(max_size=200),
        st.lists(
            st.tuples(st.sampled_from(sorted(BY_METHOD["ListExecutions"].parameters)), st.text())
        ).map(lambda pairs: urlencode(pairs).encode()),
    ),
)
def test_a_query_is_read_or_refused(method: str, query: bytes) -> None:
    """Nothing else comes of it, whatever it is."""
    with suppress(InvalidQuery):
        read(method, query)


@given(st.text())
def test_a_part_of_a_path_may_be_any_text(text: str) -> None:
    """Percent-encoded."""
    try:
        encoded = quote(text, safe="")
    except UnicodeEncodeError:  # a lone surrogate, which no UTF-8 has
        return
    assert decode_segment(encoded.encode()) == text


def test_a_part_of_a_path_that_is_no_text_is_refused() -> None:
    """With what was sent."""
    with pytest.raises(InvalidQuery, match="'%ff' is not UTF-8"):
        decode_segment(b"%ff")
