"""The tables as text, for people to read and for reviews of changes: ddl/*.sql."""

from pathlib import Path

from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement

from spanwise_server.storage.sql.dialect import Database, compiler
from spanwise_server.storage.sql.schema import METADATA


def snapshot_path(database: Database) -> Path:
    """Give the file that keeps the statements for a database."""
    return Path(__file__).parent / "ddl" / f"{database.value}.sql"


def render_ddl(database: Database) -> str:
    """Give the statements that create the tables, in the order of their declaration."""
    elements: list[ExecutableDDLElement] = []
    for table in METADATA.tables.values():
        elements.append(CreateTable(table))
        elements += map(CreateIndex, sorted(table.indexes, key=lambda index: str(index.name)))
    dialect = compiler(database)
    statements = (str(element.compile(dialect=dialect)).strip() for element in elements)
    lines = (line.rstrip() for statement in statements for line in f"{statement};".split("\n"))
    return "\n".join(lines) + "\n"
