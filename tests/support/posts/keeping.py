"""An account whose posts have images, and the turns of its worker."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bowerbird.jobs.account_jobs import media_jobs
from bowerbird.library.media.keeping import Keeping
from bowerbird.library.media.kept import KeptImages, MediaPreferences, MediaState
from bowerbird.settings import Settings
from bowerbird.storage.files import Files
from tests.support.hosts.image_hosts import ImageHosts, X
from tests.support.posts import pictures
from tests.support.service import Member


def image(url: str, **fields: Any) -> dict[str, Any]:
    return {"type": "image", "url": url, **fields}


def video(url: str, poster: str) -> dict[str, Any]:
    return {"type": "video", "url": url, "preview_image": poster}


async def no_report(_done: int, _total: int) -> None:
    pass


@dataclass
class Shelf:
    """The kept images of one account."""

    member: Member
    hosts: ImageHosts
    folder: Path
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.settings = Settings(**{"data_dir": self.folder, "keep_media": "on", **self.options})
        member = self.member
        self.files = Files(self.settings)
        self.keeping = Keeping(
            member.database, self.files, member.clock, self.settings, self.hosts.fetcher
        )
        self.jobs = media_jobs(member.database, self.keeping, member.clock)
        self.preferences = MediaPreferences(member.database, member.clock, self.settings)
        self.kept = KeptImages(member.database, self.files)

    async def switch(self, *, is_keeping: bool = True) -> None:
        await self.preferences.switch(await self.member.account(), is_keeping=is_keeping)

    async def run(self) -> None:
        """Everything that a worker would do now."""
        await self.keeping.run(self.member.account_id, no_report)

    async def state(self) -> MediaState:
        return await self.preferences.state(await self.member.account())

    async def is_due(self) -> bool:
        return self.member.account_id in await self.keeping.due_accounts(0)

    async def content(self, url: str) -> bytes | None:
        """The kept file of a URL."""
        account = await self.member.account()
        found = (await self.kept.among(account, [url])).get(url)
        if found is None:
            return None
        opened = await self.kept.open(account, found)
        return b"".join([part async for part in opened.chunks])

    def picture(self, name: str, width: int = 7) -> str:
        """The URL of a picture that its host has."""
        url = f"https://{X}/media/{name}.png"
        colour = (hash(name) % 251, len(name) % 251, width % 251)
        return self.hosts.put(url, pictures.png(width, 5, colour))

    def stored(self) -> list[str]:
        """The names of the files on disk."""
        folder = self.folder / "files" / "media" / str(self.member.account_id)
        return sorted(path.name for path in folder.glob("*"))
