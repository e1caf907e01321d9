"""Tests of the names that a request may ask for."""

import pytest

from spanwise_server.web.hosts import Hosts


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST.:8088",
        "page.localhost:1",
        "spanwise.example.com",
        "127.0.0.1",
        "127.0.0.1:8088",
        "[::1]",
        "[::1]:8088",
    ],
)
def test_names_that_are_listed_and_addresses_are_known_by_any_port(host: str) -> None:
    """A tunnel has a port of its own."""
    assert Hosts(["spanwise.example.com"]).knows(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example.com",
        "localhost.evil.example.com",
        "localhost:evil",
        "127.0.0.1.evil.example.com:80",
        "[::1]evil",
        "[::1]evil.localhost",
        "[::1].localhost:80",
        "[::1]:",
        "[::1]:80evil",
        "[::1]:\N{ARABIC-INDIC DIGIT EIGHT}",
        "[localhost",
        "[evil]:80",
        "]",
    ],
)
def test_anything_else_is_not_known(host: str) -> None:
    """What only begins like an address is the name of somebody else."""
    assert not Hosts(["spanwise.example.com"]).knows(host)
