"""Running the revisions."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, event

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.storage.sql.dialect import (
    Database,
    begin_migration,
    database_of,
    is_migrated_by_servers,
)
from spanwise_server.storage.sql.distribution import (
    check_citus,
    distribute_tables,
    layout_of,
    partition_tables,
)
from spanwise_server.storage.sql.engine import create_migration_engine, create_reader_engine
from spanwise_server.storage.sql.errors import DRIVER_ERRORS, translate
from spanwise_server.storage.sql.retrying import retry_conflicts

T = TypeVar("T")

_GIVE_UP_AFTER_S = 60.0
"""How long to wait for another process that migrates or writes."""


def upgrade(url: str) -> None:
    """Bring a database to the tables of this version; create it if its file is missing.

    Idempotent and atomic. Processes that do it at once take turns, and the later ones find nothing
    left to do. Writers wait meanwhile, and fail when it takes longer than they have patience.

    Raises:
        ValueError: The URL cannot be used.
        StoreUnavailable: The database cannot be written, or has tables of a later version.
        WriteConflict: Others kept the database busy.
    """
    in_migration(url, lambda connection: command.upgrade(_config(connection), "head"))


def downgrade(url: str, revision: str) -> None:
    """Take a database back to the tables of an earlier revision; "base" removes all of them.

    Atomic. What the tables of that revision cannot hold is lost.

    Raises:
        ValueError: The URL cannot be used.
        StoreUnavailable: The database cannot be written, or has tables of a later version.
        WriteConflict: Others kept the database busy.
    """
    in_migration(url, lambda connection: command.downgrade(_config(connection), revision))


def verify(url: str) -> None:
    """Do nothing if a database has the tables of this version.

    Raises:
        ValueError: The URL cannot be used.
        StoreUnavailable: It has not, or cannot be read. The text says what to do.
    """
    engine = create_reader_engine(url)
    try:
        with _translated_errors(), engine.connect() as connection:
            current = _current_revision(connection)
            layout = layout_of(connection, database_of(url))
    finally:
        engine.dispose()
    _refuse_later_version(current)
    head = _scripts().get_current_head()
    if current != head:
        raise StoreUnavailable(
            f"the database has the tables of revision {current or 'none'}, and this version of"
            f" spanwise needs {head}: run `spanwise migrate`"
        )
    layout.check(database_of(url))


def prepare(url: str) -> None:
    """Make sure that a server finds the tables of this version in a database.

    Does what upgrade() does for SQLite, and what verify() does for PostgreSQL.

    Raises:
        ValueError: The URL cannot be used.
        StoreUnavailable: The database cannot be used as it is. The text says what to do.
        WriteConflict: Others kept the database busy.
    """
    if is_migrated_by_servers(database_of(url)):
        upgrade(url)
    else:
        verify(url)


def distribute(url: str) -> list[str]:
    """Bring a database to the tables of this version, and let Citus distribute them.

    Idempotent. Nothing is changed where it cannot be done.

    Returns:
        The tables that were not distributed before.

    Raises:
        ValueError: The URL cannot be used, or is not one of PostgreSQL.
        StoreUnavailable: It cannot be done. The text says what to do.
        WriteConflict: Others kept the database busy.
    """
    if database_of(url) is Database.SQLITE:
        raise ValueError("only tables of PostgreSQL can be distributed")
    in_migration(url, check_citus)
    upgrade(url)
    return in_migration(url, distribute_tables)


def partition(url: str, num_partitions: int) -> bool:
    """Bring a database to the tables of this version, and part the large ones, which are empty.

    Idempotent.

    Returns:
        Whether that was still to be done.

    Raises:
        ValueError: The URL cannot be used, or is not one of PostgreSQL without Citus.
        StoreUnavailable: It cannot be done. The text says what to do.
        WriteConflict: Others kept the database busy.
    """
    if database_of(url) is not Database.POSTGRESQL:
        raise ValueError("only tables of PostgreSQL without Citus can be partitioned")
    upgrade(url)
    return in_migration(url, lambda connection: partition_tables(connection, num_partitions))


def in_migration(url: str, work: Callable[[Connection], T]) -> T:
    """Give what `work` gives in a transaction that keeps other writers and migrations out.

    It is called again after a conflict.

    Raises:
        ValueError: The URL cannot be used.
        StoreUnavailable: The database cannot be written, or has tables of a later version.
        WriteConflict: Others kept the database busy.
    """
    database = database_of(url)
    engine = create_migration_engine(url)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        for text in begin_migration(database):
            connection.exec_driver_sql(text)

    def once() -> T:
        with _translated_errors(), engine.begin() as connection:
            _refuse_encoding(connection, database)
            _refuse_later_version(_current_revision(connection))
            return work(connection)

    try:
        return retry_conflicts(once, give_up_after_s=_GIVE_UP_AFTER_S)
    finally:
        engine.dispose()


def _refuse_encoding(connection: Connection, database: Database) -> None:
    if database is Database.SQLITE:
        return
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        raise StoreUnavailable(
            f"the database has the encoding {encoding}, which cannot hold every text: create one"
            " with UTF8, for instance `createdb --encoding UTF8 --template template0 spanwise`"
        )


def _refuse_later_version(current: str | None) -> None:
    known = {script.revision for script in _scripts().walk_revisions()}
    if current is not None and current not in known:
        raise StoreUnavailable(
            f"the database has the tables of revision {current}, of a later version of spanwise:"
            " install that version"
        )


def _current_revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.attributes["connection"] = connection
    location = str(Path(__file__).parent)
    config.set_main_option("script_location", location.replace("%", "%%"))
    return config


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except DRIVER_ERRORS as exc:
        raise translate(exc) from exc
