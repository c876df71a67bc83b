"""The website in this process: its people, their pages, and what their pages say."""

import asyncio
import contextvars
import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import httpx

from bowerbird import app
from bowerbird.app import App
from bowerbird.library.access import activity
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.accounts.tokens import Keys
from bowerbird.library.sign_in.one_time_links import OneTimeLinks
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.model.accounts import ABSOLUTE_DAYS, Where
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.web.visits.visit import SESSION, CookieJar, browser_of
from tests.support import service
from tests.support.models import MODELS
from tests.support.service import Member, SetClock
from tests.support.visiting import FIREFOX, ORIGIN, Visitor, visitor

_WHERE = Where("192.0.2.7", browser_of(FIREFOX.encode()))


@dataclass
class House:
    """The service, and what its operator does on the command line."""

    service: App
    database: Database
    clock: SetClock
    accounts: Accounts
    links: OneTimeLinks

    def somebody(self, origin: str = ORIGIN) -> Visitor:
        return visitor(self.service, origin)

    async def owner(self, email: str = "owner@example.com") -> Visitor:
        """Somebody who has signed in with the owner's link."""
        person = self.somebody()
        await self.enter(person, await self.links.create_for_owner(), email)
        return person

    async def member(self, email: str, plan: str | None = None) -> Visitor:
        """Somebody else with an account, signed in."""
        account_id = await self.accounts.create(email, plan)
        person = self.somebody()
        await self.enter(person, await self.links.create_for(account_id))
        return person

    async def enter(self, person: Visitor, token: str, email: str = "") -> None:
        """Signs in as the form of the link does, without the page and the form."""
        # In a context of its own, because the caller of a request ends with it.
        context = contextvars.copy_context()
        context.run(activity.set_address, lambda: _WHERE.address)
        redeeming = self.links.redeem(token, _WHERE, email)
        entered = await asyncio.create_task(redeeming, context=context)
        cookie = CookieJar(person.origin).write(SESSION, entered.session_token, ABSOLUTE_DAYS)
        shown = httpx.Request("POST", f"{person.origin}/link")
        person.client.cookies.extract_cookies(httpx.Response(303, headers=[cookie], request=shown))

    async def account_id(self, email: str = "owner@example.com") -> int:
        return (await self.accounts.find(email)).account_id


def build(database: Database, data_dir: Path, **settings: Any) -> House:
    clock = SetClock()
    configured = Settings(data_dir=data_dir, **{**service.WITHOUT_EXTRAS, **settings})
    built = app.build(configured, database, clock, MODELS)
    accounts = Accounts(database, clock, configured.default_plan)
    links = OneTimeLinks(database, accounts, Sessions(database, clock), clock)
    return House(built, database, clock, accounts, links)


@dataclass
class Reader:
    """A person who is signed in, with the key of the same account."""

    person: Visitor
    member: Member
    house: House

    async def page(self, path: str) -> str:
        shown = await self.person.open(path)
        assert shown.status_code == 200, shown.text
        return shown.text

    async def change(self, page: str, **fields: Any) -> httpx.Response:
        """Presses a button on a post of a page."""
        return await self.person.send("/library/change", page, back=page, **fields)


async def signed_in(house: House, email: str, plan: str = "pro") -> Reader:
    account_id = await house.accounts.create(email, plan)
    person = house.somebody()
    await house.enter(person, await house.links.create_for(account_id))
    key = (await Keys(house.database, house.clock).issue(account_id, "tests")).text
    client = service.client_on(house.service)
    client.headers["Authorization"] = f"Bearer {key}"
    return Reader(person, Member(house.database, account_id, key, client, house.clock), house)


async def rows_of(database: Database, account_id: int) -> dict[str, list[str]]:
    """Everything that SQLite has of an account, by table."""
    tables = await database.rows(
        "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c"
        " ON c.name = 'account_id' WHERE m.type = 'table'",
        {},
    )
    found = {}
    for (table,) in tables:
        sql = f"SELECT * FROM {table} WHERE account_id = :account_id"  # noqa: S608
        rows = await database.rows(sql, {"account_id": account_id})
        found[table] = sorted(str(tuple(row)) for row in rows)
    return found


def ids(page: str) -> list[str]:
    """The ids of the posts that a page lists."""
    return re.findall(r'<li [^>]*?\bid="p-([^"]+)"', page)


def text_of(page: httpx.Response) -> str:
    """What a page says, without markup."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def field_in(page: httpx.Response, name: str) -> list[str]:
    """The values of hidden fields."""
    return re.findall(rf'<input type="hidden" name="{name}" value="([^"]*)"', page.text)


def key_in(page: httpx.Response) -> str:
    found = re.search(r"bwr_[0-9A-Za-z]{47}", page.text)
    assert found, page.text
    return found[0]
