"""What Alembic runs for every command: the revisions, on the connection that runner.py gives."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
