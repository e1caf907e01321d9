"""Everything in which databases differ, except how they report errors (errors.py).

Each function branches on the database; mypy points at all of them when one is added.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from itertools import chain, repeat
from typing import Any, assert_never

from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    Column,
    ColumnElement,
    Dialect,
    FromClause,
    Insert,
    Integer,
    LargeBinary,
    ScalarSelect,
    Select,
    Table,
    Text,
    and_,
    any_,
    bindparam,
    column,
    func,
    literal_column,
    or_,
    select,
    true,
    tuple_,
    values,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.types import TypeEngine


class Database(Enum):
    """A kind of database that spanwise can keep its data in. The value is its name in URLs."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    CITUS = "citus"  # PostgreSQL whose extension Citus has distributed the tables


URL_FORMS = (
    "write sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE, with citus in place of"
    " postgresql for distributed tables"
)


def database_of(url: str) -> Database:
    """Give the kind of database that a URL names.

    Raises:
        ValueError: It is no URL, or names a kind that is not supported.
    """
    kind, separator, _ = url.partition("://")
    if not separator:
        # The text may hold a password, so it is not repeated.
        raise ValueError(f"the database URL cannot be read: {URL_FORMS}")
    try:
        # PostgreSQL's own programs take either name.
        return Database("postgresql" if kind == "postgres" else kind)
    except ValueError as exc:
        raise ValueError(f"databases of the kind {kind!r} are not supported: {URL_FORMS}") from exc


def compiler(database: Database) -> Dialect:
    """Give what turns a SQLAlchemy statement into the text that the driver takes."""
    if database is Database.SQLITE:
        return sqlite.dialect(paramstyle="qmark")
    if database in (Database.POSTGRESQL, Database.CITUS):
        return PGDialect_psycopg(paramstyle="format")  # type: ignore[no-untyped-call]
    assert_never(database)


binary = bytearray
"""Gives bytes as a parameter.

For every database: pysqlite binds a bytearray directly, but searches for an adapter first for
bytes, at 0.4 µs a value; for other drivers, it makes no difference.
"""


def begin_write(database: Database) -> str:
    """Give the statement that opens a writing transaction."""
    if database is Database.SQLITE:
        # Takes the write lock at once. A deferred transaction would take it at its first write,
        # and all of its work would be lost when another process wrote since its first read.
        return "BEGIN IMMEDIATE"
    if database in (Database.POSTGRESQL, Database.CITUS):
        # Each statement must see what was committed before it began: the first one waits for
        # other writers of the same executions, and the next ones read what those have written.
        return "BEGIN ISOLATION LEVEL READ COMMITTED"
    assert_never(database)


def begin_read(database: Database) -> str:
    """Give the statement that opens a transaction that reads one snapshot."""
    if database is Database.SQLITE:
        return "BEGIN DEFERRED"
    if database in (Database.POSTGRESQL, Database.CITUS):
        return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    assert_never(database)


def is_migrated_by_servers(database: Database) -> bool:
    """Say whether a server that starts may bring the tables to its version."""
    if database is Database.SQLITE:
        return True
    if database in (Database.POSTGRESQL, Database.CITUS):
        # Others may serve from it, of the version before, and its operator chooses the time.
        return False
    assert_never(database)


def begin_migration(database: Database) -> Sequence[str]:
    """Give the statements that keep every other writer and migration out until the commit."""
    if database is Database.SQLITE:
        return ("BEGIN EXCLUSIVE",)
    if database in (Database.POSTGRESQL, Database.CITUS):
        # Writers that lock no execution go on until a revision changes the table that they use.
        return "BEGIN", f"SELECT pg_advisory_xact_lock({_EVERYTHING})"
    assert_never(database)


_EVERYTHING = "1936744814, 0"
"""Two numbers that name the advisory lock of all executions, and no single one."""

MAX_LOCKS = 256
"""Executions that a transaction locks one by one. PostgreSQL has room for some 6,400 locks, of all
transactions together, unless it is configured otherwise."""


