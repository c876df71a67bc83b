"""An import stores every field of every record unchanged, on both databases."""

import asyncio
import io
import json
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.imports.file_imports import FileImports, ImportOptions
from bowerbird.library.imports.report import FileReport
from bowerbird.storage.database import Database
from bowerbird.storage.postgres.database import PostgresDatabase, open_pool
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support.databases import TEMPLATE
from tests.support.service import NOW

_INT64 = st.integers(-(2**63), 2**63 - 1)
_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
_MAYBE_TEXT = st.none() | _TEXT
_DATES = st.datetimes().map(lambda moment: moment.isoformat(timespec="microseconds"))
_TAGS = st.lists(
    st.sampled_from(["alpha", "Beta", "γάμμα", "delta force", "é"]), min_size=1, unique=True
)
# Unknown fields are stored as well.
_OPEN = st.dictionaries(
    _TEXT.map("x_{}".format),
    st.none() | st.booleans() | _INT64 | _TEXT | st.lists(_TEXT, max_size=2),
    max_size=3,
)


def _fixed(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(fields)


_AUTHOR = _fixed(name=_TEXT, username=_TEXT, profile_image=_TEXT)
_ARTICLE = st.builds(dict.__or__, _OPEN, _fixed(title=_TEXT, plain_text=_TEXT))
_ATTACHMENT = st.builds(dict.__or__, _OPEN, _fixed(type=_TEXT, url=_TEXT, width=_INT64))
_COUNTED = ("quote", "reply", "retweet", "bookmark", "favorite")
_METRICS = _fixed(**{f"{name}_count": _INT64 for name in _COUNTED})
_META = _fixed(
    tweet_reply_to_tweet_id=_MAYBE_TEXT,
    tweet_reply_to_user_id=_MAYBE_TEXT,
    tweet_conversation_id=_TEXT,
    tweet_is_thread=st.booleans(),
    is_sub_tweet_of_thread=st.booleans(),
    non_real_time_engagement_metrics=_METRICS,
)
_DETAILS = _fixed(
    text=_TEXT,
    link=_TEXT,
    posted_at=st.just("") | _DATES.map(lambda date: date + "+02:00"),
    attachments=st.lists(_ATTACHMENT, max_size=2),
    article=st.none() | _ARTICLE,
    quoted_tweet=st.none()
    | _fixed(text=_TEXT, author_username=_TEXT, author_details=_AUTHOR)
    | _fixed(text=_TEXT, article=st.none() | _ARTICLE),
    meta=_META,
)
_INSTANTS = _DATES.map(lambda date: date + "+00:00")
# Not in the text, which is what a changed text leaves of a highlight.
_PASSAGE: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "id": st.text("abc-_123", min_size=1, max_size=40),
        "field": st.just("article"),
        "quote": _TEXT.map(lambda words: f"{words}\U0010fffd"),
        "start": st.none(),
        "end": st.none(),
        "created_at": _INSTANTS,
    }
)
_PASSAGES: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    _PASSAGE, min_size=1, max_size=3, unique_by=lambda passage: str(passage["id"])
)
_STATE: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "gone_at": _INSTANTS,
        "removed_at": _INSTANTS,
        "note": _TEXT.filter(bool),
        "highlights": _PASSAGES,
    },
)
_KNOWN = _fixed(
    post_id=st.text("0123456789", min_size=1, max_size=40),
    tweet_details=_DETAILS,
    author_id=_TEXT,
    author_username=_TEXT,
    author_details=_AUTHOR,
    imported_at=_DATES,
    sort_index=_INT64,
    bookmarked_at=_INSTANTS,
    tags=st.none() | _TAGS,
    is_read=st.booleans(),
    is_archived=st.booleans(),
)
_BOOKMARK = st.builds(lambda known, state: {**known, **state}, _KNOWN, _STATE)


class Opened:
    """A database that stays open between examples, with its event loop."""

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        self.runner, self.database = runner, database
        self._numbers = count(1)

    async def import_into_fresh(self, data: bytes) -> tuple[FileReport, dict[str, Any]]:
        accounts = Accounts(self.database, lambda: NOW)
        email = f"{next(self._numbers)}@example.com"
        await accounts.create(email, "pro")
        importing = FileImports(
            self.database, lambda: NOW, await accounts.find(email), ImportOptions()
        )
        report = await importing.read(io.BytesIO(data), "file", "test")
        account = await accounts.find(email)
        ids = {record["post_id"] for record in json.loads(data)}
        bookmarks = Bookmarks(self.database)
        returned = {post_id: json.loads(await bookmarks.get(account, post_id)) for post_id in ids}
        return report, returned


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def opened(
    request: pytest.FixtureRequest,
    sqlite_template: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Opened]:
    with asyncio.Runner() as runner:
        if request.param == "sqlite":
            folder = tmp_path_factory.mktemp("library")
            shutil.copy(sqlite_template, folder)
            database: Database = runner.run(_sqlite(folder))
            yield Opened(runner, database)
            runner.run(database.close())
            return
        with request.getfixturevalue("postgres").fresh_database(TEMPLATE) as url:
            database = PostgresDatabase(runner.run(open_pool(url, 2)))
            yield Opened(runner, database)
            runner.run(database.close())


async def _sqlite(folder: Path) -> Database:
    return SqliteDatabase(folder)


@settings(deadline=None, max_examples=25)
@given(st.lists(_BOOKMARK, min_size=1, max_size=5, unique_by=lambda record: record["post_id"]))
def test_every_field_is_returned_unchanged(opened: Opened, records: list[dict[str, Any]]) -> None:
    data = json.dumps(records).encode()

    report, returned = opened.runner.run(opened.import_into_fresh(data))

    assert (report.new, report.rows) == (len(records), [])
    # The import is the last change of each post.
    assert all(bookmark.pop("updated_at") for bookmark in returned.values())
    for record in records:
        tags = record["tags"]
        expected = {**record, "tags": sorted(tags, key=str.casefold) if tags else None}
        bookmark = returned[record["post_id"]]
        details = record["tweet_details"]
        # A post without a time gets one, and a post that quotes an article has it.
        expected["tweet_details"] = {
            **details,
            "posted_at": details["posted_at"] or bookmark["tweet_details"]["posted_at"],
            "article": details["article"] or (details["quoted_tweet"] or {}).get("article"),
        }
        assert bookmark == expected
        assert bookmark["tweet_details"]["posted_at"]
    exported = json.dumps(list(returned.values())).encode()
    again = opened.runner.run(opened.import_into_fresh(exported))[1]
    assert all(bookmark.pop("updated_at") for bookmark in again.values())
    assert again == returned
