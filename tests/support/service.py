"""The whole application on a real database, with a few accounts.

alice and bob have the pro plan and separate libraries; free has the free plan.
"""

from dataclasses import dataclass, replace
from typing import Any

import httpx

from bowerbird import app
from bowerbird.app import App
from bowerbird.library.bookmarks.writing.upsert import Upsert
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.model.accounts import Account, Key, Membership
from bowerbird.model.keys import key_hash, new_account_id, new_key
from bowerbird.model.upsert import UpsertOutcome
from bowerbird.settings import Settings
from bowerbird.sources import own_json
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.accounts.keys import KeyStore
from bowerbird.storage.database import Database
from tests.support import make, published, removal
from tests.support.models import MODELS, ignore

# 2026-07-18T08:21:13.841838
NOW = 1784362873841838


class SetClock:
    """A clock that changes only when a test sets it."""

    def __init__(self, now: int = NOW) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


class CheckedTransport(httpx.AsyncBaseTransport):
    """Sends requests to the application and checks each response against the OpenAPI document."""

    def __init__(self, asgi: Any) -> None:
        self._inner = httpx.ASGITransport(asgi)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        response.request = request
        await response.aread()
        if request.url.path.startswith("/v1"):
            published.check(response)
        elif request.url.path.startswith("/ingest/v1") and "openapi" not in request.url.path:
            published.check(response, published.INGEST)
        return response


@dataclass(frozen=True)
class Member:
    """One of the accounts, with its API key."""

    database: Database
    account_id: int
    key: str
    client: httpx.AsyncClient
    clock: SetClock

    async def get(self, path: str, **params: Any) -> httpx.Response:
        return await self.client.get(path, params=params)

    async def listed(self, **params: Any) -> dict[str, Any]:
        response = await self.client.get("/v1/bookmarks", params=params)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    async def ids(self, **params: Any) -> list[str]:
        return [bookmark["post_id"] for bookmark in (await self.listed(**params))["data"]]

    async def crawl(self, **params: Any) -> list[str]:
        """All post ids of a list, read page by page."""
        seen: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            answer = await self.listed(**params, cursor=cursor)
            seen += [bookmark["post_id"] for bookmark in answer["data"]]
            cursor = answer["meta"]["next_cursor"]
        return seen

    async def account(self) -> Account:
        found = await AccountStore(self.database).by_id(self.account_id, 202607)
        assert found
        return found

    async def save(self, **fields: Any) -> dict[str, Any]:
        """Saves a post, and returns it as it was sent."""
        record = make.post(**fields)
        await self.save_all([record])
        return record

    async def change(self, record: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """Saves a post again with other fields."""
        changed = {**record, **fields}
        await self.save_all([changed])
        return changed

    async def remove(self, post_id: str) -> None:
        await removal.remove(self.database, await self.account(), post_id)

    async def embed(self) -> int:
        """Embeds all posts, as the worker would; returns how many had no vector."""
        builds = VectorBuilds(self.database, MODELS, self.clock)
        return await builds.build(self.account_id, ignore)

    async def set_plan(self, plan: str) -> None:
        await AccountStore(self.database).set_plan(self.account_id, plan)

    def on(self, other: App) -> "Member":
        """The same member, calling another instance of the service."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return replace(self, client=_client(other, headers))

    async def save_all(self, records: list[dict[str, Any]]) -> UpsertOutcome:
        arrivals = [own_json.read(make.raw(record)).incoming for record in records]
        return await Upsert(self.database, self.clock).take(await self.account(), arrivals)


@dataclass(frozen=True)
class Service:
    app: App
    database: Database
    clock: SetClock
    alice: Member
    bob: Member
    free: Member
    nobody: httpx.AsyncClient


async def build(database: Database, **settings: Any) -> Service:
    clock = SetClock()
    service = app.build(Settings(**settings), database, clock, MODELS)
    cast = {
        name: await member(service, database, clock, name, plan)
        for name, plan in (("alice", "pro"), ("bob", "pro"), ("free", "free"))
    }
    return Service(service, database, clock, nobody=_client(service), **cast)


async def member(service: App, database: Database, clock: SetClock, name: str, plan: str) -> Member:
    """A new account with a key and this name."""
    account_id = new_account_id()
    email = f"{name}@example.com"
    await AccountStore(database).create(Membership(account_id, email, plan, 0, clock()), email)
    text = new_key(account_id)
    await KeyStore(database).create(
        account_id, Key(f"{name}-key", name, clock(), None), key_hash(text)
    )
    client = _client(service, {"Authorization": f"Bearer {text}"})
    return Member(database, account_id, text, client, clock)


def _client(service: App, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=CheckedTransport(service.asgi), base_url="http://test", headers=headers
    )


def client_on(service: App) -> httpx.AsyncClient:
    """A client without a key for another instance of the service."""
    return _client(service)


def client_of(database: Database, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    """A client of the service on an empty database."""
    return _client(app.build(Settings(), database, SetClock()), headers)
