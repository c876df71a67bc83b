"""Fills an empty library with the demo, and removes it again.

Its posts are some of the sample posts of the sandbox, with ids that no network gives, handles that
nobody can have, and dates that end today.
"""

from functools import cache
from importlib import resources
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.imports.intake import Intake
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.imports.undoing import FILLING, DemoRemoval
from bowerbird.library.views.views import Views
from bowerbird.model import instants
from bowerbird.model.accounts import Account, Membership, Plan
from bowerbird.model.arrival import DEMO, FIRST_DEMO_ID, RunState
from bowerbird.requests.fields import read_scalar
from bowerbird.requests.views import NewView
from bowerbird.sources import own_json
from bowerbird.sources.found import FoundPost
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.stores import TimedService

_HOUR: Final = 3_600 * 1_000_000
# Reserved, so that no handle and no address can be real.
_HANDLE_END: Final = ".example"
_LINK: Final = "https://example.com/demo"
_ONLY_ACCOUNT: Final = 1
_EMAIL: Final = "demo@example.com"


class _Passage(Struct, frozen=True):
    """A passage of a post that is marked."""

    quote: str
    field: str = "text"
    comment: str = ""


class _Chosen(Struct, frozen=True):
    """A sample post of the demo. Its labels are those of the sample."""

    sample: str
    saved_hours_ago: float
    is_read: bool = False
    is_archived: bool = False
    note: str = ""
    highlights: list[_Passage] = []


class _Demo(Struct, frozen=True):
    view: NewView
    # The newest first.
    posts: list[_Chosen]


def view() -> NewView:
    return _demo().view


def size() -> int:
    return len(_demo().posts)


def posts(now: int) -> list[FoundPost]:
    """The newest first. The first one was saved two hours ago."""
    ids = {one.sample: str(FIRST_DEMO_ID + n) for n, one in enumerate(_demo().posts)}
    return [
        own_json.found_post(own_json.read(_record(one, ids, now)).incoming, line=n)
        for n, one in enumerate(_demo().posts, 1)
    ]


@cache
def label_names() -> frozenset[str]:
    samples = _samples()
    return frozenset(
        name for one in _demo().posts for name in samples[one.sample].get("tags") or ()
    )


def _record(chosen: _Chosen, ids: dict[str, str], now: int) -> bytes:
    """The sample as a record in the format of the API. Its place follows from the date."""
    sample = _samples()[chosen.sample]
    saved_at = now - int(chosen.saved_hours_ago * _HOUR)
    post_id, details = ids[chosen.sample], sample["tweet_details"]
    meta = details["meta"]
    conversation = ids.get(meta["tweet_conversation_id"], post_id)
    # The posts of a thread are as far apart as those of the sample.
    later = _later(_demo().posts[int(conversation) - FIRST_DEMO_ID], now)
    quoted = details["quoted_tweet"]
    record = {
        **_by_nobody(sample),
        "post_id": post_id,
        "tweet_details": {
            **details,
            # There is no original to open.
            "link": "",
            "posted_at": _moved(details["posted_at"], later),
            "attachments": [_with_end(one, later) for one in details["attachments"]],
            "quoted_tweet": quoted and _quoted(quoted, later),
            "meta": {
                **meta,
                "tweet_conversation_id": conversation,
                "tweet_reply_to_tweet_id": ids.get(meta["tweet_reply_to_tweet_id"] or ""),
            },
        },
        "bookmarked_at": instants.with_offset(saved_at),
        "is_read": chosen.is_read,
        "is_archived": chosen.is_archived,
        "note": chosen.note,
        "highlights": [
            _highlight(passage, n, details, saved_at) for n, passage in enumerate(chosen.highlights)
        ],
    }
    for name in ("imported_at", "sort_index"):
        del record[name]
    return msgspec.json.encode(record)


def _later(chosen: _Chosen, now: int) -> int:
    """By how much the dates of a sample are moved."""
    saved_at = now - int(chosen.saved_hours_ago * _HOUR)
    return saved_at - _instant(_samples()[chosen.sample]["bookmarked_at"])


def _highlight(
    passage: _Passage, number: int, details: dict[str, Any], saved_at: int
) -> dict[str, Any]:
    text = details["text"] if passage.field == "text" else details["article"]["plain_text"]
    start = text.index(passage.quote)
    return {
        **msgspec.to_builtins(passage),
        "id": f"demo-{number}",
        "start": start,
        "end": start + len(passage.quote),
        "created_at": instants.with_offset(saved_at + _HOUR),
    }


