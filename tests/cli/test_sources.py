"""`sources`: what an operator sees and does about the sources of an account."""

import asyncio
from pathlib import Path

import pytest

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.connections.connecting import Connecting
from bowerbird.library.connections.connections import Connections
from bowerbird.settings import Settings
from tests.support import serving
from tests.support.networks import ALICE_TOKEN, playing

EMAIL = "you@example.com"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A library whose account has a source."""
    environment = serving.environment_of(data_dir=tmp_path)
    serving.command("account", "create", EMAIL, environment=environment)
    asyncio.run(connect(tmp_path))
    return environment


async def connect(folder: Path) -> None:
    async with playing() as networks:
        settings = Settings(data_dir=folder, **networks.settings)  # type: ignore[arg-type]
        async with opened_library(settings) as opened:
            account = await Accounts(opened.database, system_clock).find(EMAIL)
            connections = Connections(opened.database, system_clock)
            connecting = Connecting(opened.database, system_clock, settings, connections)
            await connecting.mastodon(account.account_id, networks.address, ALICE_TOKEN)


def listed(environment: dict[str, str]) -> list[list[str]]:
    printed = serving.command("sources", "list", EMAIL, environment=environment)
    assert ALICE_TOKEN not in printed
    return [line.split("\t") for line in printed.splitlines()]


def test_a_source_is_listed_paused_run_and_disconnected(environment: dict[str, str]) -> None:
    [[source, network, name, state, last, _, new, total, *problem]] = listed(environment)
    assert (network, state, last, new, total) == ("Mastodon", "active", "never", "0", "0")
    assert problem == []
    assert name.startswith("alice@127.0.0.1")

    serving.command("sources", "pause", EMAIL, source, environment=environment)
    assert listed(environment)[0][3] == "paused"
    serving.command("sources", "run", EMAIL, source, environment=environment)
    assert listed(environment)[0][3] == "active"
    said = serving.command("sources", "disconnect", EMAIL, source, environment=environment)

    assert said == f"Disconnected Mastodon {name}."
    assert listed(environment) == []
