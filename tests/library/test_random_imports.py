"""Imports of random posts: they are predicted, can be repeated, and can be undone in any order."""

import random
from typing import Any

import msgspec
import pytest

from bowerbird.library.imports.file_imports import DryRun
from bowerbird.library.imports.intake import parts
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.sources import own_json
from bowerbird.sources.found import FoundPost
from tests.support import make, writing
from tests.support.imports import dump, found, run, take
from tests.support.service import NOW, Member

pytestmark = pytest.mark.anyio

SEEDS = range(6)
INDEX = (NOW // 1000) << 20
FIRST, SECOND = "2026-07-01T00:00:00.000000+00:00", "2026-07-05T00:00:00Z"
REPLY = {"tweet_conversation_id": "1", "is_sub_tweet_of_thread": True}
FIELDS: dict[str, list[Any]] = {
    "tags": [[], ["a"], ["b", "c"]],
    "metrics": [{"favorite_count": 1}, {"favorite_count": 2}],
    "is_read": [True, False],
    "is_archived": [True, False],
    "meta": [REPLY],
}
STATE: dict[str, list[Any]] = {
    "gone_at": [None, FIRST, SECOND],
    "gone_reason": [None, "Deleted"],
    "removed_at": [None, FIRST, SECOND],
    "note": [None, "one", "two"],
    "sort_index": [INDEX, INDEX + 3],
}
PLACES: list[dict[str, Any]] = [
    {},
    {"order": OrderSource.X, "sort_index": INDEX + 1},
    {"order": OrderSource.SAVED_DATE, "bookmarked_at": SECOND},
    {"order": OrderSource.FILE_POSITION},
]


def some(chance: random.Random, choices: dict[str, list[Any]]) -> dict[str, Any]:
    return {name: chance.choice(of) for name, of in choices.items() if chance.random() < 0.4}


def a_post(chance: random.Random) -> FoundPost:
    """A record of the API, a row of another program's file, a post of a page, or a mark."""
    post_id = str(chance.randint(1, 7))
    text = chance.choice(["", "words", "words and more of them", "other words"])
    fields = {"post_id": post_id, "text": text, **some(chance, FIELDS)}
    kind = chance.choice(["own", "row", "page", "mark"])
    if kind == "own":
        raw = make.raw(make.post(**{**fields, **some(chance, STATE)}))
        post = own_json.found_post(own_json.read(raw).incoming, 1)
        return msgspec.structs.replace(post, is_whole=chance.random() < 0.5)
    post = found(chance.choice(list(Completeness)), **fields, **chance.choice(PLACES))
    if kind == "row":
        return msgspec.structs.replace(post, note=chance.choice(["", "one", "three"]))
    if kind == "page":
        return msgspec.structs.replace(post, captured_at=NOW, is_saved=True, is_shown=True)
    said = {chance.choice(["gone_at", "removed_at"]): FIRST}
    record = msgspec.structs.replace(found(post_id=post_id).record, **said)
    return FoundPost(record=record, line=0, completeness=Completeness.STUB, is_mark=True)


async def fill(member: Member, chance: random.Random) -> None:
    await take(member, *(a_post(chance) for _ in range(12)))
    for post_id in ("1", "2"):
        await member.client.delete(f"/v1/bookmarks/{post_id}")


@pytest.mark.both
@pytest.mark.parametrize("seed", SEEDS)
async def test_random_imports_are_undone_in_any_order(
    alice: Member, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    monkeypatch.setattr("bowerbird.library.imports.undoing.POSTS_PER_TURN", 3)
    await fill(alice, chance)
    before = await dump(alice)
    runs = ImportRuns(alice.database, alice.clock)
    run_ids = [await run(alice, *(a_post(chance) for _ in range(6))) for _ in range(4)]
    chance.shuffle(run_ids)

    for run_id in run_ids:
        await runs.undo(await alice.account(), run_id)
        assert await writing.recount(alice) == []

    assert await dump(alice) == before


@pytest.mark.parametrize("seed", SEEDS)
async def test_random_imports_are_predicted(alice: Member, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    await fill(alice, chance)
    account = await alice.account()
    chunks = list(parts([a_post(chance) for _ in range(20)]))
    dry_run = DryRun(alice.database, alice.clock, account)
    predicted = [await dry_run.take(chunk) for chunk in chunks]
    dry_run.close()
    runs = ImportRuns(alice.database, alice.clock)
    started = await runs.start(account, source="x", kind="file", client="test")

    done = [await take(alice, *chunk, run_id=started.run_id) for chunk in chunks]

    assert predicted == done


@pytest.mark.parametrize("seed", SEEDS)
async def test_random_posts_change_nothing_when_they_come_again(alice: Member, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    posts = {post.record.post_id: post for post in (a_post(chance) for _ in range(12))}
    await take(alice, *posts.values())
    before, version = await dump(alice), await writing.version(alice)
    alice.clock.now += writing.HOUR

    again = await take(alice, *posts.values())

    assert (again.counts.new, again.counts.changed) == (0, 0)
    assert await dump(alice) == before
    assert await writing.version(alice) == version
