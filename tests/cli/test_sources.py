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
from tests.cli.libraries import EMAIL, Library, sqlite_library
from tests.support.hosts.networks import ALICE_TOKEN, playing


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """A library whose account has a source."""
    library = sqlite_library(tmp_path)
    library.run("account", "create", EMAIL)
    asyncio.run(connect(tmp_path))
    return library


async def connect(folder: Path) -> None:
    async with playing() as networks:
        settings = Settings(data_dir=folder, **networks.settings)  # type: ignore[arg-type]
        async with opened_library(settings) as opened:
            account = await Accounts(opened.database, system_clock).find(EMAIL)
            connections = Connections(opened.database, system_clock)
            connecting = Connecting(opened.database, system_clock, settings, connections)
            await connecting.mastodon(account.account_id, networks.address, ALICE_TOKEN)


def listed(library: Library) -> list[list[str]]:
    printed = library.run("sources", "list", EMAIL).text
    assert ALICE_TOKEN not in printed
    return [line.split("\t") for line in printed.splitlines()]


def test_a_source_is_listed_paused_run_and_disconnected(library: Library) -> None:
    [[source, network, name, state, last, _, new, total, *problem]] = listed(library)
    assert (network, state, last, new, total) == ("Mastodon", "active", "never", "0", "0")
    assert problem == [""]
    assert name.startswith("alice@127.0.0.1")

    library.run("sources", "pause", EMAIL, source)
    assert listed(library)[0][3] == "paused"
    library.run("sources", "run", EMAIL, source)
    assert listed(library)[0][3] == "active"
    said = library.run("sources", "disconnect", EMAIL, source)

    assert said.text == f"Disconnected Mastodon {name}.\n"
    assert listed(library) == []
