"""Settings of the server process: flags, then SPANWISE_* variables, then a YAML file."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings import SettingsError as SourceError

from spanwise_server.domain.retention import Ages, RetentionPolicy

PREFIX = "SPANWISE_"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"
"""Variable that names the YAML file where no flag does."""

MIB = 2**20
DAY_S = 24 * 60 * 60
MAX_PORT = 65_535
MAX_AGE_DAYS = 36_600


class Address(NamedTuple):
    """Where to serve. Port 0 stands for any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        """Give HOST:PORT, with brackets around an IPv6 address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class SettingsError(Exception):
    """Settings cannot be used. The text says which, what it is, and what to do."""


class KeptAges(BaseModel):
    """How long the executions of a scope are kept, in days. None: for ever."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    age_days: float | None = Field(default=None, gt=0, le=MAX_AGE_DAYS)
    failed_age_days: float | None = Field(default=None, gt=0, le=MAX_AGE_DAYS)
    silent_age_days: float | None = Field(default=None, gt=0, le=MAX_AGE_DAYS)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_yes_and_no(cls, value: object) -> object:
        if isinstance(value, bool):
            # Python takes it for 1 or 0, and an age of one day deletes nearly everything.
            raise ValueError("is a number of days or bytes, not true or false")  # noqa: TRY004 - pydantic wants it
        return value


class RetentionSettings(KeptAges):
    """What is deleted, and when; docs/retention.md explains each part."""

    max_bytes: int | None = Field(default=None, ge=MIB)
    sweep_interval_s: float = Field(default=600.0, ge=0.1, le=DAY_S)
    overrides: dict[str, KeptAges] = Field(default_factory=dict)

    @field_validator("overrides")
    @classmethod
    def _check_scopes(cls, overrides: dict[str, KeptAges]) -> dict[str, KeptAges]:
        for scope in overrides:
            if not re.fullmatch(r"[^/\s]+(/[^/\s]+)?", scope):
                raise ValueError(f"{scope!r} is not of the form PROJECT or PROJECT/DOMAIN")
        return overrides

    def policy(self) -> RetentionPolicy:
        """Give the rules. What an override does not set, it has from the next wider scope."""
        projects, domains = {}, {}
        for scope, ages in self.overrides.items():
            project, slash, domain = scope.partition("/")
            if slash:
                around = [self.overrides[project]] if project in self.overrides else []
                domains[project, domain] = _resolve(ages, *around, self)
            else:
                projects[project] = _resolve(ages, self)
        return RetentionPolicy(_resolve(self), projects, domains, self.max_bytes)


def _resolve(*scopes: KeptAges) -> Ages:
    """Give the ages of the first of these scopes, each of which lies in the next one."""

    def age_ns(name: str) -> int | None:
        said = (getattr(each, name) for each in scopes if name in each.model_fields_set)
        days = next(said, None)
        return None if days is None else round(days * DAY_S * 10**9)

    ended_ns = age_ns("age_days")
    says_failed = any("failed_age_days" in each.model_fields_set for each in scopes)
    failed_ns = age_ns("failed_age_days") if says_failed else ended_ns
    return Ages(ended_ns, failed_ns, age_ns("silent_age_days"))


