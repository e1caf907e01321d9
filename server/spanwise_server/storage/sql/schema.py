"""The ten tables.

Keys come from domain.identifiers: they are hashes, so indexes stay small and no write needs a
look-up, whatever a sender puts into an id. Every primary key but that of `workflows` begins with
execution_key, so that the large tables can be partitioned by it. Columns with the suffix _ns are
nanoseconds since the epoch, UTC. Columns of an enumeration hold the numbers of spanwise.v1. A text
is empty, never NULL, where nothing was said; NULL has a meaning of its own, given at the column.

The `events` table is the truth of what happened; `workflows` and `workflow_bindings` are what
people registered. The others are projections of the events, which `spanwise rebuild` makes again,
and `kept_trees` and `kept_chunks`, which are made when somebody next reads a large execution.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    Computed,
    Index,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    and_,
    literal_column,
)

from spanwise_server.domain.phases import Phase

METADATA = MetaData()

TEXT = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that is compared byte by byte everywhere. Other orders of PostgreSQL differ with the system,
and a new version of it makes indexes on them wrong."""


ROOM_FOR_UPDATES = {"fillfactor": 70}
"""Rows that change several times stay on their page of PostgreSQL, and their index as it is."""


def execution_key_column() -> Column[bytes]:
    """Give the column that begins every primary key: 16 bytes."""
    return Column("execution_key", LargeBinary(16), primary_key=True)


def entity_key_column(name: str) -> Column[int]:
    """Give a signed 64-bit hash that is part of a primary key."""
    return Column(name, BigInteger, primary_key=True, autoincrement=False)


def workflow_key_column(*, primary_key: bool) -> Column[bytes]:
    """Give the column that names a workflow: 16 bytes."""
    return Column("workflow_key", LargeBinary(16), primary_key=primary_key, nullable=False)


def state_columns() -> list[Column[int]]:
    """Give the columns of a domain.transitions.EntityState but its started_at_ns.

    All are NULL for a placeholder. Of the others, those of `latest` are NULL until an event that is
    not terminal arrives, and those of `ended` while the entity is open.
    """
    return [
        Column("created_at_ns", BigInteger),
        Column("last_occurred_at_ns", BigInteger),
        *(
            column
            for moment in ("latest", "ended")
            for column in (
                Column(f"{moment}_occurred_at_ns", BigInteger),
                Column(f"{moment}_reported_at_ns", BigInteger),
                Column(f"{moment}_phase", SmallInteger),
                Column(f"{moment}_phase_version", BigInteger),
            )
        ),
    ]


def first_running_column() -> Column[int]:
    """Give the column of EntityState.started_at_ns.

    NULL until a RUNNING event arrives, and in rows that were written before there was the column.
    The last one of its tables, where a migration can add it without writing every row anew.
    """
    return Column("first_running_at_ns", BigInteger)


def text_column(name: str) -> Column[str]:
    """Give a text of any length."""
    return Column(name, TEXT, nullable=False)


def later_text_column(name: str) -> Column[str]:
    """Give a text that a table has not had from the beginning: empty in the rows before."""
    return Column(name, TEXT, nullable=False, server_default="")


# One row per received event, whatever became of it. Key: the position inside the execution, from 1,
# without gaps. Written once by the event sink, never changed. Only retention may delete, and only
# whole executions.
EVENTS = Table(
    "events",
    METADATA,
    execution_key_column(),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("entity_key", BigInteger, nullable=False),
    Column("kind", SmallInteger, nullable=False),
    Column("phase", SmallInteger, nullable=False),
    Column("phase_version", BigInteger, nullable=False),
    Column("occurred_at_ns", BigInteger, nullable=False),
    Column("reported_at_ns", BigInteger),  # NULL: the source gave none
    Column("recorded_at_ns", BigInteger, nullable=False),
    text_column("producer_id"),
    Column("disposition", SmallInteger, nullable=False),
    text_column("refusal"),
    Column("qualities", BigInteger, nullable=False),  # bits of domain.quality.EventQuality
    Column("has_details", SmallInteger, nullable=False),  # 0 or 1
    # A number of domain.events.PayloadType, and how the payload is packed: see packing.py.
    Column("payload_type", SmallInteger, nullable=False),
    # Last, so that a reader of the other columns need not walk over it.
    Column("payload", LargeBinary, nullable=False),
    # Serves two questions with one tree: is this event of the entity logged already, and which
    # events come next in time. In this order of columns, the events of a running execution are
    # inserted side by side, so a batch changes few pages.
    Index("events_by_time", "execution_key", "occurred_at_ns", "entity_key"),
)

