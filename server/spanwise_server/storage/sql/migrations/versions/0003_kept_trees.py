"""Add kept span trees.

For the operator: takes a moment. Undoing it removes the kept trees, which are built again when
somebody reads their executions.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "kept_trees",
        sa.Column("execution_key", sa.LargeBinary(16), primary_key=True),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.Column("maker", TEXT, nullable=False),
        sa.Column("kept_at_ns", sa.BigInteger, nullable=False),
        sa.Column("basis", sa.LargeBinary, nullable=False),
        sa.Column("chunk_spans", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "kept_chunks",
        sa.Column("execution_key", sa.LargeBinary(16), primary_key=True),
        sa.Column("generation", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("outline", sa.LargeBinary, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("kept_chunks")
    op.drop_table("kept_trees")