def lock_everything(database: Database) -> str | None:
    """Give the statement that keeps every other writer out, or None where BEGIN has done it."""
    if database is Database.SQLITE:
        return None
    if database in (Database.POSTGRESQL, Database.CITUS):
        return f"SELECT pg_advisory_xact_lock({_EVERYTHING})"
    assert_never(database)


def lock_each(database: Database) -> str | None:
    """Give the statement that locks some numbers, in their order, or None where BEGIN has done it.

    Parameter: the numbers, as lookup_parameters() gives them. What has no row yet can be locked, so
    two writers cannot both begin an execution.
    """
    if database is Database.SQLITE:
        return None
    if database in (Database.POSTGRESQL, Database.CITUS):
        return (
            f"SELECT pg_advisory_xact_lock_shared({_EVERYTHING}), pg_advisory_xact_lock(number)"  # noqa: S608 - a constant
            " FROM unnest(%s::BIGINT[]) AS wanted(number)"
        )
    assert_never(database)


MAX_PARAMETERS = 16_384
"""Parameters of one statement; SQLite takes 32,766. For PostgreSQL, elements of its arrays."""


def wants_key_everywhere(database: Database) -> bool:
    """Say whether each table of a statement is to be compared with the execution by itself.

    PostgreSQL finds it out by the subquery, and might begin with all of the execution otherwise.
    """
    if database in (Database.SQLITE, Database.POSTGRESQL):
        return False
    if database is Database.CITUS:
        return True  # it would ask all shards
    assert_never(database)


def max_lateral_keys(database: Database) -> int | None:
    """Give how many keys one select takes that has join_each() in it; None: as many as any."""
    if database in (Database.SQLITE, Database.POSTGRESQL):
        return None
    if database is Database.CITUS:
        # It runs no subquery about a row that each of its machines would be given.
        return 1
    assert_never(database)


def lookup_size(database: Database, num_keys: int) -> int:
    """Give for how many keys to build the select that is to look up `num_keys`, at least one."""
    if database is Database.SQLITE:
        # 1, 2, 3, 4, 6, 8, 12, 16, 24, …: at most half more than the number, in few texts.
        power = 1 << (num_keys - 1).bit_length()
        three_quarters = power - power // 4
        return three_quarters if num_keys <= three_quarters else power
    if database in (Database.POSTGRESQL, Database.CITUS):
        return 1
    assert_never(database)


def lookup_parameters(
    database: Database,
    keys: Sequence[tuple[Any, ...]],
    size: int,
    names: Sequence[str],
    more: Mapping[str, Any],
) -> Sequence[Any]:
    """Give the parameters of a select with wanted_keys(), built for `size` keys.

    Args:
        database: Kind of database.
        keys: Keys.
        size: Number of keys for which the select was built.
        names: Names of its parameters, in order; those of the keys come first, except for Citus.
        more: Values of its other parameters.
    """
    if database is Database.SQLITE:
        nothing = (None,) * len(keys[0])  # a key that nothing has
        wanted = [*chain.from_iterable(keys), *chain(*repeat(nothing, size - len(keys)))]
    elif database is Database.POSTGRESQL:
        wanted = list(zip(*keys, strict=True))  # a tuple goes as an array, see postgresql.py
    elif database is Database.CITUS:
        arrays = dict(zip(_array_names(keys[0]), zip(*keys, strict=True), strict=True))
        only = dict(zip(_value_names(keys[0]), keys[0], strict=True))
        values_by_name = {**arrays, **only, **more}
        return [values_by_name[name] for name in names]
    else:
        assert_never(database)
    return [*wanted, *(more[name] for name in names[len(wanted) :])]


def _array_names(key: Sequence[Any]) -> list[str]:
    return [f"wanted_{number}" for number in range(len(key))]


def _value_names(key: Sequence[Any]) -> list[str]:
    return [f"only_{number}" for number in range(len(key))]


