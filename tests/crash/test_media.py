"""kill -9 while images are downloaded: the next worker keeps the rest, and none is lost."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.media.keeping import Keeping
from bowerbird.library.media.kept import KeptImages, MediaPreferences
from bowerbird.settings import Settings
from bowerbird.storage.files import Files
from tests.crash import killing
from tests.support import make, pictures, serving, waiting
from tests.support.image_hosts import ImageHosts, X, image_hosts
from tests.support.keeping import image

pytestmark = pytest.mark.anyio
EMAIL = "you@example.com"
IMAGES = 300
# `make crash` repeats it thousands of times.
KILLS = 2


async def test_a_killed_worker_loses_no_image(settings: dict[str, Any], tmp_path: Path) -> None:
    settings["keep_media"] = "on"
    environment = serving.environment_of(**settings)
    async with image_hosts(tmp_path) as hosts:
        urls = put_images(hosts)
        file = posts_with(urls, tmp_path)
        for command in (("account", "create", EMAIL), ("import", EMAIL, str(file))):
            await asyncio.to_thread(serving.command, *command, environment=environment)
        keeper = ("media_keeper", EMAIL, str(hosts.port), str(hosts.folder))
        for life in range(1, KILLS + 1):
            child = await killing.started(*keeper, environment=environment)
            await waiting.until(lambda n=life: has_sent(hosts, n * IMAGES // (KILLS + 2)))  # type: ignore[misc]
            child.kill()
            assert await child.wait() == -signal.SIGKILL
        child = await killing.started(*keeper, environment=environment)
        async with asyncio.timeout(600):
            assert await child.wait() == 0
    await assert_stored(urls, hosts, Settings(**settings), KILLS)


def put_images(hosts: ImageHosts) -> list[str]:
    return [hosts.put(f"https://{X}/{n}.png", pictures.png(7 + n, 5)) for n in range(IMAGES)]


def posts_with(urls: list[str], folder: Path) -> Path:
    """A file of posts, each with one of the images."""
    file = folder / "posts.json"
    file.write_text(json.dumps([make.post(attachments=[image(url)]) for url in urls]))
    return file


async def has_sent(hosts: ImageHosts, count: int) -> bool:
    return len(hosts.requests) >= count


async def assert_stored(urls: list[str], hosts: ImageHosts, settings: Settings, kills: int) -> None:
    async with opened_library(settings) as opened:
        database, files = opened.database, Files(settings)
        account = await Accounts(database, system_clock).find(EMAIL)
        kept = KeptImages(database, files)
        found = await kept.among(account, urls)
        assert len(found) == IMAGES
        for url, each in found.items():
            opened_file = await kept.open(account, each)
            content = b"".join([part async for part in opened_file.chunks])
            assert hosts.answers[url.removeprefix("https://")].endswith(b"\r\n\r\n" + content)
        state = await MediaPreferences(database, system_clock, settings).state(account)
        assert state.bytes == sum(each.bytes for each in found.values())
        assert files.folder is not None
        stored = {path.name for path in (files.folder / "media").rglob("*") if path.is_file()}
        assert stored >= {each.media_id for each in found.values()}
        # At most those that were being stored when the process was killed.
        assert len(stored) <= IMAGES + 24 * kills
        keeping = Keeping(database, files, system_clock, settings)
        await keeping.delete_leftovers()
        assert {
            path.name for path in (files.folder / "media").rglob("*") if path.is_file()
        } == stored
