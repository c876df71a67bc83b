"""A worker that is killed while it reads a source or keeps images."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from endurance.kills.trials import EMAIL, Kind, Library, Trial
from tests.crash import programs, test_workers
from tests.crash.killing import Moment
from tests.support.hosts.image_hosts import ImageHosts, image_hosts
from tests.support.hosts.networks import Networks, playing, status

# 15 s in production. A job can be claimed again so long after its worker was killed.
_LEASE_S: Final = 1.0

Ready = Callable[[dict[str, Any], Any], None]


def _play_networks(_: Path, ready: Ready) -> None:
    async def play() -> None:
        async with playing() as networks:
            networks.statuses = [status(number) for number in range(test_workers.POSTS, 0, -1)]
            ready(dict(networks.settings), networks.port)
            await asyncio.Event().wait()

    asyncio.run(play())


def _connect(library: Library) -> None:
    asyncio.run(test_workers.connect(Networks(port=library.beside), library.settings))


def _read_source(trial: Trial) -> None:
    trial.until_finished(
        lambda report: asyncio.run(programs.read_sources(report, lease_s=_LEASE_S)),
        Moment(0, 3, 0.05),
    )
    asyncio.run(test_workers.assert_read(trial.settings))


def _play_image_hosts(folder: Path, ready: Ready) -> None:
    async def play() -> None:
        async with image_hosts(folder) as hosts:
            test_workers.put_images(hosts)
            ready({"keep_media": "on"}, (folder, hosts.port))
            await asyncio.Event().wait()

    asyncio.run(play())


def _import_images(library: Library) -> None:
    folder, _ = library.beside
    urls = test_workers.put_images(ImageHosts(folder))
    library.command("import", EMAIL, str(test_workers.posts_with(urls, library.folder)))


def _keep_images(trial: Trial) -> None:
    folder, port = trial.library.beside
    trial.until_finished(
        lambda report: asyncio.run(programs.keep_images(port, folder, report, lease_s=_LEASE_S)),
        Moment(0, 2, 0.2),
    )
    # Those that this process would fetch, to compare them with what was kept.
    hosts = ImageHosts(folder)
    urls = test_workers.put_images(hosts)
    asyncio.run(test_workers.assert_kept(urls, hosts, trial.settings, trial.kills))


SOURCES: Final = Kind(_read_source, _connect, stand_in=_play_networks)
MEDIA: Final = Kind(_keep_images, _import_images, stand_in=_play_image_hosts)
