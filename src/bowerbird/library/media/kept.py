"""The kept images of an account: which of those on a page are kept, and their files."""

from collections.abc import Iterable, Sequence
from typing import Final

from bowerbird import errors
from bowerbird.model.accounts import Account
from bowerbird.model.posts.media import KeptImage, KnownImage, file_name, url_key
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files, OpenFile
from bowerbird.storage.media import MediaStore

# More than the pictures of any page; the rest is described. A page of an export has 128 posts.
SHOWN_MAX: Final = 5_200


class KeptImages:
    def __init__(self, database: Database, files: Files) -> None:
        self._store = MediaStore(database)
        self._files = files

    async def among(self, account: Account, urls: Iterable[str]) -> dict[str, KeptImage]:
        """The kept images among these URLs, in one read."""
        found = await self.known(account, urls)
        return {url: image.file for url, image in found.items() if image.file is not None}

    async def known(self, account: Account, urls: Iterable[str]) -> dict[str, KnownImage]:
        """What is known about these URLs, in one read."""
        by_key = {url_key(url): url for url in list(dict.fromkeys(urls))[:SHOWN_MAX] if url}
        if not by_key:
            return {}
        found = await self._store.known(account.account_id, list(by_key))
        return {by_key[key]: image for key, image in found.items()}

    async def by_key(self, account: Account, keys: Sequence[str]) -> dict[str, KnownImage]:
        """What is known about the URLs with these keys."""
        return await self._store.known(account.account_id, keys[:SHOWN_MAX]) if keys else {}

    async def find(self, account: Account, media_id: str) -> KeptImage:
        found = await self._store.file(account.account_id, media_id)
        if found is None:
            raise errors.not_found("image", media_id)
        return found

    async def open(
        self, account: Account, image: KeptImage, first: int = 0, end: int = 0
    ) -> OpenFile:
        """The bytes from `first` up to `end`, or all."""
        opened = await self.find_file(account, image, first, end)
        if opened is None:
            raise errors.not_found("image", image.media_id)
        return opened

    async def find_file(
        self, account: Account, image: KeptImage, first: int = 0, end: int = 0
    ) -> OpenFile | None:
        """None if the file is gone, for example because only the database was restored."""
        return await self._files.open(file_name(account.account_id, image.media_id), first, end)