class Settings(BaseSettings):
    """Everything that can be set. Each description gives the reason and the bounds."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    grpc_address: str = Field(
        default="127.0.0.1:8089",
        description=(
            "Where to serve gRPC, as HOST:PORT; [::1]:8089 for IPv6, port 0 for any free port."
            " The default is FlyteAdmin's port, reachable from this machine alone: there is no"
            " authentication yet. 0.0.0.0:8089 opens it to the network."
        ),
    )
    http_address: str = Field(
        default="127.0.0.1:8088",
        description=(
            "Where to serve the page and its API over HTTP, as HOST:PORT; `none` for neither. The"
            " default is FlyteAdmin's HTTP port, reachable from this machine alone: whoever reaches"
            " it reads everything, without authentication. See http-api.md."
        ),
    )
    http_hosts: str = Field(
        default="",
        description=(
            "Names that the page is reached by besides `localhost`, IP addresses and the names of"
            " this machine, separated by commas: for instance spanwise.example.com behind a proxy,"
            " or spanwise.flyte.svc in Kubernetes. A request for any other name is refused, so that"
            " a page from elsewhere that points its own name at this address reads nothing."
        ),
    )
    front: Literal["grpcio", "envoy"] = Field(
        default="grpcio",
        description=(
            "What speaks HTTP/2. `envoy` takes more calls a second than grpcio, and needs the"
            " extra of that name (docs/envoy.md); senders and readers notice no difference."
        ),
    )
    database_url: str = Field(
        default="sqlite:///spanwise.db",
        min_length=1,
        description=(
            "Where events are kept: sqlite:///PATH, or postgresql://USER:PASSWORD@HOST/DATABASE. A"
            " path without a leading slash is relative to the working directory. An SQLite file is"
            " created and migrated at the start; a PostgreSQL database must be there, and"
            " `spanwise migrate` makes its tables: see postgresql.md. With citus in place of"
            " postgresql, its tables are distributed: see scaling.md."
        ),
    )
    workers: int = Field(
        default=1,
        ge=1,
        le=64,
        description=(
            "Processes that take calls, on one address. One uses two cores under load, its own and"
            " that of its writer, and about 200 MB at rest, with a process for reads: 90 MB itself,"
            " 55 MB each of the others, as PSS on Linux. More than half as many as there are cores"
            " gain nothing. Connections are dealt out among them, and each stays with its worker,"
            " so a single sender uses a single worker: docs/processes.md. Above 64, run servers on"
            " more machines."
        ),
    )
    max_message_bytes: int = Field(
        default=64 * MIB,
        ge=4 * MIB,
        le=1024 * MIB,
        description=(
            "Largest request. FlytePropeller fails the user's node when an event is too large, and"
            " compiled dynamic workflows exceed gRPC's usual 4 MiB, so less than that is refused."
            " At most 1 GiB: protobuf ends at 2 GiB, and a request is held in memory twice."
        ),
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="Lowest level of log records. There are none for single calls that succeed.",
    )
    graceful_stop_s: float = Field(
        default=20.0,
        ge=0,
        le=3600,
        description=(
            "Seconds that running calls may take to finish after SIGTERM, and what was accepted to"
            " be committed, for which there are two at least. What hangs then is left: callers hear"
            " UNAVAILABLE, and the server ends within 4 s more. Both together are below the 30 s"
            " after which Kubernetes kills."
        ),
    )

    stale_after_s: int = Field(
        default=DAY_S,
        ge=60,
        le=366 * DAY_S,
        description=(
            "Seconds of silence after which a span that has not ended is flagged STALE. Senders"
            " report changes alone, so a task says nothing while it runs: set it above your longest"
            " quiet stretch. The default lets a training of a day pass; every open span tells when"
            " it was last heard of, whatever is set here. At least 60, because FlytePropeller looks"
            " at a workflow every 10 to 30 s; at most 366 days."
        ),
    )

    retention: RetentionSettings = Field(
        default=RetentionSettings(),
        description=(
            "Which executions are deleted after how many days; by default none ever is. A mapping"
            " in the file, a JSON object in the variable, no flag: age_days, failed_age_days,"
            " silent_age_days, max_bytes, sweep_interval_s, and overrides by PROJECT or"
            " PROJECT/DOMAIN. See docs/retention.md."
        ),
    )

    @field_validator("grpc_address")
    @classmethod
    def _check_address(cls, text: str) -> str:
        parse_address(text)
        return text

    @field_validator("http_address")
    @classmethod
    def _check_http_address(cls, text: str) -> str:
        parse_http_address(text)
        return text

    @field_validator("http_hosts")
    @classmethod
    def _check_http_hosts(cls, text: str) -> str:
        for name in split_hosts(text):
            if not re.fullmatch(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", name):
                raise ValueError(
                    f"{name!r} is not the name of a host; write names without port, for instance"
                    " spanwise.example.com"
                )
        return text


def load_settings(
    flags: Mapping[str, Any] | None = None, config_file: str | Path | None = None
) -> Settings:
    """Give the settings of this process.

    Args:
        flags: Values of flags that were given, by name of setting. They win over all others.
        config_file: YAML file with settings; None means the one that SPANWISE_CONFIG names, if any.

    Raises:
        SettingsError: The file cannot be read, or a value is not allowed.
    """
    path = config_file or os.environ.get(CONFIG_VARIABLE)
    from_file = _read_file(Path(path)) if path else {}

    class LayeredSettings(Settings):
        @classmethod
        def settings_customise_sources(  # the signature is pydantic's
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, InitSettingsSource(settings_cls, from_file)

    try:
        return LayeredSettings(**dict(flags or {}))
    except ValidationError as error:
        raise SettingsError("\n".join(map(_explain, error.errors()))) from error
    except SourceError as error:  # the only one that pydantic parses itself
        raise SettingsError(
            f"{PREFIX}RETENTION is {os.environ.get(f'{PREFIX}RETENTION')!r}: write a JSON object,"
            ' for instance {"age_days": 90}'
        ) from error


def without_password(url: str) -> str:
    """Give a database URL as it may stand in a log or on a screen."""
    url = re.sub(r"(://[^/@:]*):.*@", r"\1:***@", url)
    return re.sub(r"([?&](?:ssl)?password=)[^&]*", r"\1***", url)


def parse_http_address(text: str) -> Address | None:
    """Give the parts of HOST:PORT; None for `none` and for nothing.

    Raises:
        ValueError: It is of neither form.
    """
    if text in ("", "none"):
        return None
    try:
        return parse_address(text)
    except ValueError as error:
        raise ValueError(f"{error}; or none, to serve no page") from error


def split_hosts(text: str) -> list[str]:
    """Give the names of http_hosts."""
    return [name.strip() for name in text.split(",") if name.strip()]


def parse_address(text: str) -> Address:
    """Give the parts of HOST:PORT.

    Raises:
        ValueError: It is not of that form.
    """
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if bracketed else host
    if not colon or not host or (":" in host) != bracketed:
        raise ValueError("write HOST:PORT, for instance 127.0.0.1:8089 or [::1]:8089")
    if not (port.isascii() and port.isdigit()) or int(port) > MAX_PORT:
        raise ValueError(f"the port is a number from 0 to {MAX_PORT}")
    return Address(host, int(port))


def _read_file(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not YAML: {error}") from error
    if values is None:  # an empty file
        return {}
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
        raise SettingsError(f"{path} must hold lines of the form `setting: value`")
    return values


def _explain(problem: ErrorDetails) -> str:
    setting, *inside = map(str, problem["loc"])
    name = ".".join([setting, *inside])
    if problem["type"] == "extra_forbidden":
        known = ", ".join(sorted(_fields_around(inside)))
        return f"there is no setting {name}; there are {known}"
    reason = problem["msg"].removeprefix("Value error, ")
    if setting == "retention":
        return f"{name} is {problem['input']!r}: {reason} ({PREFIX}RETENTION, or in the file)"
    return (
        f"{name} is {problem['input']!r}: {reason}"
        f" (--{name.replace('_', '-')}, {PREFIX}{name.upper()}, or {name} in the file)"
    )


def _fields_around(inside: Sequence[str]) -> Iterable[str]:
    """Give the names that are allowed where an unknown one was found, `inside` of a setting."""
    if not inside:
        return Settings.model_fields
    return KeptAges.model_fields if len(inside) > 1 else RetentionSettings.model_fields