# One row per execution that any event named. Key: the execution. Written by the event sink, and
# after the insert for events of the execution itself alone: no event of a node or a task touches
# the row. May be deleted with the rest of its execution, or to be rebuilt.
EXECUTIONS = Table(
    "executions",
    METADATA,
    execution_key_column(),
    text_column("project"),
    text_column("domain"),
    text_column("name"),
    Column("first_seen_ns", BigInteger, nullable=False),
    text_column("org"),
    text_column("workflow_project"),
    text_column("workflow_domain"),
    text_column("workflow_name"),
    text_column("workflow_version"),
    Column("parent_project", TEXT),  # NULL, as the next two: no parent execution is known
    Column("parent_domain", TEXT),
    Column("parent_name", TEXT),
    text_column("parent_node_id"),
    *state_columns(),
    # Where listing sorts the execution.
    Column(
        "started_at_ns",
        BigInteger,
        Computed("coalesce(created_at_ns, first_seen_ns)", persisted=True),
    ),
    first_running_column(),
    sqlite_with_rowid=False,
)
Index("executions_by_start", EXECUTIONS.c.started_at_ns.desc(), EXECUTIONS.c.execution_key)
Index(
    "executions_by_domain_and_start",
    EXECUTIONS.c.project,
    EXECUTIONS.c.domain,
    EXECUTIONS.c.started_at_ns.desc(),
    EXECUTIONS.c.execution_key,
)
# Numbers stand in its text, as they do in the statements that are to use it.
IS_NAMED_SUCCESS = and_(
    EXECUTIONS.c.ended_phase == literal_column(str(int(Phase.SUCCEEDED))),
    EXECUTIONS.c.workflow_name != literal_column("''"),
)
# So that the latest that succeeded of a workflow are found in few steps, whatever came between.
Index(
    "succeeded_executions_by_workflow",
    EXECUTIONS.c.workflow_project,
    EXECUTIONS.c.workflow_domain,
    EXECUTIONS.c.workflow_name,
    EXECUTIONS.c.created_at_ns.desc(),
    EXECUTIONS.c.execution_key,
    sqlite_where=IS_NAMED_SUCCESS,
    postgresql_where=IS_NAMED_SUCCESS,
)
# Has all that retention asks of those that ended, so that it reads nothing else. Not the start: for
# SQLite, a generated column is in no index alone.
Index(
    "executions_by_end",
    EXECUTIONS.c.ended_occurred_at_ns,
    EXECUTIONS.c.execution_key,
    EXECUTIONS.c.project,
    EXECUTIONS.c.domain,
    EXECUTIONS.c.ended_phase,
)

# One row per node of an execution; state columns are NULL while only events of its children,
# attempts or the like named it. Key: the node. Written by the event sink. May be deleted with the
# rest of its execution, or to be rebuilt.
NODE_EXECUTIONS = Table(
    "node_executions",
    METADATA,
    execution_key_column(),
    entity_key_column("node_key"),
    text_column("node_id"),
    text_column("parent_node_id"),
    text_column("spec_node_id"),
    text_column("node_name"),
    text_column("retry_group"),
    Column("kind", SmallInteger, nullable=False),
    text_column("target_project"),
    text_column("target_domain"),
    text_column("target_name"),
    text_column("target_version"),
    Column("cache_status", SmallInteger, nullable=False),
    Column("child_project", TEXT),  # NULL, as the next two: no child execution is known
    Column("child_domain", TEXT),
    Column("child_name", TEXT),
    text_column("group_name"),
    *state_columns(),
    first_running_column(),
    sqlite_with_rowid=False,
    postgresql_with=ROOM_FOR_UPDATES,
)

# One row per attempt of a task. Key: the attempt. Written by the event sink. May be deleted with
# the rest of its execution, or to be rebuilt.
TASK_EXECUTIONS = Table(
    "task_executions",
    METADATA,
    execution_key_column(),
    entity_key_column("attempt_key"),
    Column("node_key", BigInteger, nullable=False),
    text_column("task_project"),
    text_column("task_domain"),
    text_column("task_name"),
    text_column("task_version"),
    Column("retry_attempt", BigInteger, nullable=False),
    text_column("task_type"),
    Column("interruptible", SmallInteger, nullable=False),  # 0 or 1
    *state_columns(),
    first_running_column(),
    sqlite_with_rowid=False,
    postgresql_with=ROOM_FOR_UPDATES,
)
# Only attempts that ended are in it, so an attempt costs one change of the index, at its end.
Index(
    "finished_attempts_by_task",
    TASK_EXECUTIONS.c.task_project,
    TASK_EXECUTIONS.c.task_domain,
    TASK_EXECUTIONS.c.task_name,
    TASK_EXECUTIONS.c.created_at_ns.desc(),
    TASK_EXECUTIONS.c.execution_key,
    TASK_EXECUTIONS.c.attempt_key,
    sqlite_where=TASK_EXECUTIONS.c.ended_phase.is_not(None),
    postgresql_where=TASK_EXECUTIONS.c.ended_phase.is_not(None),
)

