"""A busy service with the session of its owner, for measuring pages."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.progress import track

from benchmarks import posts
from bowerbird.clock import system_clock
from bowerbird.library.access import turns
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.accounts.tokens import Keys
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.imports.intake import Intake
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.library.views.views import Views
from bowerbird.model.accounts import Where
from bowerbird.requests.limits import PINNED_VIEWS_SHOWN
from bowerbird.requests.views import NewView, NewViewQuery
from bowerbird.settings import Settings
from bowerbird.sources.own_json import whole_post
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.opening import open_database
from bowerbird.storage.upkeep.jobs import JobStore
from bowerbird.web.visits.visit import SESSION, CookieJar

_POSTS_PER_WRITE: Final = 500
_ACCOUNTS, _KEYS, _JOBS = 40, 50, 40
# All that the sidebar shows, each with its count.
_SMART_VIEWS: Final = PINNED_VIEWS_SHOWN


async def fill(folder: Path, count: int, pictures: Sequence[str] = ()) -> str:
    """Creates a busy service; returns the token of the owner's session.

    Each post has one of the pictures, if any are given.
    """
    database = await open_database(Settings(data_dir=folder))
    try:
        accounts, sessions = Accounts(database, system_clock), Sessions(database, system_clock)
        owner = await accounts.create("owner@example.com")
        for number in range(_ACCOUNTS):
            await accounts.create(f"member{number}@example.com")
        for number in range(_KEYS):
            await Keys(database, system_clock).issue(owner, f"Key {number}")

        async def work(transaction: Transaction) -> str:
            for _ in range(_JOBS):
                await JobStore(database).add(
                    Writable(transaction, owner), "errand", b"{}", priority=50, now=system_clock()
                )
            where = Where("192.0.2.7", "Firefox on Linux")
            return await sessions.start(Writable(transaction, owner), "link", where)

        token = await database.write(work)
        await _fill_library(database, owner, count, pictures)
        return token
    finally:
        await database.close()


async def _fill_library(
    database: Database, owner: int, count: int, pictures: Sequence[str]
) -> None:
    account = await AccountStore(database).by_id(owner, month=0)
    assert account
    intake = Intake(database, system_clock)
    for first in track(range(0, count, _POSTS_PER_WRITE), description="Filling the library"):
        batch = posts.batch(0, first, _POSTS_PER_WRITE)
        if pictures:
            batch = [
                _with_picture(post, pictures[number % len(pictures)])
                for number, post in enumerate(batch)
            ]
        await intake.take(account, [whole_post(post) for post in batch])
    views = Views(database, Bookmarks(database), system_clock)
    for number in range(_SMART_VIEWS):
        query = NewViewQuery(q="thea", posted_from=f"20{number:02d}-01-01")
        new = NewView(name=f"View {number}", base_query=query)
        await turns.change(database, account, views.create, new)


def _with_picture(post: bytes, url: str) -> bytes:
    bookmark = json.loads(post)
    bookmark["tweet_details"]["attachments"] = [{"type": "image", "url": url}]
    return json.dumps(bookmark).encode()


def origin(port: int) -> str:
    return f"http://localhost:{port}"


def cookie(port: int, value: str, purpose: str = SESSION) -> str:
    """A cookie, by default that of a session, as a browser sends it."""
    _, header = CookieJar(origin(port)).write(purpose, value)
    return header.decode().partition(";")[0]
