"""Storage: the written contract (api.py) and its implementation in SQL (sql/)."""
