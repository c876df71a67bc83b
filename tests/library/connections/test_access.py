"""Tokens are stored encrypted, shown nowhere, and deleted with the connection."""

import stat
from pathlib import Path

import msgspec
import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.connections.records import FILE, CannotOpen, Tokens, Vault
from bowerbird.errors import Refusal
from bowerbird.library.access.activity import Activity
from bowerbird.library.accounts.account_export import AccountDownload
from bowerbird.library.connections.connections import Connections
from bowerbird.model.accounts import ActivityKind
from bowerbird.model.arrival import RunState
from bowerbird.model.connections import ConnectionState, Problem
from bowerbird.settings import Settings
from bowerbird.storage.accounts.account_removal import AccountRemoval
from bowerbird.storage.files import Files
from tests.support import ingesting
from tests.support.hosts.networks import ALICE_TOKEN, Networks, Reply, status
from tests.support.posts.sources import Desk
from tests.support.service import Service

pytestmark = pytest.mark.anyio
SECRETS = (ALICE_TOKEN, "access-1", "refresh-1", "x-access", "x-refresh", "sec/ret")


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(FILE)]


async def test_stored_tokens_cannot_be_read_without_the_key(desk: Desk, tmp_path: Path) -> None:
    connection = await desk.mastodon()

    assert ALICE_TOKEN.encode() not in connection.sealed
    assert ALICE_TOKEN not in repr(connection)
    assert repr(Tokens(ALICE_TOKEN)) == "Tokens()"
    file = tmp_path / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(file.read_text().strip()) == 64
    assert sorted(path.name for path in files_in(tmp_path)) == [FILE]


async def test_the_same_token_is_encrypted_differently_each_time(tmp_path: Path) -> None:
    vault = Vault(Settings(data_dir=tmp_path), str, "texts")

    first, second = vault.seal("secret", "1/a"), vault.seal("secret", "1/a")

    assert first != second
    assert vault.open(first, "1/a") == vault.open(second, "1/a") == "secret"
    for place in ("1/b", "2/a", ""):
        with pytest.raises(CannotOpen):
            vault.open(first, place)
    for damaged in (b"", b"1", first[:-1], b"2" + first[1:], first[:20] + b"\0" + first[21:]):
        with pytest.raises(CannotOpen):
            vault.open(damaged, "1/a")


async def test_a_setting_replaces_the_file(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, sources_key="k" * 32)

    sealed = Vault(settings, str, "texts").seal("secret", "1/a")

    assert not (tmp_path / FILE).exists()
    assert Vault(settings, str, "texts").open(sealed, "1/a") == "secret"
    with pytest.raises(CannotOpen):
        Vault(Settings(data_dir=tmp_path, sources_key="l" * 32), str, "texts").open(sealed, "1/a")


@pytest.mark.parametrize("how", ["another", "missing", "empty"])
async def test_without_the_key_the_person_is_asked_to_connect_again(
    desk: Desk, networks: Networks, tmp_path: Path, how: str
) -> None:
    """As after a backup of the database was restored on another machine."""
    networks.statuses = [status(1)]
    connection = await desk.mastodon()
    if how == "missing":
        (tmp_path / FILE).unlink()
    else:
        (tmp_path / FILE).write_text("f" * 64 if how == "another" else "")
    later = Desk(desk.member, networks, tmp_path)

    await later.run()

    found = await later.one(connection)
    assert found.problem is Problem.UNREADABLE_TOKEN
    assert networks.lists() == []
    if how == "empty":
        with pytest.raises(Refusal, match=r"sources.key in the data folder is too short"):
            await later.mastodon()
        return
    await later.mastodon()
    await later.run()
    assert (await later.one(connection)).problem is Problem.NONE
    assert await later.texts() == ["Status number 1"]


@pytest.mark.both
async def test_disconnecting_deletes_tokens_and_no_posts(desk: Desk, networks: Networks) -> None:
    networks.statuses = [status(number) for number in range(50, 0, -1)]
    connection = await desk.mastodon()
    assert await desk.step(connection)

    await desk.connections.disconnect(await desk.member.account(), connection.connection_id)

    assert await desk.all() == []
    assert not await desk.step(connection)
    assert len(await desk.texts()) == 40
    [run] = await desk.runs()
    assert run.state == RunState.INTERRUPTED
    entries = await Activity(desk.member.database).page(desk.account_id)
    kinds = [one.kind for one in entries]
    assert ActivityKind.SOURCE_CONNECTED in kinds
    assert ActivityKind.SOURCE_DISCONNECTED in kinds


