"""Writes to one account in every possible way, as fast as it can, from concurrent tasks.

Run it as `python -m tests.library.writers ACCOUNT_ID KEY SEED` with the environment of the
library. It prints the number of responses per status.
"""

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import httpx

from bowerbird import app, logs
from bowerbird.cli.context import settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.errors import TooManyWaiting
from bowerbird.library.imports.intake import Intake
from bowerbird.settings import Settings
from bowerbird.sources import own_json
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database
from bowerbird.storage.opening import open_database
from tests.support import make

POSTS = 30
TASKS = 5
WRITES = 20
T = TypeVar("T")
NAMES = ("red", "Green", "blue", "Ärger", "later", "reading list")


def client_of(database: Database, key: str) -> httpx.AsyncClient:
    service = app.build(Settings(sandbox="off", demo="off"), database, system_clock)
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(service.asgi),
        base_url="http://test",
        headers={"Authorization": f"Bearer {key}"},
    )


class Writer:
    """One of several concurrent writers to the same account. Its operations are random."""

    def __init__(self, database: Database, account_id: int, key: str, seed: str) -> None:
        self._database = database
        self._account_id = account_id
        self._client = client_of(database, key)
        self._chance = random.Random(seed)  # noqa: S311 - a repeatable choice, not a secret
        self._operations = (
            *(self.change_labels, self.batch, self.mark, self.mark_one),
            *(self.delete, self.restore, self.upsert, self.rename, self.merge, self.drop_label),
        )
        self.statuses: Counter[int] = Counter()

    async def write(self, count: int) -> None:
        for _ in range(count):
            weights = (6, 4, 3, 3, 2, 2, 3, 1, 1, 1)
            (operation,) = self._chance.choices(self._operations, weights)
            await operation()

    async def change_labels(self) -> None:
        op = self._chance.choice(["add", "add", "remove"])
        await self._send("POST", f"/v1/labels/{op}", self._operation())

    async def batch(self) -> None:
        operations = [
            {"op": self._chance.choice(["add", "remove"]), **self._operation()} for _ in range(8)
        ]
        await self._send("POST", "/v1/labels/batch", {"operations": operations})

    async def mark(self) -> None:
        await self._send(
            "POST", "/v1/bookmarks/update", {"tweet_ids": self._ids(), **self._flags()}
        )

    async def mark_one(self) -> None:
        await self._send("PATCH", f"/v1/bookmarks/{self._id()}", self._flags())

    async def delete(self) -> None:
        await self._send("DELETE", f"/v1/bookmarks/{self._id()}")

    async def restore(self) -> None:
        await self._send("POST", f"/v1/bookmarks/{self._id()}/restore", {})

    async def upsert(self) -> None:
        accounts = AccountStore(self._database)
        account = await _patiently(lambda: accounts.by_id(self._account_id, 202601))
        assert account
        records = [self._record(post_id) for post_id in self._ids()]
        arrivals = [own_json.whole_post(make.raw(record)) for record in records]
        intake = Intake(self._database, system_clock)
        await _patiently(lambda: intake.take(account, arrivals))

    async def rename(self) -> None:
        if label := await self._label():
            name = f"{self._chance.choice(NAMES)} {self._chance.randrange(4)}"
            await self._send("PATCH", f"/v1/labels/{label}", {"label_name": name})

    async def merge(self) -> None:
        label, into = await self._label(), await self._label()
        if label and into:
            await self._send("POST", f"/v1/labels/{label}/merge", {"into": into})

    async def drop_label(self) -> None:
        if label := await self._label():
            await self._send("DELETE", f"/v1/labels/{label}")

    async def _send(self, method: str, path: str, body: Any = None) -> None:
        headers = {"Idempotency-Key": f"{self._chance.getrandbits(64):x}"}
        keyed = headers if method != "DELETE" and self._chance.random() < 0.5 else {}
        response = await self._answer(method, path, json=body, headers=keyed)
        self.statuses[response.status_code] += 1

    async def _answer(self, method: str, path: str, **rest: Any) -> httpx.Response:
        """On a busy machine the service may refuse a request for now; then nothing was written."""
        while (response := await self._client.request(method, path, **rest)).status_code == 503:
            continue
        return response

    async def _label(self) -> str | None:
        labels = (await self._answer("GET", "/v1/labels")).json()["data"]
        return str(self._chance.choice(labels)["id"]) if labels else None

    def _id(self) -> str:
        return str(self._chance.randrange(1, POSTS + 1))

    def _ids(self) -> list[str]:
        return sorted({self._id() for _ in range(self._chance.randrange(1, 8))})

    def _operation(self) -> dict[str, Any]:
        return {"tweet_ids": self._ids(), "label_name": self._chance.choice(NAMES)}

    def _flags(self) -> dict[str, bool]:
        return {
            "is_read": self._chance.random() < 0.5,
            "is_archived": self._chance.random() < 0.3,
        }

    def _record(self, post_id: str) -> dict[str, Any]:
        tags = self._chance.sample(NAMES, self._chance.randrange(4))
        return make.post(post_id=post_id, tags=tags, **self._flags())


async def _patiently(work: Callable[[], Awaitable[T]]) -> T:
    while True:
        with suppress(TooManyWaiting):
            return await work()


async def write_concurrently(
    database: Database, account_id: int, key: str, seed: str
) -> Counter[int]:
    """Writes from several tasks; returns the number of responses per status."""
    writers = [Writer(database, account_id, key, f"{seed}.{n}") for n in range(TASKS)]
    await asyncio.gather(*(writer.write(WRITES) for writer in writers))
    return sum((writer.statuses for writer in writers), Counter())


async def main(account_id: str, key: str, seed: str) -> None:
    logs.configure("error")
    database = await open_database(settings_from_environment())
    try:
        statuses = await write_concurrently(database, int(account_id), key, seed)
    finally:
        await database.close()
    print(json.dumps(statuses))  # noqa: T201 - the parent process reads the output


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
