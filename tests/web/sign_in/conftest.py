"""A service without an owner, with the ways to sign in to it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bowerbird import app
from bowerbird.app import App
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.sign_in.one_time_links import OneTimeLinks
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from tests.support.models import MODELS
from tests.support.service import SetClock
from tests.support.visiting import ORIGIN, Visitor, visitor


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
        token = await self.links.create_for_owner()
        entered = await person.send("/link", "/link", token=token, email=email)
        assert entered.status_code == 303, entered.text
        return person

    async def member(self, email: str, plan: str | None = None) -> Visitor:
        """Somebody else with an account, signed in."""
        account_id = await self.accounts.create(email, plan)
        person = self.somebody()
        token = await self.links.create_for(account_id)
        entered = await person.send("/link", "/link", token=token)
        assert entered.status_code == 303, entered.text
        return person


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
