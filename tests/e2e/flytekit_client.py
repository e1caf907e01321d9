"""What a user of stock flytekit does. Run in flytekit's own environment: ENDPOINT NAME.

Prints one JSON object: what explain() and dump() wrote, and the names of the operations.
"""

import contextlib
import io
import json
import sys

from flytekit.configuration import Config, PlatformConfig  # type: ignore[import-not-found]
from flytekit.models.core.identifier import (  # type: ignore[import-not-found]
    WorkflowExecutionIdentifier,
)
from flytekit.remote import FlyteRemote  # type: ignore[import-not-found]


def main(endpoint: str, name: str) -> None:
    """Ask for the metrics of an execution, and write them both ways."""
    platform = PlatformConfig(endpoint=endpoint, insecure=True)
    remote = FlyteRemote(Config(platform=platform), "flytesnacks", "development")
    execution_id = WorkflowExecutionIdentifier("flytesnacks", "development", name)
    span = remote.get_execution_metrics(id=execution_id, depth=10)
    written = {}
    for how in ("explain", "dump"):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            getattr(span, how)()
        written[how] = out.getvalue()
    sys.stdout.write(json.dumps(written) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
