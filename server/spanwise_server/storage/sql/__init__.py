"""Storage in a SQL database."""

from spanwise_server.storage.sql.storage import open_storage

__all__ = ["open_storage"]
