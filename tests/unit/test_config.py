"""Settings of the server."""

import json
from pathlib import Path

import pytest

from spanwise_server.config import (
    Address,
    Settings,
    SettingsError,
    load_settings,
    parse_address,
    parse_http_address,
    without_password,
)
from spanwise_server.domain.retention import Ages, RetentionPolicy

VALUES: dict[str, tuple[object, object, object]] = {
    "grpc_address": ("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"),
    "http_address": ("none", "127.0.0.1:5", "127.0.0.1:6"),
    "http_hosts": ("a.example", "b.example,c", "d"),
    "front": ("envoy", "grpcio", "envoy"),
    "database_url": ("sqlite:///1.db", "sqlite:///2.db", "sqlite:///3.db"),
    "workers": (2, 3, 4),
    "max_message_bytes": (5_000_000, 6_000_000, 7_000_000),
    "log_level": ("debug", "warning", "error"),
    "graceful_stop_s": (1.5, 2.5, 3.5),
    "stale_after_s": (100, 200, 300),
    "retention": ({"age_days": 1.5}, {"age_days": 2.5}, {"age_days": 3.5}),
}


def value_of(settings: Settings, name: str) -> object:
    """Give what was set for a setting."""
    return settings.model_dump(exclude_unset=True)[name]


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """Give a file with the third value of every setting."""
    path = tmp_path / "spanwise.yaml"
    path.write_text("".join(f"{name}: {values[2]}\n" for name, values in VALUES.items()))
    return path


def test_every_setting_is_tested_here() -> None:
    """So that none is left out of an order of precedence."""
    assert set(VALUES) == set(Settings.model_fields)


@pytest.mark.parametrize("name", VALUES)
def test_flags_win_over_variables_and_variables_over_the_file(
    name: str, config_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every setting alone."""
    flag, variable, line = VALUES[name]
    assert value_of(load_settings(config_file=config_file), name) == line
    text = json.dumps(variable) if isinstance(variable, dict) else str(variable)
    monkeypatch.setenv(f"SPANWISE_{name.upper()}", text)
    assert value_of(load_settings(config_file=config_file), name) == variable
    assert value_of(load_settings({name: flag}, config_file), name) == flag


def test_a_variable_may_name_the_file(config_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no flag does."""
    monkeypatch.setenv("SPANWISE_CONFIG", str(config_file))
    assert load_settings().database_url == "sqlite:///3.db"


def test_without_any_source_the_server_is_local() -> None:
    """FlyteAdmin's port, reachable from this machine alone."""
    assert load_settings().grpc_address == "127.0.0.1:8089"
    assert load_settings().http_address == "127.0.0.1:8088"


@pytest.mark.parametrize("text", ["", "none"])
def test_the_page_can_be_left_out(text: str) -> None:
    """By a word, or by nothing."""
    assert parse_http_address(text) is None


@pytest.mark.parametrize("name", VALUES)
def test_every_setting_states_its_reason(name: str) -> None:
    """More than its name says."""
    description = Settings.model_fields[name].description
    assert description is not None
    assert len(description) > 60


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:8089", Address("127.0.0.1", 8089)),
        ("localhost:0", Address("localhost", 0)),
        ("[::1]:65535", Address("::1", 65535)),
        ("[::]:8089", Address("::", 8089)),
    ],
)
def test_an_address_is_host_and_port(text: str, expected: Address) -> None:
    """And is printed as it is written."""
    assert parse_address(text) == expected
    assert str(expected) == text


@pytest.mark.parametrize(
    "text",
    ["", "8089", ":8089", "host", "host:", "host:x", "host:65536", "host:-1", "::1:80", "[h]:1"],
)
def test_another_address_is_refused(text: str) -> None:
    """With the form that is wanted, or the bounds of a port."""
    with pytest.raises(ValueError, match=r"HOST:PORT|0 to 65535"):
        parse_address(text)


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        ({"grpc_address": "8089"}, ["grpc_address", "'8089'", "HOST:PORT", "--grpc-address"]),
        ({"max_message_bytes": 1}, ["max_message_bytes", "1", "4194304"]),
        ({"log_level": "loud"}, ["log_level", "'loud'", "'debug'", "SPANWISE_LOG_LEVEL"]),
        ({"graceful_stop_s": -1}, ["graceful_stop_s", "-1"]),
        ({"stale_after_s": 59}, ["stale_after_s", "59", "60"]),
        ({"stale_after_s": 10**9}, ["stale_after_s", "1000000000", "31622400"]),
        ({"database_url": ""}, ["database_url", "''"]),
        ({"colour": "red"}, ["colour", "grpc_address"]),
        ({"retention": {"age_days": 0}}, ["retention.age_days", "0", "SPANWISE_RETENTION"]),
        ({"retention": {"age_days": True}}, ["retention.age_days", "not true or false"]),
        ({"retention": {"overrides": {"a/b/c": {}}}}, ["retention.overrides", "'a/b/c'"]),
        ({"retention": {"overrides": {"a ": {}}}}, ["retention.overrides", "'a '"]),
        ({"retention": {"sweep_interval_s": 0.01}}, ["retention.sweep_interval_s", "0.01"]),
        ({"retention": {"max_bytes": 5}}, ["retention.max_bytes", "5", "1048576"]),
        ({"retention": {"ages": 5}}, ["retention.ages", "age_days", "overrides"]),
        ({"retention": {"overrides": {"p/": {}}}}, ["retention.overrides", "'p/'", "PROJECT/D"]),
        (
            {"retention": {"overrides": {"p": {"max_bytes": 5}}}},
            ["retention.overrides.p.max_bytes", "failed_age_days"],
        ),
    ],
)
def test_a_bad_value_is_told_with_its_setting_and_what_to_do(
    flags: dict[str, object], parts: list[str]
) -> None:
    """In one line."""
    with pytest.raises(SettingsError) as refused:
        load_settings(flags)
    assert "\n" not in str(refused.value)
    for part in parts:
        assert part in str(refused.value)


