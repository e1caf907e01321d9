"""The tables as text, for people to read and for reviews of changes: ddl/*.sql."""

from itertools import chain
from pathlib import Path

from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement

from spanwise_server.storage.sql.dialect import Database, compiler
from spanwise_server.storage.sql.distribution import distribution_statement
from spanwise_server.storage.sql.schema import METADATA


def snapshot_path(database: Database) -> Path:
    """Give the file that keeps the statements for a database."""
    return Path(__file__).parent / "ddl" / f"{database.value}.sql"


def render_ddl(database: Database) -> str:
    """Give the statements that create the tables, in the order of their declaration.

    For Citus with those that distribute them.
    """
    elements: list[ExecutableDDLElement] = []
    for table in METADATA.tables.values():
        elements.append(CreateTable(table))
        elements += map(CreateIndex, sorted(table.indexes, key=lambda index: str(index.name)))
    dialect = compiler(database)
    statements = (str(element.compile(dialect=dialect)).strip() for element in elements)
    distribution = (
        map(distribution_statement, METADATA.tables.values()) if database is Database.CITUS else ()
    )
    lines = (
        line.rstrip()
        for statement in chain(statements, distribution)
        for line in f"{statement};".split("\n")
    )
    return "\n".join(lines) + "\n"
