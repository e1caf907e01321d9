"""Connections to PostgreSQL, and how values travel on them. Needs psycopg."""

import select
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from struct import Struct, pack
from typing import Any, TypeVar

import psycopg
from psycopg import pq
from psycopg.abc import Buffer, PQGen
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.generators import send
from psycopg.types.numeric import Int8BinaryDumper
from psycopg.types.string import BytesBinaryDumper, StrBinaryDumper

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.storage.sql.text_escapes import escape, needs_escape, unescape

T = TypeVar("T")


Settings = Mapping[str, str]

_CONNECT_DEFAULTS = {
    "application_name": "spanwise",
    "client_encoding": "utf8",
    # Seconds; for each address that the name of the host has.
    "connect_timeout": "5",
    # A machine that went away says nothing, and the system's own patience is two hours.
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",  # milliseconds
}
"""What a URL may say otherwise."""

_LOOKUP_SETTINGS: Settings = {
    # Every statement looks up keys or reads along an index. The server believes in that only while
    # its statistics are fresh, and reads whole tables otherwise, above all of a new database.
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    # One plan for all numbers of keys. Otherwise each list that is shorter than the guess of the
    # server is planned anew, which takes longer than to run it.
    "plan_cache_mode": "force_generic_plan",
    # Costs more than these statements, and the settings above make each look expensive.
    "jit": "off",
    # Milliseconds. Gives the locks of a process back that was stopped or whose machine went away.
    "idle_in_transaction_session_timeout": "60000",
}

WRITER_ANSWER_LIMIT_S = 25.0
WRITER_SETTINGS: Settings = {
    **_LOOKUP_SETTINGS,
    # Milliseconds. A batch holds its locks for few, so longer than this is a rebuild or a
    # migration; whoever sent an event waits for about 10 s.
    "lock_timeout": "10000",
    "statement_timeout": "20000",
}

READER_ANSWER_LIMIT_S = 65.0
READER_SETTINGS: Settings = {
    **_LOOKUP_SETTINGS,
    "lock_timeout": "10000",
    "statement_timeout": "60000",
    # A mistake in a reading statement must not write outside the one writer.
    "default_transaction_read_only": "on",
}

WATCH_ANSWER_LIMIT_S = 5.0
"""It asks for what the server has in memory, and holds up a storage that is being closed."""

WATCH_SETTINGS: Settings = {"default_transaction_read_only": "on"}

CITUS_SETTINGS: Settings = {
    # Citus finds the shards of a statement by its values, and refuses to plan most without them.
    "plan_cache_mode": "force_custom_plan",
    # One connection to each machine, and so one snapshot there for all that a transaction reads of
    # an execution, and no statement that misses what the one before has written.
    "citus.max_adaptive_executor_pool_size": "1",
    # In parallel, Citus would let nobody else write several shards of which one is the same until
    # the commit. Who writes the same execution is kept apart by the locks of spanwise.
    "citus.multi_shard_modify_mode": "sequential",
}
"""What is different with the extension Citus. Without it, the last two have no effect."""

MIGRATION_SETTINGS = {
    # While it waits for a table, everybody else who comes waits behind it.
    "lock_timeout": "5000",
    # Several changes of distributed tables in one transaction. Without Citus it has no effect.
    "citus.multi_shard_modify_mode": "sequential",
}


class PsycopgConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that gives up on a server that does not answer.

    Attributes:
        limit_s: How long the server may take for one answer; None: any time. The server has a
            shorter limit, which this one is for when it hangs.
    """

    limit_s: float | None = None

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Wait for what the server has to say. See psycopg."""
        return super().wait(gen, interval, self.limit_s if timeout is None else timeout)

    def send_all(self) -> None:
        """Send all of what was executed in a pipeline.

        psycopg sends as much as fits into the buffer of the socket, and then waits for an answer:
        for ever after a large statement.
        """
        if self.pgconn.flush():
            self.wait(send(self.pgconn))

    def is_stale(self) -> bool:
        """Say whether the server has closed the connection while it was not in use.

        A server says nothing on such a connection before it closes it, so what can be read from it
        is the end. Asks the system only, not the server.
        """
        if self.closed:
            return True
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        return bool(poll.poll(0))


def check_url(url: str) -> None:
    """Do nothing if a URL can be used to connect.

    Raises:
        ValueError: It cannot.
    """
    try:
        ports = str(conninfo_to_dict(url).get("port") or "0").split(",")
    except psycopg.ProgrammingError as exc:
        raise ValueError(_UNREADABLE) from exc
    # An unescaped / in a password ends up here as well.
    if not all(port.isdecimal() or not port for port in ports):
        raise ValueError(_UNREADABLE)


# The URL and the errors about it may hold a password, so they are not repeated.
_UNREADABLE = (
    "PostgreSQL cannot read it; the port is a number, after ? only its connection options may come,"
    " such as sslmode=require, and in a user or a password @ is written %40, / %2F and : %3A"
)


