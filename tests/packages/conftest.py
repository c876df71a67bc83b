"""The wheels, built and installed once per test run."""

from pathlib import Path

import pytest

from tests.support.programs.once import made_once
from tests.support.programs.wheels import build_wheels, environment_with


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("wheels")
    return made_once(tmp_path_factory.getbasetemp(), "wheels.made", lambda: build_wheels(folder))


@pytest.fixture(scope="session")
def installed(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with both wheels, without pip and without models."""
    folder = tmp_path_factory.mktemp("installed")
    return made_once(
        tmp_path_factory.getbasetemp(),
        "installed.made",
        lambda: environment_with(folder, list(wheels.values())),
    )
