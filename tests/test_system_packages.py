"""System packages: `make serve` names missing ones; `make fonts` and `make test` install them."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FONTS = "fontconfig fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji"
CHROMIUM = " chromium chromium-headless-shell"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Programs of a Debian without our packages, whose apt-get only writes down how it is run."""
    programs = {
        "dpkg-query": "exit 1",
        "apt-get": f'echo "$@" >> {tmp_path}/installed',
        "sudo": 'shift; "$@"',
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o700)
    return tmp_path


def run(machine: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PATH": f"{machine}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )


def test_the_check_names_what_is_missing_and_installs_nothing(machine: Path) -> None:
    ran = run(machine, "sh", "requirements/system.sh", "fonts", "--check")

    assert ran.stderr == (
        f"Not installed: {FONTS}. PDF exports show text without a font as empty boxes. "
        "To install them with apt-get, run: make fonts\n"
    )
    assert not (machine / "installed").exists()


@pytest.mark.parametrize(
    ("kind", "more"),
    [("fonts", ""), ("tests", CHROMIUM), ("all-tests", f"{CHROMIUM} firefox-esr pgbouncer")],
)
def test_packages_are_named_and_installed(machine: Path, kind: str, more: str) -> None:
    ran = run(machine, "sh", "requirements/system.sh", kind)

    named = f"Installing these system packages with apt-get: {FONTS}{more}\n"
    assert ran.stdout == named
    installed = (machine / "installed").read_text()
    assert installed == f"install --yes --quiet --no-install-recommends {FONTS}{more}\n"


@pytest.mark.parametrize("target", ["serve", "install", "check"])
def test_only_two_targets_install_system_packages(target: str, tmp_path: Path) -> None:
    """`--always-make` lists the commands of a machine on which nothing is done yet."""
    listed = run(tmp_path, "make", "--dry-run", "--always-make", target).stdout
    commands = [line for line in listed.splitlines() if "system.sh" in line]

    assert all(line.endswith("fonts --check") for line in commands)
    assert "apt-get" not in listed
