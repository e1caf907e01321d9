"""Trying again after a conflict between writers."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from spanwise_server.domain.errors import WriteConflict

T = TypeVar("T")

_MAX_PAUSE_S = 0.005
"""Longest pause between two tries. The driver's own wait for a lock comes on top of it, so this
only keeps two processes from meeting again at every try."""


def retry_conflicts(work: Callable[[], T], *, give_up_after_s: float) -> T:
    """Run `work` until it ends without a conflict.

    Raises:
        WriteConflict: It still met one when the time was over.
    """
    give_up_at = time.monotonic() + give_up_after_s
    while True:
        try:
            return work()
        except WriteConflict:
            if time.monotonic() >= give_up_at:
                raise
        time.sleep(random.uniform(0, _MAX_PAUSE_S))  # noqa: S311 - no secret