async def test_a_paused_source_is_not_read_until_resumed(desk: Desk, networks: Networks) -> None:
    networks.statuses = [status(number) for number in range(50, 0, -1)]
    connection = await desk.mastodon()
    assert await desk.step(connection)
    await desk.connections.pause(desk.account_id, connection.connection_id)

    await desk.an_hour_later()

    assert len(networks.lists()) == 1
    assert (await desk.one(connection)).state is ConnectionState.PAUSED
    await desk.connections.run_now(desk.account_id, connection.connection_id)
    await desk.run()
    assert len(await desk.texts()) == 50
    assert len(networks.lists()) == 2


@pytest.mark.both
async def test_no_token_is_in_the_export_of_an_account(desk: Desk, tmp_path: Path) -> None:
    for connect in (desk.mastodon, desk.bluesky):
        await connect()
        desk.wait(1)
    await desk.x(is_confirmed=False)
    download = AccountDownload(
        desk.member.database, Files(Settings(data_dir=tmp_path)), desk.member.clock
    )

    parts = [part async for part in await download.start(await desk.member.account())]

    text = b"".join(parts).decode()
    assert not [secret for secret in SECRETS if secret in text]
    names = [one["network"] for one in msgspec.json.decode(text)["sources"]]
    assert names == ["mastodon", "bluesky", "x"]


async def test_deleting_an_account_deletes_its_tokens_first(desk: Desk) -> None:
    await desk.mastodon()

    await AccountRemoval(desk.member.database, desk.account_id).hide()

    assert await desk.all() == []


async def test_bounds_are_checked(desk: Desk) -> None:
    connection = await desk.mastodon()
    for interval_s, posts in ((60, 2_000), (86_401, 2_000), (3_600, 89), (3_600, 100_001)):
        with pytest.raises(Refusal):
            await desk.bound(connection, posts, interval_s)

    await desk.bound(connection, 90, 21_600)

    assert (await desk.one(connection)).interval_s == 21_600


@pytest.mark.both
async def test_devices_are_listed_with_their_last_run(cast: Service) -> None:
    connections = Connections(cast.database, cast.clock)
    laptop = await ingesting.device(cast, cast.alice)
    await ingesting.device(cast, cast.alice, "phone")
    await ingesting.device(cast, cast.bob, "of bob")
    await laptop.read_list("full", [3, 2], [1])

    listed = {one.device.name: one for one in await connections.devices(await cast.alice.account())}

    assert listed.keys() == {"laptop", "phone"}
    run = listed["laptop"].run
    assert run is not None
    assert (run.state, run.updated_at) == ("finished", cast.clock())
    assert listed["laptop"].counts.new == 3
    assert (listed["phone"].run, listed["phone"].counts.new) == (None, 0)

    listing = (await laptop.start("incremental"))["run_id"]
    await laptop.send(listing, 0, ingesting.listed([5, 4]))
    # The extension also sends posts that the person opens, in runs that list nothing.
    await laptop.finish((await laptop.start("incremental"))["run_id"], "end")
    cast.clock.now += 2 * 3_600 * MICROSECONDS

    listed = {one.device.name: one for one in await connections.devices(await cast.alice.account())}
    run = listed["laptop"].run
    assert run is not None
    assert (run.run_id, run.state) == (listing, "interrupted")


@pytest.mark.both
async def test_no_token_is_in_the_log(
    desk: Desk, networks: Networks, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Refusal):
        await desk.mastodon("wrong-token")
    for connect in (desk.mastodon, desk.bluesky, desk.x):
        await connect()
    networks.answer_always("/bookmarks", Reply(500, b"x-access-1 " + ALICE_TOKEN.encode()))
    networks.sessions.clear()
    await desk.run()
    networks.special.clear()
    networks.x_tokens.clear()
    desk.wait(7_200)
    await desk.run()

    said = "".join(capsys.readouterr())

    # Three of the first run, and X again: Bluesky waits for its person.
    assert said.count("source not read") == 4
    assert not [secret for secret in (*SECRETS, "wrong-token", "secret") if secret in said]
