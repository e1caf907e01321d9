"""Add registered workflows, what executions run, and the first RUNNING time of each entity.

For the operator: takes moments. Columns are added without writing rows anew; the index of finished
attempts is built in one pass over task_executions, about a second for a million of them, while
writers wait. Undoing it removes every registered workflow and binding, which nothing brings back.

The first RUNNING time is NULL in rows that are there already, and too late in those of them that
meet another RUNNING event, until `spanwise rebuild` makes them anew.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
TABLES_WITH_STATE = ("executions", "node_executions", "task_executions")


def upgrade() -> None:
    for table in TABLES_WITH_STATE:
        op.add_column(table, sa.Column("first_running_at_ns", sa.BigInteger))
    op.create_index(
        "finished_attempts_by_task",
        "task_executions",
        [
            "task_project",
            "task_domain",
            "task_name",
            sa.text("created_at_ns DESC"),
            "execution_key",
            "attempt_key",
        ],
        sqlite_where=sa.text("ended_phase IS NOT NULL"),
        postgresql_where=sa.text("ended_phase IS NOT NULL"),
    )
    op.create_table(
        "workflows",
        sa.Column("workflow_key", sa.LargeBinary(16), primary_key=True, nullable=False),
        text("project"),
        text("domain"),
        text("name"),
        text("version"),
        sa.Column("format", sa.SmallInteger, nullable=False),
        sa.Column("recorded_at_ns", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "workflow_bindings",
        sa.Column("execution_key", sa.LargeBinary(16), primary_key=True),
        sa.Column("workflow_key", sa.LargeBinary(16), nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("workflow_bindings")
    op.drop_table("workflows")
    op.drop_index("finished_attempts_by_task", "task_executions")
    for table in TABLES_WITH_STATE:
        op.drop_column(table, "first_running_at_ns")


def text(name: str) -> sa.Column[str]:
    return sa.Column(name, TEXT, nullable=False)