def wanted_keys(database: Database, columns: Sequence[Column[Any]], num_keys: int) -> FromClause:
    """Build a table of keys, given as parameters, that a select can join.

    For PostgreSQL, the number of keys makes no difference: each column is an array of any length.
    """
    if database is Database.SQLITE:
        rows = [
            tuple(bindparam(None, type_=key.type, required=True) for key in columns)
            for _ in range(num_keys)
        ]
        typed = (column(key.name, key.type) for key in columns)
        return values(*typed, name="wanted").data(rows).cte("wanted")
    if database is Database.POSTGRESQL:
        return _unnest("wanted", columns, [None] * len(columns))
    if database is Database.CITUS:
        return _unnest("wanted", columns, _array_names(columns))
    assert_never(database)


def select_wanted(
    database: Database,
    columns: Sequence[ColumnElement[Any]],
    keys: Sequence[Column[Any]],
    num_keys: int,
) -> Select[Any]:
    """Build the select of some columns of the rows of a table that have one of some keys.

    Args:
        database: Kind of database.
        columns: What to select, of the table of the keys.
        keys: Columns that a key consists of. Parameters: see wanted_keys().
        num_keys: See wanted_keys().
    """
    wanted = wanted_keys(database, keys, num_keys)
    same = and_(*(key == wanted.c[key.name] for key in keys))
    if database is Database.SQLITE:
        return select(*columns).join_from(wanted, keys[0].table, same)
    if database is Database.POSTGRESQL:
        # PostgreSQL may begin a join with either side, and for a table that it takes to be small
        # would read all of it, also when it has grown since. An outer join begins with the keys,
        # unless a condition makes an inner one of it that PostgreSQL can see through.
        matching = select(*columns).join_from(wanted, keys[0].table, same, isouter=True)
        return matching.where(keys[0].is_(None).is_not(true()))
    if database is Database.CITUS:
        # Citus asks the shards of the keys that the first column is compared with, and all of them
        # if it is only joined. For an outer join that begins with the keys, it would first fetch
        # the whole table from all machines.
        first, *others = keys
        found = select(*columns).select_from(first.table)
        if others:
            found = found.join(wanted, same)
        return found.where(first == any_(_wanted_array("wanted_0", first)))
    assert_never(database)


def select_existing(database: Database, keys: Sequence[Column[Any]], num_keys: int) -> Select[Any]:
    """Build the select of those of some keys that a table has rows with, each once.

    Args:
        database: Kind of database.
        keys: Columns that a key consists of; they need not tell one row. Parameters: see
            wanted_keys().
        num_keys: See wanted_keys().
    """
    if database in (Database.SQLITE, Database.POSTGRESQL):
        wanted = wanted_keys(database, keys, num_keys)
        # Stops at the first row of a key, of which there may be any number.
        exists = (
            select(literal_column("1"))
            .where(*(key == wanted.c[key.name] for key in keys))
            .limit(literal_column("1"))
            .offset(literal_column("0"))  # PostgreSQL would join the tables, and begin with either
            .exists()
        )
        return select(*(wanted.c[key.name] for key in keys)).where(exists)
    if database is Database.CITUS:
        return select_wanted(database, keys, keys, num_keys).distinct()
    assert_never(database)


def select_about_each(
    database: Database,
    key: Column[Any],
    number: Column[int],
    num_keys: int,
    about: Callable[[ColumnElement[Any]], ScalarSelect[Any]],
) -> Select[Any]:
    """Build the select of what a subquery finds out about each of some keys.

    Rows: the key, and what was found. A key that has no rows has none here, or one with NULL.

    Args:
        database: Kind of database.
        key: The key. Parameters: see wanted_keys().
        number: Numbers the rows under a key from 1.
        num_keys: See wanted_keys().
        about: Builds the subquery about a key.
    """
    if database in (Database.SQLITE, Database.POSTGRESQL):
        wanted = wanted_keys(database, (key,), num_keys)
        return select(wanted.c[key.name], about(wanted.c[key.name]))
    if database is Database.CITUS:
        # Citus runs subqueries about rows of its tables, but not about keys that are given.
        first = key.table.alias("first_one")
        is_wanted = first.c[key.name] == any_(_wanted_array("wanted_0", key))
        is_first = first.c[number.name] == literal_column("1")
        return select(first.c[key.name], about(first.c[key.name])).where(is_wanted, is_first)
    assert_never(database)


