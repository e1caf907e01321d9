"""Add what tells how long the executions of a workflow usually take.

For the operator: indexes of executions that name their workflow, and of bindings, about a second
for a million of them, while writers wait. Undoing it removes the names from bindings, not the
bindings.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NAMES = ("workflow_project", "workflow_domain", "workflow_name", "workflow_version")


def upgrade() -> None:
    for name in NAMES:
        op.add_column("workflow_bindings", sa.Column(name, TEXT, nullable=False, server_default=""))
    op.add_column("workflow_bindings", sa.Column("success_created_at_ns", sa.BigInteger))
    workflow = "FROM workflows WHERE workflows.workflow_key = workflow_bindings.workflow_key"
    for name in NAMES:
        column = name.removeprefix("workflow_")
        op.execute(
            f"UPDATE workflow_bindings SET {name} ="  # noqa: S608 - names of our own
            f" coalesce((SELECT workflows.{column} {workflow}), '')"
        )
    op.execute(
        "UPDATE workflow_bindings SET success_created_at_ns = (SELECT executions.created_at_ns"
        " FROM executions WHERE executions.execution_key = workflow_bindings.execution_key"
        " AND executions.ended_phase = 11)"
    )
    is_success = sa.text("success_created_at_ns IS NOT NULL")
    op.create_index(
        "succeeded_bindings_by_workflow",
        "workflow_bindings",
        [*NAMES[:3], sa.text("success_created_at_ns DESC"), "execution_key"],
        sqlite_where=is_success,
        postgresql_where=is_success,
    )
    is_named_success = sa.text("ended_phase = 11 AND workflow_name != ''")
    op.create_index(
        "succeeded_executions_by_workflow",
        "executions",
        [*NAMES[:3], sa.text("created_at_ns DESC"), "execution_key"],
        sqlite_where=is_named_success,
        postgresql_where=is_named_success,
    )


def downgrade() -> None:
    op.drop_index("succeeded_executions_by_workflow", "executions")
    op.drop_index("succeeded_bindings_by_workflow", "workflow_bindings")
    for name in ("success_created_at_ns", *reversed(NAMES)):
        op.drop_column("workflow_bindings", name)
