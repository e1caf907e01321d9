"""Commands that run the server: the only module that knows the server package."""

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from spanwise._errors import INSTALL_SERVER, MissingPackage
from spanwise._text import neutral

if TYPE_CHECKING:
    from spanwise_server.config import Settings

Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        envvar="SPANWISE_CONFIG",
        help="YAML file with settings. SPANWISE_* variables override it, options override both.",
        show_default=False,
    ),
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Where events are kept. Setting SPANWISE_DATABASE_URL; default sqlite:///spanwise.db.",
        show_default=False,
    ),
]
LogLevel = Annotated[
    str | None,
    typer.Option(
        metavar="LEVEL",
        help="debug, info, warning or error. Setting SPANWISE_LOG_LEVEL; default info.",
        show_default=False,
    ),
]


def serve(
    *,
    grpc_address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where to serve gRPC; port 0 picks a free one. "
            "Setting SPANWISE_GRPC_ADDRESS; default 127.0.0.1:8089, FlyteAdmin's port.",
            show_default=False,
        ),
    ] = None,
    http_address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Where to serve the page and its HTTP API; none for neither. "
            "Setting SPANWISE_HTTP_ADDRESS; default 127.0.0.1:8088, FlyteAdmin's port.",
            show_default=False,
        ),
    ] = None,
    http_hosts: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="More names that the page is reached by, separated by commas: docs/http-api.md. "
            "Setting SPANWISE_HTTP_HOSTS; default none.",
            show_default=False,
        ),
    ] = None,
    front: Annotated[
        str | None,
        typer.Option(
            metavar="FRONT",
            help="What speaks HTTP/2: grpcio, or envoy, which takes more calls a second. "
            "Setting SPANWISE_FRONT; default grpcio.",
            show_default=False,
        ),
    ] = None,
    database_url: DatabaseUrl = None,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Processes that take calls on the address, from 1 to 64: docs/processes.md. "
            "Setting SPANWISE_WORKERS; default 1.",
            show_default=False,
        ),
    ] = None,
    max_message_bytes: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES",
            help="Largest request, from 4 MiB to 1 GiB. "
            "Setting SPANWISE_MAX_MESSAGE_BYTES; default 64 MiB.",
            show_default=False,
        ),
    ] = None,
    graceful_stop_s: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="How long running calls may take to finish after SIGTERM. "
            "Setting SPANWISE_GRACEFUL_STOP_S; default 20.",
            show_default=False,
        ),
    ] = None,
    stale_after_s: Annotated[
        int | None,
        typer.Option(
            metavar="SECONDS",
            help="Silence after which what has not ended is flagged as stale. "
            "Setting SPANWISE_STALE_AFTER_S; default 86400, a day.",
            show_default=False,
        ),
    ] = None,
    log_level: LogLevel = None,
    config: Config = None,
) -> None:
    """Run the event sink, and the page that shows what it took.

    It says where its page is, and then "spanwise serves gRPC on HOST:PORT" on standard error when
    it is ready, and runs until it is stopped. After SIGTERM or Ctrl-C it stores what it has
    accepted, and then ends.
    """
    settings = settings_of(
        config,
        grpc_address=grpc_address,
        http_address=http_address,
        http_hosts=http_hosts,
        front=front,
        database_url=database_url,
        workers=workers,
        max_message_bytes=max_message_bytes,
        graceful_stop_s=graceful_stop_s,
        stale_after_s=stale_after_s,
        log_level=log_level,
    )
    raise typer.Exit(server_main().serve(settings))


def migrate(
    *,
    database_url: DatabaseUrl = None,
    partitions: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            max=64,
            help="Also part each large table of a new PostgreSQL database into N, from 2 to 64: "
            "docs/scaling.md.",
            show_default=False,
        ),
    ] = None,
    distribute: Annotated[
        bool,
        typer.Option(
            "--distribute",
            help="Also let the extension Citus of PostgreSQL distribute the tables over its "
            "machines: docs/scaling.md.",
        ),
    ] = False,
    log_level: LogLevel = None,
    config: Config = None,
) -> None:
    """Migrate the database to this version.

    Brings its tables to the form that this version needs; what is stored stays.
    """
    if distribute and partitions is not None:
        raise typer.BadParameter("Citus parts tables by itself: leave out --partitions")
    settings = settings_of(config, database_url=database_url, log_level=log_level)
    raise typer.Exit(
        server_main().migrate(settings, num_partitions=partitions, is_distributed=distribute)
    )


def rebuild(
    *, database_url: DatabaseUrl = None, log_level: LogLevel = None, config: Config = None
) -> None:
    """Rebuild the derived tables from the log.

    The log of events is the truth; everything else in the database is computed from it.
    """
    settings = settings_of(config, database_url=database_url, log_level=log_level)
    raise typer.Exit(server_main().rebuild(settings))


def settings_of(config: Path | None, **flags: str | float | None) -> "Settings":
    """Give the settings of flags, then variables, then the file; end the process if bad."""
    server_main()  # first, because the settings need it as well
    from spanwise_server.config import SettingsError, load_settings

    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return load_settings(given, config)
    except SettingsError as error:
        for line in str(error).splitlines():
            typer.echo(f"spanwise: {neutral(line)}", err=True)
        raise typer.Exit(2) from error


def server_main() -> ModuleType:
    """Give the module of the server that has its commands.

    Raises:
        MissingPackage: It is not installed.
    """
    try:
        from spanwise_server import main
    except ImportError as error:
        raise MissingPackage(
            f"this command needs the server ({error}): {INSTALL_SERVER}"
        ) from error
    return main
