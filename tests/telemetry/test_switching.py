"""Traces are off by default and then cost no import; without the packages they are refused."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import serving

SERVE_AND_LIST_MODULES = """
import os, signal, sys
from bowerbird import server
from bowerbird.settings import Settings

async def stop(_):
    os.kill(os.getpid(), signal.SIGTERM)

server.run(Settings.from_env(os.environ), announce=stop)
print(*[name for name in sys.modules if name.startswith(("opentelemetry", "google.protobuf"))])
"""

# Hides the packages of the extra, as if they were not installed. The API is always there,
# because another package needs it.
WITHOUT_PACKAGES = """
import sys
from importlib.abc import MetaPathFinder

class Hidden(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter")):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
from bowerbird.cli import main
sys.argv = ["bowerbird", *sys.argv[1:]]
main()
"""


def run(code: str, *arguments: str, **settings: object) -> "subprocess.CompletedProcess[str]":
    known = {"port": serving.free_port(), "model_dir": os.devnull, "tool_preload": "off"}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=serving.environment_of(**known, **settings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_server_without_traces_imports_nothing_for_them(tmp_path: Path) -> None:
    off = run(SERVE_AND_LIST_MODULES, data_dir=tmp_path / "off")
    on = run(SERVE_AND_LIST_MODULES, data_dir=tmp_path / "on", traces="on")

    assert off.returncode == on.returncode == 0, off.stderr + on.stderr
    assert off.stdout.split() == []
    assert "opentelemetry.sdk.trace" in on.stdout.split()


@pytest.mark.parametrize(
    ("place", "command"), [("sqlite", "serve"), ("postgres", "worker")], indirect=["place"]
)
def test_without_the_packages_the_service_says_what_to_install(
    place: dict[str, Any], tmp_path: Path, command: str
) -> None:
    ran = run(WITHOUT_PACKAGES, command, data_dir=tmp_path / "data", traces="on", **place)

    assert ran.returncode == 1
    assert (
        "BOWERBIRD_TRACES=on needs packages that are not installed (the extra `telemetry`). Run: "
        "make telemetry in a checkout, or pipx inject bowerbird opentelemetry-sdk "
        "opentelemetry-exporter-otlp-proto-http for a package"
    ) in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "data" / "bowerbird.db").exists()


def test_without_the_packages_a_server_without_traces_starts(tmp_path: Path) -> None:
    command = (sys.executable, "-c", WITHOUT_PACKAGES)
    with serving.serving(tmp_path, command=command) as server:
        assert server.get("/healthz").status_code == 200
        assert server.stop() == 0


def test_a_variable_of_opentelemetry_that_is_invalid_prevents_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "0")
    environment = serving.environment_of(data_dir=tmp_path / "data", traces="on")
    ran = serving.bowerbird("serve", environment=environment)

    assert ran.returncode == 1
    assert "OpenTelemetry (OTEL_…) is invalid: max_queue_size must be" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_variable_of_opentelemetry_that_is_ignored_is_reported_without_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "quokkaesque")
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "quokkaesque")
    with serving.serving(tmp_path, traces="on") as server:
        [line] = [each for each in server.log() if each["event"] == "traces_variable_ignored"]
        assert server.stop() == 0

    assert line["level"] == "warning"
    assert "quokkaesque" not in server.errors()
