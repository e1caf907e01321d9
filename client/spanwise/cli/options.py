"""Parameters that several commands share."""

from typing import Annotated

import typer

Endpoint = Annotated[
    str,
    typer.Option(
        metavar="HOST:PORT",
        envvar="SPANWISE_ENDPOINT",
        help="gRPC address of the server, with its port.",
    ),
]
Execution = Annotated[
    str,
    typer.Argument(metavar="PROJECT/DOMAIN/NAME", help="Execution.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="JSON instead of a table.")]
JsonLines = Annotated[
    bool, typer.Option("--json", help="One JSON object a line instead of a table.")
]
LocalTime = Annotated[
    bool,
    typer.Option("--local-time", help="Times in the zone of this machine instead of UTC."),
]
