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
    op.add_column(
        "workflow_bindings",
        sa.Column("bound_at_ns", sa.BigInteger, nullable=False, server_default="0"),
    )
    workflow = "FROM workflows WHERE workflows.workflow_key = workflow_bindings.workflow_key"
    for name in NAMES:
        column = name.removeprefix("workflow_")
        op.execute(
            f"UPDATE workflow_bindings SET {name} ="  # noqa: S608 - names of our own
            f" coalesce((SELECT workflows.{column} {workflow}), '')"
        )
    op.create_index(
        "workflow_bindings_by_workflow",
        "workflow_bindings",
        [*NAMES[:3], sa.text("bound_at_ns DESC"), "execution_key"],
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
    op.drop_index("workflow_bindings_by_workflow", "workflow_bindings")
    for name in ("bound_at_ns", *reversed(NAMES)):
        op.drop_column("workflow_bindings", name)
