"""The systemd units are complete, and restricted."""

import pytest

from bowerbird.cli import program
from bowerbird.settings import Settings
from tests.deploy.named_settings import DEPLOY, KNOWN, settings_in

UNITS = ("bowerbird.service", "bowerbird-worker.service")
REQUIRED = {
    *("NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes"),
    *("PrivateDevices=yes", "CapabilityBoundingSet=", "RestrictNamespaces=yes"),
    *("SystemCallFilter=@system-service", "UMask=0077", "StateDirectoryMode=0700"),
}


def lines(unit: str) -> list[str]:
    text = (DEPLOY / "systemd" / unit).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def value(unit: str, name: str) -> str:
    [found] = [line for line in lines(unit) if line.startswith(f"{name}=")]
    return found.partition("=")[2]


@pytest.mark.parametrize("unit", UNITS)
def test_every_line_is_a_section_or_a_directive(unit: str) -> None:
    sections = [line for line in lines(unit) if line.startswith("[")]

    assert sections == ["[Unit]", "[Service]", "[Install]"]
    assert [line for line in lines(unit) if line not in sections and "=" not in line] == []


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_is_restricted_and_not_root(unit: str) -> None:
    assert set(lines(unit)) >= REQUIRED
    assert value(unit, "User") == "bowerbird"


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_starts_a_command_with_settings_that_exist(unit: str) -> None:
    path, command = value(unit, "ExecStart").split()

    assert path == "/opt/bowerbird/.venv/bin/bowerbird"
    assert command in program.load_all()
    assert settings_in("\n".join(lines(unit))) <= KNOWN
    assert f"BOWERBIRD_DATA_DIR=/var/lib/{value(unit, 'StateDirectory')}" in "".join(lines(unit))


def test_stopping_may_take_as_long_as_the_service_needs() -> None:
    assert int(value(UNITS[0], "TimeoutStopSec")) > Settings().stop_timeout_s


def test_both_units_have_the_same_restrictions() -> None:
    differing = set(lines(UNITS[0])) ^ set(lines(UNITS[1]))

    assert {line.partition("=")[0] for line in differing} == {"Description", "ExecStart"}