def connect(url: str, settings: Settings, limit_s: float | None) -> PsycopgConnection:
    """Give a new connection. Transactions begin where this package says BEGIN, nowhere else.

    Raises:
        StoreUnavailable: The server is not there, or refuses.
    """
    options: dict[str, Any] = {**_CONNECT_DEFAULTS, **conninfo_to_dict(url)}
    try:
        connection = PsycopgConnection.connect(
            **options, autocommit=True, context=_ADAPTERS, cursor_factory=_BinaryCursor
        )
    except psycopg.OperationalError as exc:
        # It has no code, and its text names the server and the user, but no password.
        raise StoreUnavailable(
            f"no connection to PostgreSQL: {' '.join(str(exc).split())}"
        ) from exc
    try:
        connection.limit_s = limit_s
        # Statements are prepared when they are first run: there are few, and they do not change.
        connection.prepare_threshold = 0
        connection.execute(
            "SELECT set_config(name, value, false)"
            " FROM unnest(%s::TEXT[], %s::TEXT[]) AS settings(name, value)",
            (tuple(settings), tuple(settings.values())),
        )
        # With it off, a power cut takes back events that were answered with OK. Other values than
        # on are a choice of how many copies are to have an event.
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', false)"
            " WHERE current_setting('synchronous_commit') = 'off'"
        )
    except BaseException:
        connection.close()
        raise
    return connection


class _BinaryCursor(psycopg.Cursor[tuple[Any, ...]]):
    def __init__(self, connection: Any, *, row_factory: Any = None) -> None:
        super().__init__(connection, row_factory=row_factory)
        self.format = pq.Format.BINARY


# Arrays in the form in which the server takes them. They are put together for a whole column at a
# time, which takes a fifth of the time of psycopg's own way, one element after the other.

_ARRAY_HEADER = Struct(">iiIii")  # dimensions, whether NULL occurs, type, length, first index
_LENGTH = Struct(">i")
_LENGTH_AND_INT8 = Struct(">iq")
_NULL = _LENGTH.pack(-1)
_BYTEA, _INT8, _TEXT = 17, 20, 25  # type numbers of the server's catalogue


def encode_column(values: Sequence[Any]) -> bytes:
    """Give an array of integers, of bytes or of texts, any of which may be None, but not all."""
    first = values[0]
    if first is None:
        first = next(value for value in values if value is not None)
    if isinstance(first, int):
        return _encode_array(_INT8, values, _encode_integers, _encode_integer)
    if isinstance(first, str):
        return _encode_array(_TEXT, values, _encode_texts, _encode_text)
    return _encode_array(_BYTEA, values, _encode_binaries, _encode_binary)


def _encode_array(
    type_number: int,
    values: Sequence[Any],
    encode_all: Callable[[Sequence[Any]], bytes],
    encode_one: Callable[[Any], bytes],
) -> bytes:
    has_null = None in values
    if has_null:
        body = b"".join([_NULL if value is None else encode_one(value) for value in values])
    else:
        body = encode_all(values)
    return _ARRAY_HEADER.pack(1, has_null, type_number, len(values), 1) + body


def _encode_integers(values: Sequence[int]) -> bytes:
    # Lengths of 0 first, and then the bytes of them that are 8. Half the time of giving the lengths
    # to pack() as well.
    body = bytearray(pack(f">{'4xq' * len(values)}", *values))
    body[3 :: _LENGTH_AND_INT8.size] = b"\x08" * len(values)
    return bytes(body)


def _encode_integer(value: int) -> bytes:
    return _LENGTH_AND_INT8.pack(8, value)


def _encode_binaries(values: Sequence[bytes]) -> bytes:
    lengths = map(_LENGTH.pack, map(len, values))
    return b"".join(chain.from_iterable(zip(lengths, values, strict=True)))


def _encode_binary(value: bytes) -> bytes:
    return _LENGTH.pack(len(value)) + value


def _encode_texts(values: Sequence[str]) -> bytes:
    if needs_escape("".join(values)):
        values = [escape(value) for value in values]
    return _encode_binaries([value.encode() for value in values])


def _encode_text(value: str) -> bytes:
    return _encode_binary(escape(value).encode())


def _has_value(values: Sequence[Any]) -> bool:
    # Nearly all columns begin with one, and a generator costs more than to look.
    return values[0] is not None or any(value is not None for value in values)


class _ColumnDumper(Dumper):
    """Sends a tuple as an array, whose type the text of the statement gives."""

    format = pq.Format.BINARY

    def get_key(self, obj: tuple[Any, ...], _format: Any) -> Any:
        return self.cls if _has_value(obj) else _NullsDumper

    def upgrade(self, obj: tuple[Any, ...], _format: Any) -> Dumper:
        return self if _has_value(obj) else _NullsDumper(self.cls)

    def dump(self, obj: tuple[Any, ...]) -> Buffer:
        return encode_column(obj)


class _NullsDumper(Dumper):
    """Sends a tuple of None. In binary form the type of the elements would have to be known."""

    def dump(self, obj: tuple[None, ...]) -> Buffer:
        return b"{" + b",".join([b"NULL"] * len(obj)) + b"}"


class _EscapingDumper(StrBinaryDumper):
    def dump(self, obj: str) -> Buffer:
        return escape(obj).encode()


class _UnescapingLoader(Loader):
    format = pq.Format.BINARY

    def load(self, data: Buffer) -> str:
        return unescape(str(data, "utf-8"))


class _Adapters:
    """How values travel, for connections that share it."""

    def __init__(self) -> None:
        self.adapters = AdaptersMap(psycopg.adapters)
        # One type for each kind of value, so that a statement need be prepared only once.
        self.adapters.register_dumper(int, Int8BinaryDumper)
        self.adapters.register_dumper(str, _EscapingDumper)
        self.adapters.register_dumper(bytearray, BytesBinaryDumper)
        self.adapters.register_dumper(tuple, _ColumnDumper)
        self.adapters.register_loader("text", _UnescapingLoader)
        self.connection = None


_ADAPTERS = _Adapters()
