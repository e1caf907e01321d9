"""Texts that are kept in the repository and compared with what the code makes."""

import os
from pathlib import Path

REGENERATE = bool(os.environ.get("SPANWISE_REGENERATE"))
"""Whether to write the files instead of comparing them. Read before the settings of whoever runs
the tests are scrubbed."""


def check_golden(path: Path, actual: str) -> None:
    """Compare a text with the file that keeps it, or write the file.

    Run the tests with SPANWISE_REGENERATE=1 after a change that is wanted, and read the difference.
    """
    if REGENERATE:
        path.write_text(actual)
    assert path.read_text() == actual
