"""Checks that every node of the service stores its files in the same place.

The first node writes a mark there and stores it in the database. A node that finds a different mark
uses a separate folder, where the other nodes would not find its exports.
"""

import secrets
from typing import Final

from bowerbird.clock import Clock
from bowerbird.settings import PREFIX, BadSetting
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
from bowerbird.storage.sign_in import SecretStore

MARK: Final = "mark"
SECRET: Final = "place of files"  # noqa: S105 - its name


class FilePlace:
    def __init__(self, database: Database, files: Files, clock: Clock) -> None:
        self._secrets = SecretStore(database)
        self._files = files
        self._clock = clock

    async def require_shared(self) -> None:
        """Raises BadSetting if the place is not shared, and a refusal if it cannot be checked."""
        mark = await self._files.put_new(MARK, secrets.token_hex(16).encode())
        if await self._secrets.put_new(SECRET, mark, self._clock()) != mark:
            raise BadSetting(
                f"The files of this library are not in {self._files.place}: other nodes store them "
                f"elsewhere. Set {PREFIX}FILES_URL to the same bucket or shared path on every "
                "node; if they moved for good, run: bowerbird migrate --files-moved"
            )

    async def forget(self) -> None:
        """Forgets the mark. The next node that starts sets it again."""
        await self._secrets.delete(SECRET)
