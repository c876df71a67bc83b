"""The accounts of the soak, and how they are created."""

import asyncio
from dataclasses import dataclass
from typing import Final

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.accounts.tokens import Keys
from bowerbird.library.imports.intake import Intake
from bowerbird.settings import Settings
from bowerbird.sources import own_json
from bowerbird.storage.postgres import schema
from endurance.soak.known_posts import Holder, post
from endurance.soak.ledger import Shown
from tests.support import make

# They never change.
STILL: Final = [
    Holder("alice", 0, 1_500),
    Holder("alan", 1, 400),
    Holder("anna", 2, 400),
    Holder("april", 3, 400),
]
# Two writers each.
CHANGING: Final = [Holder("bob", 4, 300), Holder("carol", 5, 300), Holder("dora", 6, 300)]
WRITERS_PER_ACCOUNT: Final = 2
FREE: Final = Holder("frank", 7, 60, "free")
IMPORTING: Final = Holder("gina", 8, 60)
# Writes of each kind are tried here before anything is killed.
REHEARSING: Final = Holder("rita", 9, 100)
ALL: Final = [*STILL, *CHANGING, FREE, IMPORTING, REHEARSING]
_IN_ONE_WRITE: Final = 200


@dataclass(frozen=True)
class Member:
    account_id: int
    key: str


def before(holder: Holder) -> dict[str, Shown]:
    """What the API shows before the first write."""
    made = (post(holder, number) for number in range(holder.posts))
    return {
        each["post_id"]: Shown(
            each["tweet_details"]["text"],
            set(each["tags"]),
            each["is_read"],
            each["is_archived"],
        )
        for each in made
    }


def created(settings: Settings) -> dict[str, Member]:
    """Migrates the database and creates all accounts with their posts."""
    asyncio.run(schema.migrate(settings.database_url))
    return asyncio.run(_members(settings))


async def _members(settings: Settings) -> dict[str, Member]:
    members = {}
    async with opened_library(settings) as opened:
        accounts = Accounts(opened.database, system_clock)
        for holder in ALL:
            account_id = await accounts.create(holder.email, holder.plan)
            records = [post(holder, number) for number in range(holder.posts)]
            arrivals = [own_json.whole_post(make.raw(record)) for record in records]
            for start in range(0, len(arrivals), _IN_ONE_WRITE):
                account = await accounts.find(holder.email)
                part = arrivals[start : start + _IN_ONE_WRITE]
                await Intake(opened.database, system_clock).take(account, part)
            key = await Keys(opened.database, system_clock).issue(account_id, "soak")
            members[holder.name] = Member(account_id, key.text)
    return members
