"""kill -9 while a worker reads or sends: the next one does the rest, and nothing is lost."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bowerbird.clock import system_clock
from bowerbird.library.connections.connecting import Connecting
from bowerbird.library.connections.connections import Connections
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.media.keeping import Keeping
from bowerbird.library.media.kept import KeptImages, MediaPreferences
from bowerbird.model.connections import Problem
from bowerbird.settings import Settings
from bowerbird.storage.accounts.account_removal import AccountExportStore
from bowerbird.storage.files import Files
from bowerbird.storage.links import LinkStore
from tests.crash.killing import EMAIL, killed_and_finished, opened
from tests.support import make, serving
from tests.support.hosts import hooks
from tests.support.hosts.image_hosts import ImageHosts, X, image_hosts
from tests.support.hosts.links import JSON, NAMES, quoted, x_link, x_url
from tests.support.hosts.networks import ALICE_TOKEN, Networks, playing, status
from tests.support.posts import pictures
from tests.support.posts.keeping import image

pytestmark = pytest.mark.anyio

# `make crash` repeats it thousands of times.
KILLS = 2
LINKS = MESSAGES = 60
# A round asks one host for so many posts before it stores what it has.
PER_ROUND = 3
IMAGES = 300
POSTS = 600


async def prepared(settings: dict[str, Any], *commands: tuple[str, ...]) -> dict[str, str]:
    """The environment of a library with an account, after some commands."""
    environment = serving.environment_of(**settings)
    for command in (("account", "create", EMAIL), *commands):
        await asyncio.to_thread(serving.command, *command, environment=environment)
    return environment


async def test_a_killed_worker_loses_no_link(settings: dict[str, Any], tmp_path: Path) -> None:
    links = [x_link(number) for number in range(LINKS)]
    async with image_hosts(tmp_path, NAMES) as hosts:
        for link in links:
            body = json.dumps(quoted(link, f"Post {link}")).encode()
            hosts.put(x_url(link), body, headers=JSON)
        settings["fetch_posts"] = "on"
        await killed_and_finished(
            *("read_links", str(hosts.port), str(hosts.folder)),
            environment=await prepared(settings, ("save", EMAIL, *links)),
            kills=KILLS,
            done=lambda: len(hosts.requests),
            of=LINKS,
        )
        assert set(hosts.requests) == {x_url(link).removeprefix("https://") for link in links}
        assert len(hosts.requests) <= LINKS + KILLS * PER_ROUND
    async with opened(Settings(**settings)) as (database, account):
        counts = await LinkStore(database).counts(account.account_id)
        assert (counts.waiting, counts.left, account.total) == (0, 0, LINKS)
        [(whole,)] = await database.rows(
            "SELECT count(*) FROM bookmark WHERE account_id = :account_id AND completeness > 0",
            {"account_id": account.account_id},
        )
        assert whole == LINKS


async def test_a_killed_worker_loses_no_image(settings: dict[str, Any], tmp_path: Path) -> None:
    settings["keep_media"] = "on"
    async with image_hosts(tmp_path) as hosts:
        urls = put_images(hosts)
        file = str(posts_with(urls, tmp_path))
        await killed_and_finished(
            *("keep_images", str(hosts.port), str(hosts.folder)),
            environment=await prepared(settings, ("import", EMAIL, file)),
            kills=KILLS,
            done=lambda: len(hosts.requests),
            of=IMAGES,
        )
    await assert_kept(urls, hosts, Settings(**settings), KILLS)


def put_images(hosts: ImageHosts) -> list[str]:
    return [hosts.put(f"https://{X}/{n}.png", pictures.png(7 + n, 5)) for n in range(IMAGES)]


def posts_with(urls: list[str], folder: Path) -> Path:
    """A file of posts, each with one of the images."""
    file = folder / "posts.json"
    file.write_text(json.dumps([make.post(attachments=[image(url)]) for url in urls]))
    return file


async def assert_kept(urls: list[str], hosts: ImageHosts, settings: Settings, kills: int) -> None:
    files = Files(settings)
    assert files.folder is not None
    folder = files.folder / "media"

    def stored() -> set[str]:
        return {path.name for path in folder.rglob("*") if path.is_file()}

    async with opened(settings) as (database, account):
        kept = KeptImages(database, files)
        found = await kept.among(account, urls)
        assert len(found) == IMAGES
        for url, each in found.items():
            opened_file = await kept.open(account, each)
            content = b"".join([part async for part in opened_file.chunks])
            assert hosts.answers[url.removeprefix("https://")].endswith(b"\r\n\r\n" + content)
        state = await MediaPreferences(database, system_clock, settings).state(account)
        assert state.bytes == sum(each.bytes for each in found.values())
        before = stored()
        assert before >= {each.media_id for each in found.values()}
        # At most those that were being stored when the process was killed.
        assert len(before) <= IMAGES + 24 * kills
        await Keeping(database, files, system_clock, settings).delete_leftovers()
        assert stored() == before


async def test_a_killed_worker_loses_no_post_of_a_source_and_stores_none_twice(
    settings: dict[str, Any],
) -> None:
    async with playing() as networks:
        networks.statuses = [status(number) for number in range(POSTS, 0, -1)]
        settings |= networks.settings
        environment = await prepared(settings)
        await connect(networks, Settings(**settings))
        await killed_and_finished(
            "read_sources",
            environment=environment,
            kills=KILLS,
            done=lambda: len(networks.lists()),
            of=POSTS // 40,
        )
        # A life continues where the last one stopped, instead of at the top.
        assert len([one for one in networks.lists() if "max_id" not in one.query]) <= 2
    await assert_read(Settings(**settings))


async def connect(networks: Networks, settings: Settings) -> None:
    async with opened(settings) as (database, account):
        connections = Connections(database, system_clock)
        connecting = Connecting(database, system_clock, settings, connections)
        await connecting.mastodon(account.account_id, networks.address, ALICE_TOKEN)


async def assert_read(settings: Settings) -> None:
    async with opened(settings) as (database, account):
        assert account.total == POSTS
        pages = AccountExportStore(database).bookmarks(account)
        assert len({one async for page in pages for one in page}) == POSTS
        [listed] = (await ImportRuns(database, system_clock).list(account, 10, None)).runs
        assert (listed.counts.new, listed.state, listed.reason) == (POSTS, "finished", "end")
        [connection] = await Connections(database, system_clock).all(account.account_id)
        assert (connection.total, connection.problem) == (POSTS, Problem.NONE)


async def test_a_killed_worker_loses_no_message(settings: dict[str, Any]) -> None:
    links = [x_link(number) for number in range(MESSAGES)]
    async with hooks.receiving() as receiver:
        settings["webhooks_private_hosts"] = receiver.host
        environment = await prepared(
            settings,
            ("webhook", "add", EMAIL, receiver.url(), "--event", "post.created"),
            *(("save", EMAIL, *links[start : start + 20]) for start in range(0, MESSAGES, 20)),
        )
        await killed_and_finished(
            "send_messages",
            environment=environment,
            kills=KILLS,
            done=lambda: len(receiver.received),
            of=MESSAGES,
        )
    # In order, and what was sent twice has the same id.
    numbers = [int(one.message["data"]["id"]) for one in receiver.received]
    assert numbers == sorted(numbers)
    ids = [one.headers["webhook-id"] for one in receiver.received]
    assert len(set(ids)) == len(set(numbers)) == MESSAGES
    assert len(ids) <= MESSAGES + KILLS