# One row per distinct reason of an entity: text under a phase and version. Key: the entity and a
# hash of what makes the reason distinct. Written by the event sink, which merges repetitions. May
# be deleted with the rest of its execution, or to be rebuilt.
REASONS = Table(
    "reasons",
    METADATA,
    execution_key_column(),
    entity_key_column("entity_key"),
    entity_key_column("digest"),
    Column("occurred_at_ns", BigInteger, nullable=False),
    Column("ordinal", BigInteger, nullable=False),
    Column("phase", SmallInteger, nullable=False),
    Column("phase_version", BigInteger, nullable=False),
    Column("severity", SmallInteger, nullable=False),
    Column("occurrences", BigInteger, nullable=False),
    text_column("source"),
    text_column("message"),
    sqlite_with_rowid=False,
)

# One row per registered workflow. Key: a hash of its identity. Written when somebody registers it,
# and replaced when somebody does it again. Nothing else has what is in it: only who registered it
# may have it deleted.
WORKFLOWS = Table(
    "workflows",
    METADATA,
    workflow_key_column(primary_key=True),
    text_column("project"),
    text_column("domain"),
    text_column("name"),
    text_column("version"),
    # A number of domain.workflows.WorkflowFormat, and how the payload is packed: see packing.py.
    Column("format", SmallInteger, nullable=False),
    Column("recorded_at_ns", BigInteger, nullable=False),
    # Last, so that a reader of the other columns need not walk over it.
    Column("payload", LargeBinary, nullable=False),
)

# One row per execution of which somebody said what it runs. Key: the execution, which need not be
# there. Written by who says so. May be deleted with the rest of its execution, not to be rebuilt.
WORKFLOW_BINDINGS = Table(
    "workflow_bindings",
    METADATA,
    execution_key_column(),
    workflow_key_column(primary_key=False),  # need not be there either
    # What the key is the key of; empty in rows of before version 0005 whose workflow was not
    # registered.
    later_text_column("workflow_project"),
    later_text_column("workflow_domain"),
    later_text_column("workflow_name"),
    later_text_column("workflow_version"),
    # created_at_ns of the execution once that has succeeded, NULL else: a copy, so that one index
    # has the executions of a workflow in their order. Whoever writes either row sees to it.
    Column("success_created_at_ns", BigInteger),
    sqlite_with_rowid=False,
)
# As succeeded_executions_by_workflow, of those that are bound to it.
Index(
    "succeeded_bindings_by_workflow",
    WORKFLOW_BINDINGS.c.workflow_project,
    WORKFLOW_BINDINGS.c.workflow_domain,
    WORKFLOW_BINDINGS.c.workflow_name,
    WORKFLOW_BINDINGS.c.success_created_at_ns.desc(),
    WORKFLOW_BINDINGS.c.execution_key,
    sqlite_where=WORKFLOW_BINDINGS.c.success_created_at_ns.is_not(None),
    postgresql_where=WORKFLOW_BINDINGS.c.success_created_at_ns.is_not(None),
)

# One row per large finished execution whose span tree is kept as it is sent. Key: the execution.
# Written by whoever built the tree, after its chunks. May be deleted: it is then built again.
KEPT_TREES = Table(
    "kept_trees",
    METADATA,
    execution_key_column(),
    Column("generation", BigInteger, nullable=False),  # of its chunks
    text_column("maker"),
    Column("kept_at_ns", BigInteger, nullable=False),
    Column("basis", LargeBinary, nullable=False),
    Column("chunk_spans", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

# One row per chunk of a kept tree. Key: the tree and the place in it, from 0. Written once, before
# the row of its tree; what has no such row is left over. May be deleted with it.
KEPT_CHUNKS = Table(
    "kept_chunks",
    METADATA,
    execution_key_column(),
    entity_key_column("generation"),
    entity_key_column("number"),
    Column("outline", LargeBinary, nullable=False),
    Column("payload", LargeBinary, nullable=False),
)

# One row per execution that is being deleted: its row in `executions` is gone, and others of it may
# be left. Key: the execution. Written when a deletion begins, and removed with the last of the
# other rows, so that whoever deletes next finishes what was broken off.
DELETIONS = Table("deletions", METADATA, execution_key_column(), sqlite_with_rowid=False)
