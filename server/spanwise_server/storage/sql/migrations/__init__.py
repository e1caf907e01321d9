"""Migrations: bringing a database to the tables of this version, and checking that it has them."""

from spanwise_server.storage.sql.migrations.runner import (
    distribute,
    downgrade,
    partition,
    prepare,
    upgrade,
    verify,
)

__all__ = ["distribute", "downgrade", "partition", "prepare", "upgrade", "verify"]
