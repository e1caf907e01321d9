"""The page over HTTP: who is answered, with which headers, and what is refused."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.e2e.cli_process import run
from tests.e2e.harness import ServerProcess, running_server
from tests.e2e.http_client import error_of

CSP = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "worker-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types spanwise",
}


@pytest.fixture
def client(server: ServerProcess) -> Iterator[httpx.Client]:
    """Give a client of the page."""
    with httpx.Client(base_url=server.page) as client:
        yield client


@contextmanager
def connection(server: ServerProcess) -> Iterator[socket.socket]:
    """Open a connection to write to by hand."""
    address = urlsplit(server.page)
    with socket.create_connection((address.hostname, address.port or 0), timeout=60) as opened:
        yield opened


def exchange(server: ServerProcess, sent: bytes) -> bytes:
    """Send bytes, and give all that comes until the server closes."""
    with connection(server) as opened:
        opened.sendall(sent)
        received = b""
        while part := opened.recv(65536):
            received += part
        return received


def test_the_page_is_served_and_names_files_that_are_kept_for_ever(client: httpx.Client) -> None:
    """The page itself is asked for each time; what its name tells the content of is not."""
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-cache"
    names = re.findall(r'(?:src|href)="\./(assets/[^"]+)"', page.text)
    assert names
    for name in names:
        asset = client.get(f"/{name}")
        assert asset.status_code == 200
        assert "immutable" in asset.headers["cache-control"]
        assert asset.headers["content-encoding"] == "gzip"
        plain = client.get(f"/{name}", headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.content == asset.content


@pytest.mark.parametrize("path", ["/", "/healthz", "/nothing"])
def test_every_answer_says_what_a_page_may_do(client: httpx.Client, path: str) -> None:
    """Also where there is nothing, and never that another page may read it."""
    answer = client.get(path, headers={"origin": "http://elsewhere.example"})
    assert set(answer.headers["content-security-policy"].split("; ")) == CSP
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert "server" not in answer.headers


def test_head_gives_the_headers_of_get(client: httpx.Client) -> None:
    """Without a body."""
    got, head = client.get("/"), client.head("/")
    assert head.content == b""
    for name in ("content-length", "etag", "content-type", "cache-control"):
        assert head.headers[name] == got.headers[name]


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', "*"])
def test_what_a_client_has_is_not_sent_again(client: httpx.Client, form: str) -> None:
    """In each form in which it may say so."""
    etag = client.get("/").headers["etag"]
    again = client.get("/", headers={"if-none-match": form.format(etag)})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    assert client.get("/", headers={"if-none-match": '"other"'}).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"])
def test_nothing_but_reading_is_served(client: httpx.Client, method: str) -> None:
    """The answer names what is."""
    answer = client.request(method, "/", content=b"x" * 100_000)
    assert error_of(answer)[:2] == (405, "UNIMPLEMENTED")
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "path",
    [
        "/../config.py",
        "/assets/../../__init__.py",
        "/..%2f..%2fconfig.py",
        "/%2e%2e/%2e%2e/config.py",
        "/assets/%2e%2e%2f%2e%2e%2f__init__.py",
        "//etc/passwd",
        "/assets//etc/passwd",
        "/assets",
        "/assets/",
        "/..\\config.py",
        "/%00",
        "/%ff",
        "/index.html/",
        "*",
    ],
)
def test_no_path_leads_out_of_the_page(server: ServerProcess, path: str) -> None:
    """However it is written."""
    request = f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    assert exchange(server, request.encode()).startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8088",
        "localhost.:80",
        "spanwise.localhost",
        "127.0.0.1",
        "127.0.0.1:1",
        "[::1]:8088",
        "192.0.2.7:8088",
        "page.example.com",
        "Page.Example.com:443",
    ],
)
def test_a_host_that_is_this_one_is_answered(named: ServerProcess, host: str) -> None:
    """By any port: a tunnel has one of its own."""
    assert httpx.get(named.page, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "example.com", "127.0.0.1.evil.example", "", "a b"],
)
def test_a_name_that_others_may_point_here_is_refused(named: ServerProcess, host: str) -> None:
    """As it is the only sign of a page from elsewhere; the answer names the setting."""
    answer = httpx.get(f"{named.page}healthz", headers={"host": host})
    status, code, message = error_of(answer)
    assert (status, code) == (403, "PERMISSION_DENIED")
    assert "http_hosts" in message


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Give a server that is reached by another name as well."""
    database = tmp_path_factory.mktemp("named") / "spanwise.db"
    with running_server(database, "--http-hosts", "page.example.com, other.example") as server:
        yield server


def test_requests_that_are_none_are_refused(server: ServerProcess) -> None:
    """And the connection is closed; nothing of it reaches the log."""
    before = server.said()
    assert exchange(server, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    long = b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    assert exchange(server, long).startswith(b"HTTP/1.1 414 ")
    too_long = b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 100_000 + b"\r\n\r\n"
    with pytest.raises(ConnectionError):  # closed before all of it was read
        exchange(server, too_long * 100)
    with_body = b"GET / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n\r\nabc"
    assert exchange(server, with_body).startswith(b"HTTP/1.1 413 ")
    assert server.said() == before


def test_health_is_told(client: httpx.Client) -> None:
    """To whoever asks over HTTP."""
    answer = client.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "SERVING\n")


def test_the_page_is_served_beside_envoy(tmp_path: Path) -> None:
    """On its own port, and as long as Envoy serves."""
    with running_server(tmp_path / "spanwise.db", "--front", "envoy") as server:
        assert httpx.get(server.page).status_code == 200
        assert httpx.get(f"{server.page}api/v1/executions").json() == {}
        assert server.stop() == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(server.page)
        assert "Traceback" not in server.said()


@pytest.mark.parametrize("value", ["none", ""])
def test_a_server_without_a_page_says_nothing_of_one(tmp_path: Path, value: str) -> None:
    """It takes events all the same."""
    with running_server(tmp_path / "spanwise.db", "--http-address", value) as server:
        assert server.page == ""


def test_an_address_that_is_taken_is_told(server: ServerProcess, tmp_path: Path) -> None:
    """Before anything is taken, and with the flag that names another one."""
    taken = server.page.removeprefix("http://").rstrip("/")
    url = f"sqlite:///{tmp_path}/other.db"
    for workers in ("1", "2"):
        flags = ("--grpc-address", "127.0.0.1:0", "--workers", workers, "--database-url", url)
        done = run("serve", *flags, "--http-address", taken)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert "in use; --http-address HOST:PORT" in done.stderr


@pytest.mark.parametrize(
    ("flag", "value", "part"),
    [
        ("--http-address", "8088", "or none, to serve no page"),
        ("--http-hosts", "http://page.example.com/", "names without port"),
    ],
)
def test_a_setting_that_is_none_is_told(flag: str, value: str, part: str) -> None:
    """With what it should be."""
    done = run("serve", flag, value)
    assert (done.returncode, part in done.stderr) == (2, True), done.stderr


def test_a_stopped_server_closes_its_page(tmp_path: Path) -> None:
    """Also while clients keep their connections, and say nothing on them."""
    with running_server(tmp_path / "spanwise.db", "--graceful-stop-s", "60") as server:
        address = urlsplit(server.page)
        with connection(server), httpx.Client(base_url=server.page) as client:
            assert client.get("/healthz").status_code == 200
            assert server.stop() == 0
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind((address.hostname, address.port))
        assert "Traceback" not in server.said()
