"""How the tables are spread: over the machines of Citus, or over partitions of PostgreSQL.

Both go by the execution: all rows of one are on one machine, or in one partition of each table.
"""

from collections.abc import Set as AbstractSet
from typing import NamedTuple

from sqlalchemy import Connection, MetaData, Table
from sqlalchemy.exc import DBAPIError

from spanwise_server.domain.errors import StoreUnavailable
from spanwise_server.storage.sql.dialect import Database
from spanwise_server.storage.sql.schema import (
    EVENTS,
    KEPT_CHUNKS,
    METADATA,
    NODE_EXECUTIONS,
    REASONS,
    TASK_EXECUTIONS,
)

EXECUTION_KEY = EVENTS.c.execution_key.name

PARTITIONED = (EVENTS, REASONS, NODE_EXECUTIONS, TASK_EXECUTIONS, KEPT_CHUNKS)
"""The tables that grow with events. Of the others, executions are listed across all of them."""


def distribution_column(table: Table) -> str:
    """Give the column whose value says where a row is: the first one of the primary key."""
    return str(next(iter(table.primary_key)).name)


class Layout(NamedTuple):
    """How the tables of a database are spread.

    Attributes:
        distributed: Names of the tables that Citus has distributed.
        partitions: Numbers of partitions by the names of partitioned tables.
    """

    distributed: AbstractSet[str]
    partitions: dict[str, int]

    def check(self, database: Database) -> None:
        """Do nothing if the statements for a kind of database suit these tables.

        Raises:
            StoreUnavailable: They do not. The text says what to do.
        """
        ours = METADATA.tables.keys()
        if database is not Database.CITUS and ours & self.distributed:
            raise StoreUnavailable(
                "the tables are distributed, which needs other statements: write citus:// in place"
                " of postgresql:// in the database URL"
            )
        if database is Database.CITUS and (missing := sorted(ours - self.distributed)):
            raise StoreUnavailable(
                f"Citus has not distributed {', '.join(missing)}: run `spanwise migrate"
                " --distribute`, or write postgresql:// in the database URL if it is not to"
            )


def layout_of(connection: Connection, database: Database) -> Layout:
    """Read how the tables of a database are spread."""
    if database is Database.SQLITE:
        return Layout(set(), {})
    distributed: set[str] = set()
    if connection.exec_driver_sql("SELECT to_regclass('pg_dist_partition')::text").scalar():
        shards = (
            "SELECT relname FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid"
        )
        distributed.update(connection.exec_driver_sql(shards).scalars())
    partitions = connection.exec_driver_sql(
        "SELECT relname, (SELECT count(*) FROM pg_inherits WHERE inhparent = partrelid)"
        " FROM pg_partitioned_table JOIN pg_class ON pg_class.oid = partrelid"
        " WHERE pg_table_is_visible(partrelid)"
    )
    return Layout(distributed, {row[0]: row[1] for row in partitions})


def check_citus(connection: Connection) -> None:
    """Do nothing if distribute_tables() can be done on the server.

    Raises:
        StoreUnavailable: It cannot. The text says what to do.
    """
    if not connection.exec_driver_sql(
        "SELECT 1 FROM pg_available_extensions WHERE name = 'citus'"
    ).scalar():
        raise StoreUnavailable(
            "this PostgreSQL has not the extension citus, so nothing was changed: install it on"
            " every machine, put citus first into shared_preload_libraries, restart, and add the"
            " workers with citus_add_node(); or go on without --distribute"
        )
    if layout_of(connection, Database.CITUS).partitions.keys() & METADATA.tables.keys():
        raise StoreUnavailable(
            "the tables are partitioned, and the shards of Citus would take the place of that, so"
            f" nothing was changed: {_MOVE.format('--distribute')}"
        )


def distribute_tables(connection: Connection) -> list[str]:
    """Distribute the tables that are not yet, and give their names.

    What is in them is moved, while writers wait.

    Raises:
        StoreUnavailable: Citus refused. The text says why.
    """
    try:
        connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS citus")
        done = layout_of(connection, Database.CITUS).distributed
        missing = [table for table in METADATA.tables.values() if table.name not in done]
        for table in missing:
            connection.exec_driver_sql(distribution_statement(table))
    except DBAPIError as exc:
        # Texts of Citus name settings, tables and machines, which whoever runs this has to know.
        diagnosis = getattr(exc.orig, "diag", None)
        reason = getattr(diagnosis, "message_primary", None)
        if reason is None:  # the connection broke
            raise
        raise StoreUnavailable(f"Citus could not distribute the tables: {reason}") from exc
    return [table.name for table in missing]


def distribution_statement(table: Table) -> str:
    """Give the statement that distributes a table.

    Tables of executions have their shards where those of `events`, the first of them, are.
    """
    column = distribution_column(table)
    is_first = table is EVENTS or column != EXECUTION_KEY
    beside = "none" if is_first else EVENTS.name
    return (
        f"SELECT create_distributed_table('{table.name}', '{column}', colocate_with => '{beside}')"
    )


def partition_tables(connection: Connection, num_partitions: int) -> bool:
    """Part each of PARTITIONED into a number of partitions by a hash of the execution.

    Returns:
        Whether that was still to be done.

    Raises:
        StoreUnavailable: They have another number of partitions, or rows. The text says what to do.
    """
    layout = layout_of(connection, Database.POSTGRESQL)
    if layout.distributed:
        raise StoreUnavailable("the tables are distributed, and Citus parts them into shards")
    numbers = {layout.partitions.get(table.name) for table in PARTITIONED}
    if numbers == {num_partitions}:
        return False
    names = ", ".join(table.name for table in PARTITIONED)
    connection.exec_driver_sql(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
    full = [table.name for table in PARTITIONED if _has_rows(connection, table)]
    if full or numbers != {None}:
        what = f"hold rows: {', '.join(full)}" if full else "are partitioned in another way"
        raise StoreUnavailable(
            f"only new tables can be partitioned, and these {what}."
            f" {_MOVE.format(f'--partitions {num_partitions}')}"
        )
    for table in PARTITIONED:
        connection.exec_driver_sql(f"DROP TABLE {table.name}")
        _create_partitioned(connection, table, num_partitions)
    return True


_MOVE = (
    "Make a new database with `spanwise migrate {}`, and take the events there with `spanwise"
    " export` and `spanwise import`"
)


def _has_rows(connection: Connection, table: Table) -> bool:
    found = connection.exec_driver_sql(f"SELECT EXISTS (SELECT FROM {table.name})")  # noqa: S608 - a constant
    return bool(found.scalar())


def _create_partitioned(connection: Connection, table: Table, num_partitions: int) -> None:
    parent = table.to_metadata(MetaData())
    options = parent.dialect_options["postgresql"]
    # The parent has no rows, and PostgreSQL takes no storage settings for it.
    storage = ", ".join(f"{name} = {value}" for name, value in (options["with"] or {}).items())
    options["with"] = None
    options["partition_by"] = f"HASH ({EXECUTION_KEY})"
    parent.create(connection)
    for number in range(num_partitions):
        connection.exec_driver_sql(
            f"CREATE TABLE {table.name}_p{number} PARTITION OF {table.name}"
            f" FOR VALUES WITH (MODULUS {num_partitions}, REMAINDER {number})"
            + (f" WITH ({storage})" if storage else "")
        )
