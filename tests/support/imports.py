"""Found posts for tests, and everything that an account has stored."""

from typing import Any

import msgspec

from bowerbird.library.imports.intake import Intake, IntakeOutcome, ItemResult
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.model.posts.bookmarks import ImportRecord
from bowerbird.sources.found import FoundPost
from bowerbird.storage.database import Database, place_values
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support import make
from tests.support.service import Member

# Library rows without the version and the next free numbers, which never go back.
_TABLES = {
    "library": "total, unread, archived, fresh",
    "bookmark": "*",
    "label": "*",
    "bookmark_label": "*",
    "deletion": "*",
    "trash": "*",
    "word_count": "*",
}


def found(completeness: Completeness = Completeness.FULL, **fields: Any) -> FoundPost:
    """A found post with id 1, and a `line`, `order`, `source` and `source_id` if they are given."""
    given = {name: fields.pop(name) for name in ("line", "source", "source_id") if name in fields}
    order = fields.pop("order", OrderSource.IMPORT)
    record = make.post(**{"post_id": "1", "text": "words", **fields})
    name = record["author_username"] or "i"
    record["tweet_details"]["link"] = f"https://x.com/{name}/status/{record['post_id']}"
    if "sort_index" not in fields:
        del record["sort_index"]
    return FoundPost(
        record=msgspec.convert(record, ImportRecord),
        completeness=completeness,
        order_source=order,
        **{"line": 1, **given},
    )


async def take(
    member: Member, *posts: FoundPost, run_id: str | None = None, is_saving: bool = False
) -> IntakeOutcome:
    intake = Intake(member.database, member.clock)
    return await intake.take(await member.account(), posts, run_id=run_id, is_saving=is_saving)


async def result(member: Member, post: FoundPost, *, is_saving: bool = False) -> ItemResult:
    outcome = await take(member, post, is_saving=is_saving)
    assert [post_id for post_id, _ in outcome.results] == [post.record.post_id]
    return outcome.results[0][1]


async def stored(member: Member, post_id: str = "1") -> dict[str, Any]:
    response = await member.get(f"/v1/bookmarks/{post_id}")
    assert response.status_code == 200, response.text
    data: dict[str, Any] = response.json()["data"]
    return data


async def run(member: Member, *posts: FoundPost) -> str:
    """Imports the posts in a run of their own; returns its id."""
    account = await member.account()
    runs = ImportRuns(member.database, member.clock)
    started = await runs.start(account, source="x", kind="full", client="test")
    await take(member, *posts, run_id=started.run_id)
    await runs.finish(account, started.run_id, "end")
    return started.run_id


async def dump(member: Member) -> dict[str, list[tuple[Any, ...]]]:
    return await dump_of(member.database, await member.account())


async def dump_before_updates(
    database: Database, account: Account
) -> dict[str, list[tuple[Any, ...]]]:
    """Without the times of updates: where the clock runs, an undo has its own."""
    rows = await dump_of(database, account)
    # The columns end with updated_at and picture_print, because later releases have added them.
    rows["bookmark"] = sorted((row[:-2] + row[-1:] for row in rows["bookmark"]), key=repr)
    return rows


async def dump_of(database: Database, account: Account) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of the account's library, with the words of each post.

    Without the last column of posts: a label that was refused stays so, whatever is undone. And
    without that of labels, when each was last changed: an undo changes it too.
    """
    values = {"account_id": account.account_id}
    rows = {}
    for table, columns in _TABLES.items():
        sql = f"SELECT {columns} FROM {table} WHERE account_id = :account_id"  # noqa: S608 - constants
        rows[table] = sorted(map(tuple, await database.rows(sql, values)), key=repr)
    for table in ("bookmark", "label"):
        rows[table] = [row[:-1] for row in rows[table]]
    if isinstance(database, SqliteDatabase):
        sql = "SELECT * FROM content WHERE place BETWEEN :place AND :place_end"
        words = "SELECT rowid FROM keyword WHERE rowid BETWEEN :place AND :place_end"
        values |= place_values(account)
    else:
        sql = "SELECT * FROM content WHERE account_id = :account_id"
        words = "SELECT * FROM keyword WHERE account_id = :account_id"
    for name, statement in (("content", sql), ("keyword", words)):
        found = await database.rows(statement, values)
        rows[name] = sorted(map(tuple, found), key=repr)
    return rows
