"""Fills the database of the baseline with the same posts, once."""

import json
import secrets
import sqlite3
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks import library, posts, scales
from benchmarks.scales import Scale
from benchmarks.yardsticks.baseline import engine_of, key_hash
from benchmarks.yardsticks.baseline_tables import Base, Bookmark

_FILE: Final = "baseline.db"
_SAMPLE: Final = 200
_COLUMNS: Final = [column.name for column in Bookmark.__table__.columns]
_INSERT: Final = (
    f"INSERT INTO bookmark ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608 - column names of ours
)


class BaselineLibrary(msgspec.Struct, frozen=True):
    file: Path
    keys: list[str]


def prepare(scale: Scale) -> BaselineLibrary:
    folder = scale.folder / "baseline"
    inputs = [Path(__file__).with_name("baseline_tables.py").read_bytes()]
    inputs += posts.batch(0, 0, _SAMPLE)
    keys = library.fill_once(folder, inputs, lambda f: _fill(f, scale))
    return BaselineLibrary(folder / _FILE, keys)


def _fill(folder: Path, scale: Scale) -> list[str]:
    engine = engine_of(folder / _FILE)
    Base.metadata.create_all(engine)
    engine.dispose()
    # Plain SQL: the ORM would take an hour for a million posts, and this part is not measured.
    connection = sqlite3.connect(folder / _FILE)
    connection.execute("PRAGMA synchronous = OFF")
    keys = [secrets.token_urlsafe(32) for _ in range(scale.accounts)]
    for number, key in enumerate(keys):
        connection.execute("INSERT INTO account VALUES (?, ?)", (number, f"r{number}@example.com"))
        connection.execute("INSERT INTO api_key VALUES (?, ?)", (key_hash(key), number))
    importer = _Importer(connection)
    for batch in scales.batches(scale, f"Filling the baseline ({scale.total:,} posts)"):
        importer.add(batch.account, batch.posts)
    connection.execute("ANALYZE")
    connection.close()
    return keys


class _Importer:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._next_id = 1
        self._tags: dict[tuple[int, str], int] = {}

    def add(self, account: int, batch: Iterable[bytes]) -> None:
        decoded = [msgspec.json.decode(raw) for raw in batch]
        rows = [_row(self._next_id + n, account, post) for n, post in enumerate(decoded)]
        pairs = [
            (self._next_id + n, self._tag(account, name))
            for n, post in enumerate(decoded)
            for name in sorted(set(post["tags"] or ()))
        ]
        self._next_id += len(decoded)
        with self._connection as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO author VALUES (?, ?, ?, ?)", map(_author, decoded)
            )
            connection.executemany(_INSERT, rows)
            connection.executemany("INSERT INTO bookmark_tag VALUES (?, ?)", pairs)

    def _tag(self, account: int, name: str) -> int:
        tag_id = self._tags.get((account, name))
        if tag_id is None:
            tag_id = self._tags[account, name] = len(self._tags) + 1
            self._connection.execute("INSERT INTO tag VALUES (?, ?, ?)", (tag_id, account, name))
        return tag_id


def _author(post: dict[str, Any]) -> tuple[str, ...]:
    author = post["author_details"]
    return post["author_id"], author["username"], author["name"], author["profile_image"]


def _row(bookmark_id: int, account: int, post: dict[str, Any]) -> list[Any]:
    details = post["tweet_details"]
    meta = details["meta"]
    values = {
        **post,
        **details,
        **meta["non_real_time_engagement_metrics"],
        "id": bookmark_id,
        "account_id": account,
        "posted_at": _instant(details["posted_at"]),
        "imported_at": _instant(post["imported_at"]),
        "bookmarked_at": _instant(post["bookmarked_at"]),
        "attachments": json.dumps(details["attachments"]),
        "article": _json(details["article"]),
        "quoted_tweet": _json(details["quoted_tweet"]),
        "reply_to_tweet_id": meta["tweet_reply_to_tweet_id"],
        "reply_to_user_id": meta["tweet_reply_to_user_id"],
        "conversation_id": meta["tweet_conversation_id"],
        "is_thread": meta["tweet_is_thread"],
        "is_sub_tweet_of_thread": meta["is_sub_tweet_of_thread"],
    }
    return [values[name] for name in _COLUMNS]


def _instant(text: str) -> str:
    """The text that SQLAlchemy stores for a datetime in SQLite."""
    return datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M:%S.%f")


def _json(value: dict[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)