def _quoted(quoted: dict[str, Any], later: int) -> dict[str, Any]:
    changed = {**quoted, "link": f"{_LINK}/{quoted['post_id']}"}
    if "posted_at" in quoted:
        changed["posted_at"] = _moved(quoted["posted_at"], later)
    return _by_nobody(changed) if "author_username" in quoted else changed


def _by_nobody(post: dict[str, Any]) -> dict[str, Any]:
    """The post with a handle that nobody can have."""
    handle = f"{post['author_username']}{_HANDLE_END}"
    author = {**post["author_details"], "username": handle}
    return {**post, "author_username": handle, "author_details": author}


def _with_end(attachment: dict[str, Any], later: int) -> dict[str, Any]:
    """A poll ends as long after its post as that of the sample."""
    if "ends_at" not in attachment:
        return attachment
    return {**attachment, "ends_at": _moved(attachment["ends_at"], later)}


def _moved(date: str, later: int) -> str:
    return instants.with_offset(_instant(date) + later)


def _instant(text: str) -> int:
    instant = instants.parse(text)
    assert instant is not None, text
    return instant


@cache
def _samples() -> dict[str, dict[str, Any]]:
    return {one["post_id"]: one for one in msgspec.json.decode(_bytes("posts"))}


@cache
def _demo() -> _Demo:
    return msgspec.json.decode(_bytes("demo"), type=_Demo, dec_hook=read_scalar)


def _bytes(name: str) -> bytes:
    return (resources.files("bowerbird") / "fixtures" / f"{name}.json").read_bytes()


async def create(database: Database, now: int) -> Account:
    """The demo as the only library of an empty database, for strangers who look around."""
    store = AccountStore(database)
    account = await create_only(store, _EMAIL, now)
    await Intake(database, lambda: now).take(account, posts(now)[::-1])
    views = Views(database, Bookmarks(database), lambda: now)
    await database.write(lambda transaction: views.add(transaction, account, view()))
    return await only_account(store)


async def create_only(store: AccountStore, email: str, now: int) -> Account:
    """The only account of an empty database."""
    await store.create(Membership(_ONLY_ACCOUNT, email, Plan.PRO, 0, now), email)
    return await only_account(store)


async def only_account(store: AccountStore) -> Account:
    account = await store.by_id(_ONLY_ACCOUNT, 0)
    assert account is not None
    return account


SOURCE: Final = "Demo library"


class Demo(TimedService):
    def __init__(self, database: Database, views: Views, clock: Clock) -> None:
        super().__init__(database, clock)
        self._views = views
        self._runs = ImportRuns(database, clock)
        self._intake = Intake(database, clock)
        self._removal = DemoRemoval(database, clock)

    @property
    def size(self) -> int:
        """The number of its posts."""
        return size()

    async def is_present(self, account: Account) -> bool:
        """Whether the library has posts of the demo."""
        if not account.total:
            return False
        return bool(await self._stores.demo.posts(self._library(account.account_id), 1))

    async def fill(self, account: Account) -> None:
        """Filling in the demo again changes nothing while it is there."""
        if await self._stores.demo.posts(self._library(account.account_id), 1):
            return
        if account.total:
            sentence = "The demo is for an empty library. This one has posts."
            raise Refusal(Code.INVALID_REQUEST, sentence)
        if await self._is_being_filled(account):
            return
        # An earlier demo may have left posts in the trash, which would not come back.
        await self.remove(account)
        run = await self._runs.start(account, source=SOURCE, kind=DEMO, client="website")
        found = posts(self._clock())
        outcome = await self._intake.take(account, found, run_id=run.run_id)
        if outcome.counts.new and not account.is_free:
            await self._database.write(
                lambda transaction: self._create_view(transaction, account), account.account_id
            )
        await self._runs.finish(account, run.run_id)

    async def remove(self, account: Account) -> None:
        """Removes the demo, also weeks later and after changes. Idempotent."""
        account_id = account.account_id
        for run in await self._stores.import_runs.open_of_kind(account_id, DEMO):
            await self._runs.undo(account, run.run_id)

        async def rest(transaction: Transaction) -> int:
            library = await LabelRenames(self._database).lock(transaction, account_id)
            return await self._removal.remove(library, None)

        # Also if its run is not listed any more.
        await turns.run(self._database, rest, account_id)

    async def _is_being_filled(self, account: Account) -> bool:
        """Whether another request fills in the demo at this moment."""
        runs = await self._stores.import_runs.open_of_kind(account.account_id, DEMO)
        return any(
            run.state is RunState.RUNNING and run.started_at > self._clock() - FILLING
            for run in runs
        )

    async def _create_view(self, transaction: Transaction, account: Account) -> None:
        await self._views.add(transaction, account, view())
