"""A service without an owner, with the ways to sign in to it."""

import asyncio
import contextvars
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from bowerbird import app
from bowerbird.app import App
from bowerbird.library.access import caller
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.sign_in.one_time_links import OneTimeLinks
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.model.sign_in import ABSOLUTE_DAYS, Where
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.web.visits.visit import SESSION, CookieJar, browser_of
from tests.support.models import MODELS
from tests.support.service import SetClock
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
        context.run(caller.set_address, lambda: _WHERE.address)
        redeeming = self.links.redeem(token, _WHERE, email)
        entered = await asyncio.create_task(redeeming, context=context)
        cookie = CookieJar(person.origin).write(SESSION, entered.session_token, ABSOLUTE_DAYS)
        shown = httpx.Request("POST", f"{person.origin}/link")
        person.client.cookies.extract_cookies(httpx.Response(303, headers=[cookie], request=shown))


def build(database: Database, data_dir: Path, **settings: Any) -> House:
    clock = SetClock()
    configured = Settings(data_dir=data_dir, **settings)
    service = app.build(configured, database, clock, MODELS)
    accounts = Accounts(database, clock, configured.default_plan)
    links = OneTimeLinks(database, accounts, Sessions(database, clock), clock)
    return House(service, database, clock, accounts, links)


@pytest.fixture
def house(database: Database, tmp_path: Path) -> House:
    return build(database, tmp_path)
