"""Create the tables of events, executions, node and task executions, and reasons.

For the operator: takes no time, since there are no rows yet. Undoing it removes every event.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "events",
        execution_key(),
        sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("entity_key", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.SmallInteger, nullable=False),
        sa.Column("phase", sa.SmallInteger, nullable=False),
        sa.Column("phase_version", sa.BigInteger, nullable=False),
        sa.Column("occurred_at_ns", sa.BigInteger, nullable=False),
        sa.Column("reported_at_ns", sa.BigInteger),
        sa.Column("recorded_at_ns", sa.BigInteger, nullable=False),
        text("producer_id"),
        sa.Column("disposition", sa.SmallInteger, nullable=False),
        text("refusal"),
        sa.Column("qualities", sa.BigInteger, nullable=False),
        sa.Column("has_details", sa.SmallInteger, nullable=False),
        sa.Column("payload_type", sa.SmallInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
    )
    op.create_index("events_by_time", "events", ["execution_key", "occurred_at_ns", "entity_key"])
    op.create_table(
        "executions",
        execution_key(),
        text("project"),
        text("domain"),
        text("name"),
        sa.Column("first_seen_ns", sa.BigInteger, nullable=False),
        text("org"),
        text("workflow_project"),
        text("workflow_domain"),
        text("workflow_name"),
        text("workflow_version"),
        sa.Column("parent_project", TEXT),
        sa.Column("parent_domain", TEXT),
        sa.Column("parent_name", TEXT),
        text("parent_node_id"),
        *state(),
        sa.Column(
            "started_at_ns",
            sa.BigInteger,
            sa.Computed("coalesce(created_at_ns, first_seen_ns)", persisted=True),
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "executions_by_start", "executions", [sa.text("started_at_ns DESC"), "execution_key"]
    )
    op.create_index(
        "executions_by_domain_and_start",
        "executions",
        ["project", "domain", sa.text("started_at_ns DESC"), "execution_key"],
    )
    op.create_table(
        "node_executions",
        execution_key(),
        entity_key("node_key"),
        text("node_id"),
        text("parent_node_id"),
        text("spec_node_id"),
        text("node_name"),
        text("retry_group"),
        sa.Column("kind", sa.SmallInteger, nullable=False),
        text("target_project"),
        text("target_domain"),
        text("target_name"),
        text("target_version"),
        sa.Column("cache_status", sa.SmallInteger, nullable=False),
        sa.Column("child_project", TEXT),
        sa.Column("child_domain", TEXT),
        sa.Column("child_name", TEXT),
        text("group_name"),
        *state(),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 70},
    )
    op.create_table(
        "task_executions",
        execution_key(),
        entity_key("attempt_key"),
        sa.Column("node_key", sa.BigInteger, nullable=False),
        text("task_project"),
        text("task_domain"),
        text("task_name"),
        text("task_version"),
        sa.Column("retry_attempt", sa.BigInteger, nullable=False),
        text("task_type"),
        sa.Column("interruptible", sa.SmallInteger, nullable=False),
        *state(),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 70},
    )
    op.create_table(
        "reasons",
        execution_key(),
        entity_key("entity_key"),
        entity_key("digest"),
        sa.Column("occurred_at_ns", sa.BigInteger, nullable=False),
        sa.Column("ordinal", sa.BigInteger, nullable=False),
        sa.Column("phase", sa.SmallInteger, nullable=False),
        sa.Column("phase_version", sa.BigInteger, nullable=False),
        sa.Column("severity", sa.SmallInteger, nullable=False),
        sa.Column("occurrences", sa.BigInteger, nullable=False),
        text("source"),
        text("message"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    for table in ("reasons", "task_executions", "node_executions", "executions", "events"):
        op.drop_table(table)


def execution_key() -> sa.Column[bytes]:
    return sa.Column("execution_key", sa.LargeBinary(16), primary_key=True)


def entity_key(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, primary_key=True, autoincrement=False)


def text(name: str) -> sa.Column[str]:
    return sa.Column(name, TEXT, nullable=False)


def state() -> list[sa.Column[int]]:
    return [
        sa.Column("created_at_ns", sa.BigInteger),
        sa.Column("last_occurred_at_ns", sa.BigInteger),
        sa.Column("latest_occurred_at_ns", sa.BigInteger),
        sa.Column("latest_reported_at_ns", sa.BigInteger),
        sa.Column("latest_phase", sa.SmallInteger),
        sa.Column("latest_phase_version", sa.BigInteger),
        sa.Column("ended_occurred_at_ns", sa.BigInteger),
        sa.Column("ended_reported_at_ns", sa.BigInteger),
        sa.Column("ended_phase", sa.SmallInteger),
        sa.Column("ended_phase_version", sa.BigInteger),
    ]