def is_missing(database: Database, key: Column[Any], others: Column[Any]) -> ColumnElement[bool]:
    """Build the condition that a key is in no row of another table, which has few rows.

    Args:
        database: Kind of database.
        key: The key.
        others: The same key in the other table.
    """
    if database in (Database.SQLITE, Database.POSTGRESQL):
        # Not EXISTS: PostgreSQL would join, and sort all rows rather than go along an index.
        return key.not_in(select(others))
    if database is Database.CITUS:
        # Each shard looks into the one of the other table beside it. NOT IN would send all keys of
        # that table to all shards first.
        return ~select(literal_column("1")).where(others == key).exists()
    assert_never(database)


def count_now(database: Database) -> str | None:
    """Give the statement that has the rows of a transaction counted at its end: see stats.py.

    None where sizes are measured and not counted.
    """
    if database is Database.SQLITE:
        return None
    if database in (Database.POSTGRESQL, Database.CITUS):
        return "SELECT pg_stat_force_next_flush()"
    assert_never(database)


def insert(database: Database, table: Table, columns: Sequence[Column[Any]]) -> Insert:
    """Build the insert of one row. It fails when the key is there."""
    return _insert(database, table, columns)


def insert_missing(database: Database, table: Table, columns: Sequence[Column[Any]]) -> Insert:
    """Build the insert of one row that does nothing when the key is there."""
    return _insert(database, table, columns).on_conflict_do_nothing()


def insert_or_replace(database: Database, table: Table, columns: Sequence[Column[Any]]) -> Insert:
    """Build the insert of one row, which takes the place of a row that has the key."""
    if database is Database.SQLITE:
        # Without other indexes, this only writes into the one tree, at half the cost of the
        # general form below.
        return _insert_rows(table, columns).prefix_with("OR REPLACE")
    if database in (Database.POSTGRESQL, Database.CITUS):
        return insert_or_update(database, table, columns, keep=())
    assert_never(database)


def insert_or_update(
    database: Database,
    table: Table,
    columns: Sequence[Column[Any]],
    *,
    keep: Collection[Column[Any]],
) -> Insert:
    """Build the insert of one row, or an update of all columns but `keep` when the key is there."""
    statement = _insert(database, table, columns)
    return statement.on_conflict_do_update(
        index_elements=table.primary_key.columns,
        set_={
            column.name: statement.excluded[column.name]
            for column in columns
            if not column.primary_key and column not in keep
        },
    )


def insert_or_merge(
    database: Database,
    table: Table,
    columns: Sequence[Column[Any]],
    *,
    least: Sequence[Column[Any]],
    greatest: Sequence[Column[Any]],
) -> Insert:
    """Build the insert of one row, or a merge into the row that has the key.

    The merge keeps the lesser values of `least`, the greater ones of `greatest`, and the rest as it
    is. A row that would not change is not written.
    """
    statement = _insert(database, table, columns)
    new = statement.excluded
    changes = or_(
        *(new[column.name] < column for column in least),
        *(new[column.name] > column for column in greatest),
    )
    return statement.on_conflict_do_update(
        index_elements=table.primary_key.columns,
        set_={column.name: lesser(database, column, new[column.name]) for column in least}
        | {column.name: greater(database, column, new[column.name]) for column in greatest},
        where=changes,
    )


