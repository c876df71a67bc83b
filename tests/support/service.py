"""The whole application on a real database, with a few accounts.

alice and bob have the pro plan and separate libraries; free has the free plan.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

from bowerbird import app
from bowerbird.app import App
from bowerbird.library.imports.intake import Intake, IntakeOutcome
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.model.accounts import Account, Key, Membership
from bowerbird.model.keys import key_hash, new_account_id, new_key
from bowerbird.settings import Settings
from bowerbird.sources import own_json
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.accounts.credentials import KeyStore
from bowerbird.storage.database import Database, Writable
from tests.support import make, published
from tests.support.models import MODELS, ignore
from tests.support.posts import removal

# 2026-07-18T08:21:13.841838
NOW = 1784362873841838

# Each has a library of its own: together nearly half of what it takes to build the application.
WITHOUT_EXTRAS: Final[Mapping[str, Any]] = {"sandbox": "off", "demo": "off"}

_PLANS: Final = {"alice": "pro", "bob": "pro", "free": "free"}


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
        """This member, calling another instance of the service."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return replace(self, client=_client(other.asgi, headers))

    async def save_all(self, records: list[dict[str, Any]]) -> IntakeOutcome:
        arrivals = [own_json.whole_post(make.raw(record)) for record in records]
        return await Intake(self.database, self.clock).take(await self.account(), arrivals)

    async def save_texts(self, *texts: str) -> list[str]:
        """Returns the ids of the new posts."""
        records = [make.post(text=text) for text in texts]
        await self.save_all(records)
        return [record["post_id"] for record in records]


@dataclass(frozen=True)
class Service:
    # Builds the application when a test first uses it. Many tests only use the database.
    built: Callable[[], App]
    database: Database
    clock: SetClock
    alice: Member
    bob: Member
    free: Member
    nobody: httpx.AsyncClient

    @property
    def app(self) -> App:
        return self.built()


async def build(database: Database, **settings: Any) -> Service:
    """The service on an empty database."""
    await create_cast(database)
    return with_cast(database, **settings)


def with_cast(database: Database, **settings: Any) -> Service:
    """The service on a database with the accounts of `create_cast`."""
    clock = SetClock()
    # No worker of a test asks the hosts of the networks for posts.
    configured = Settings(**{"fetch_posts": "off", **WITHOUT_EXTRAS, **settings})
    built = cache(lambda: app.build(configured, database, clock, MODELS))

    async def asgi(scope: Scope, receive: Receive, send: Send) -> None:
        await built().asgi(scope, receive, send)

    cast = {
        name: _member(asgi, database, clock, account_id, key)
        for name, (account_id, key) in _identities().items()
    }
    return Service(built, database, clock, nobody=_client(asgi), **cast)


async def create_cast(database: Database) -> None:
    for name, plan in _PLANS.items():
        await _create(database, NOW, _identities()[name], name, plan)


@cache
def _identities() -> dict[str, tuple[int, str]]:
    """The id and the key of each account, the same in all tests of this process."""
    ids = {name: new_account_id() for name in _PLANS}
    return {name: (account_id, new_key(account_id)) for name, account_id in ids.items()}


async def member(service: App, database: Database, clock: SetClock, name: str, plan: str) -> Member:
    """A new account with a key and this name."""
    account_id = new_account_id()
    key = new_key(account_id)
    await _create(database, clock(), (account_id, key), name, plan)
    return _member(service.asgi, database, clock, account_id, key)


async def _create(
    database: Database, now: int, identity: tuple[int, str], name: str, plan: str
) -> None:
    account_id, key = identity
    email = f"{name}@example.com"
    await AccountStore(database).create(Membership(account_id, email, plan, 0, now), email)
    stored, keys = Key(f"{name}-key", name, now, None), KeyStore(database)
    await database.write(
        lambda within: keys.create(Writable(within, account_id), stored, key_hash(key))
    )


def _member(
    asgi: ASGIApp, database: Database, clock: SetClock, account_id: int, key: str
) -> Member:
    client = _client(asgi, {"Authorization": f"Bearer {key}"})
    return Member(database, account_id, key, client, clock)


def _client(asgi: ASGIApp, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=CheckedTransport(asgi), base_url="http://test", headers=headers
    )


def client_on(service: App) -> httpx.AsyncClient:
    """A client without a key for another instance of the service."""
    return _client(service.asgi)


def client_of(database: Database, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    """A client of the service on an empty database."""
    return _client(app.build(Settings(), database, SetClock()).asgi, headers)