def test_several_bad_values_are_told_at_once() -> None:
    """A line each."""
    with pytest.raises(SettingsError) as refused:
        load_settings({"grpc_address": "x", "graceful_stop_s": -1})
    assert len(str(refused.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("a: [", "not YAML"),
        ("- a\n- b\n", "setting: value"),
        ("1: 2\n", "setting: value"),
        ("colour: red\n", "no setting colour"),
        ("log_level: loud\n", "log_level"),
    ],
)
def test_a_bad_file_is_told(content: str, part: str, tmp_path: Path) -> None:
    """With its name, or the setting in it."""
    path = tmp_path / "spanwise.yaml"
    path.write_text(content)
    with pytest.raises(SettingsError, match=part):
        load_settings(config_file=path)


def test_an_empty_file_sets_nothing(tmp_path: Path) -> None:
    """A template with comments alone is one."""
    path = tmp_path / "spanwise.yaml"
    path.write_text("# grpc_address: 0.0.0.0:8089\n")
    assert load_settings(config_file=path).model_dump() == load_settings().model_dump()


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    """It was asked for, so the defaults would surprise."""
    with pytest.raises(SettingsError, match="No such file"):
        load_settings(config_file=tmp_path / "none.yaml")


def test_a_variable_that_is_no_json_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the form that is wanted."""
    monkeypatch.setenv("SPANWISE_RETENTION", "90 days")
    with pytest.raises(SettingsError, match=r"SPANWISE_RETENTION is '90 days': write a JSON"):
        load_settings()


def test_nothing_is_deleted_by_default() -> None:
    """Whoever wants it has to say so."""
    assert load_settings().retention.policy() == RetentionPolicy()


def test_an_override_has_what_it_does_not_set_from_the_next_wider_scope() -> None:
    """And null, which is for ever, is something that is set."""
    retention = {
        "age_days": 1,
        "failed_age_days": 2,
        "silent_age_days": 3,
        "max_bytes": 2**30,
        "overrides": {
            "p": {"age_days": 10, "silent_age_days": None},
            "p/d": {"failed_age_days": 20},
            "q/d": {"age_days": 30},
        },
    }
    policy = load_settings({"retention": retention}).retention.policy()
    day_ns = 24 * 60 * 60 * 10**9
    assert policy == RetentionPolicy(
        default=Ages(day_ns, 2 * day_ns, 3 * day_ns),
        projects={"p": Ages(10 * day_ns, 2 * day_ns, None)},
        domains={
            ("p", "d"): Ages(10 * day_ns, 20 * day_ns, None),
            ("q", "d"): Ages(30 * day_ns, 2 * day_ns, 3 * day_ns),
        },
        max_bytes=2**30,
    )


def test_failures_are_kept_as_long_as_the_rest_where_nothing_else_is_said() -> None:
    """And not for ever."""
    policy = load_settings({"retention": {"age_days": 1}}).retention.policy()
    assert policy.default == Ages(86_400 * 10**9, 86_400 * 10**9, None)


def test_a_password_is_not_shown() -> None:
    """Neither on the screen nor in a log."""
    assert without_password("postgresql://u:se:c@ret@h/db") == "postgresql://u:***@h/db"
    url = "postgresql://h/db?user=u&password=se@cret&sslmode=require"
    assert without_password(url) == "postgresql://h/db?user=u&password=***&sslmode=require"
    url = "postgresql://h/db?sslpassword=se@cret&sslmode=require"
    assert without_password(url) == "postgresql://h/db?sslpassword=***&sslmode=require"
    assert without_password("sqlite:////var/lib/x.db") == "sqlite:////var/lib/x.db"