def wanted_each(
    database: Database, columns: Sequence[Column[Any]], num_keys: int
) -> tuple[FromClause | None, Mapping[str, ColumnElement[Any]]]:
    """Build a table of keys for join_each(), and their columns by name.

    There is no table, and the columns are values, where a select takes one key: see
    max_lateral_keys().
    """
    if database in (Database.SQLITE, Database.POSTGRESQL):
        wanted = wanted_keys(database, columns, num_keys)
        return wanted, dict(wanted.c)
    if database is Database.CITUS:
        only = [
            bindparam(name, type_=_element_type(each.type), required=True)
            for name, each in zip(_value_names(columns), columns, strict=True)
        ]
        return None, {each.name: value for each, value in zip(columns, only, strict=True)}
    assert_never(database)


def join_each(
    database: Database, outer: FromClause | None, table: Table, keys: Select[Any]
) -> FromClause:
    """Join to each row of `outer` the rows of `table` that a select about it gives the keys of.

    Args:
        database: Kind of database.
        outer: What is joined to: see wanted_each().
        table: What is joined.
        keys: Gives primary keys of `table`; refers to `outer`; may have an order and a limit.
    """
    if outer is None:
        rows = keys.subquery("found")
        return rows.join(table, and_(*(key == rows.c[key.name] for key in table.primary_key)))
    if database is Database.SQLITE:
        # SQLite knows no LATERAL, but runs the select once for each row and then seeks the keys.
        return outer.join(table, tuple_(*table.primary_key.columns).in_(keys))
    if database in (Database.POSTGRESQL, Database.CITUS):
        found = keys.lateral("found")
        same = [each == found.c[each.name] for each in table.primary_key.columns]
        # An outer join for the reason that select_wanted() gives. The rows are all there.
        return outer.join(found, true()).outerjoin(table, and_(*same))
    assert_never(database)


def lesser(database: Database, one: ColumnElement[Any], other: ColumnElement[Any]) -> Any:
    """Build the lesser of two values of one row."""
    if database is Database.SQLITE:
        return func.min(one, other)
    if database in (Database.POSTGRESQL, Database.CITUS):
        return func.least(one, other)
    assert_never(database)


def greater(database: Database, one: ColumnElement[Any], other: ColumnElement[Any]) -> Any:
    """Build the greater of two values of one row."""
    if database is Database.SQLITE:
        return func.max(one, other)
    if database in (Database.POSTGRESQL, Database.CITUS):
        return func.greatest(one, other)
    assert_never(database)


def _insert(
    database: Database, table: Table, columns: Sequence[Column[Any]]
) -> sqlite.Insert | postgresql.Insert:
    """Build the insert of a row, or, for PostgreSQL, of as many as its arrays have elements."""
    if database is Database.SQLITE:
        return _insert_rows(table, columns)
    if database in (Database.POSTGRESQL, Database.CITUS):
        names = [each.name for each in columns]
        rows = _unnest("given", columns, names)
        return postgresql.insert(table).from_select(names, select(*rows.c))
    assert_never(database)


def _insert_rows(table: Table, columns: Sequence[Column[Any]]) -> sqlite.Insert:
    parameters = {each.name: bindparam(each.name, type_=each.type) for each in columns}
    return sqlite.insert(table).values(parameters)


def _unnest(
    name: str, columns: Sequence[Column[Any]], parameters: Sequence[str | None]
) -> FromClause:
    """Build a table of arrays that are parameters, one for each column."""
    arrays = [
        _wanted_array(parameter, each) for parameter, each in zip(parameters, columns, strict=True)
    ]
    typed = (column(each.name, _element_type(each.type)) for each in columns)
    return func.unnest(*arrays).table_valued(*typed).render_derived(name=name)


def _wanted_array(parameter: str | None, column: Column[Any]) -> BindParameter[Any]:
    """Build a parameter that is an array of values of a column."""
    return bindparam(parameter, type_=ARRAY(_element_type(column.type)), required=True)


def _element_type(type_: TypeEngine[Any]) -> TypeEngine[Any]:
    """Give the type as which values of a column travel: of each kind, the one that holds all."""
    if isinstance(type_, Integer):
        return BigInteger()
    if isinstance(type_, LargeBinary):
        return LargeBinary()
    return Text()
