"""What becomes of a found post that the library already has."""

from typing import Any

import msgspec
import pytest

from bowerbird.library.bookmarks.writing import trash_batch
from bowerbird.library.imports.intake import Intake, ItemResult
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.model.arrival import Completeness, OrderSource, SourceUser
from bowerbird.sources import own_json
from bowerbird.sources.found import FoundPost
from bowerbird.storage.database import Writable
from bowerbird.storage.ingest import SourcePostStore
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support import make, writing
from tests.support.imports import found, result, stored, take
from tests.support.service import NOW, Member

pytestmark = pytest.mark.anyio

FULL, PREVIEW, STUB = Completeness.FULL, Completeness.PREVIEW, Completeness.STUB
MS = NOW // 1000


async def index_of_words(member: Member) -> list[Any]:
    """Changes with every write to the index, also if it writes the same words again."""
    is_sqlite = isinstance(member.database, SqliteDatabase)
    sql = "SELECT id, block FROM keyword_data" if is_sqlite else "SELECT xmin FROM keyword"
    return [tuple(row) for row in await member.database.rows(sql, {})]


def likes(post: dict[str, Any]) -> Any:
    return post["tweet_details"]["meta"]["non_real_time_engagement_metrics"]["favorite_count"]


def of_x(sort_index: int) -> dict[str, Any]:
    """The place of a post on a page of X."""
    return {"order": OrderSource.X, "sort_index": sort_index}


LONG = "A long text that X shows in full only in a note, to the very end."
BODY = {"id": "9", "title": "On nests", "plain_text": "The whole article.", "is_preview": False}
TITLE = {"id": "9", "title": "On nests", "plain_text": None, "is_preview": True}
IMAGE = {"type": "image", "url": "https://pbs.twimg.com/a.jpg"}
QUOTED = {"post_id": "8", "text": "quoted words", "link": "https://x.com/i/status/8"}
GONE = {"post_id": "8", "link": "https://x.com/i/status/8", "unavailable": True}

RICHER = {
    "a full text and its beginning": (
        ("text", LONG), found(text=LONG), found(PREVIEW, text=LONG[:30] + "…")
    ),
    "a full text and the text of a link": (
        ("text", LONG), found(text=LONG), found(STUB, text="ada on X")
    ),
    "an article and its title": (
        ("article", BODY), found(article=BODY), found(PREVIEW, article=TITLE)
    ),
    "an article and none": (("article", BODY), found(article=BODY), found(PREVIEW)),
    "an article and its title, both in full posts": (
        ("article", BODY), found(article=BODY), found(article=TITLE)
    ),
    "pictures and none": (
        ("attachments", [IMAGE]), found(attachments=[IMAGE]), found(STUB)
    ),
    "pictures and none, both in full posts": (
        ("attachments", [IMAGE]), found(attachments=[IMAGE]), found()
    ),
    "a quoted post and a missing one": (
        ("quoted_tweet", QUOTED), found(quoted=QUOTED), found(quoted=GONE)
    ),
    "a full text and a cut one that claims to be full": (
        ("text", LONG), found(text=LONG), found(text=LONG[:30] + "…")
    ),
    "a full text and a cut one with a link to the rest": (
        ("text", LONG), found(text=LONG), found(text=LONG[:60] + "… https://t.co/AbC123")
    ),
    "a full text and a cut one with the address of the post": (
        ("text", LONG),
        found(text=LONG),
        found(text=LONG[:30] + "… https://twitter.com/i/web/status/1"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RICHER)
@pytest.mark.parametrize("richer_first", [True, False])
async def test_the_richer_value_wins_in_any_order(
    alice: Member, case: str, *, richer_first: bool
) -> None:
    (field, value), richer, poorer = RICHER[case]

    for post in (richer, poorer) if richer_first else (poorer, richer):
        await take(alice, post)

    assert (await stored(alice))["tweet_details"][field] == value


async def test_a_link_at_the_end_of_another_text_is_not_a_cut(alice: Member) -> None:
    await take(alice, found(text="Nests and more"))
    await take(alice, found(text="Nests https://t.co/a"))

    assert (await stored(alice))["tweet_details"]["text"] == "Nests https://t.co/a"


async def test_a_known_author_is_not_replaced_by_none(alice: Member) -> None:
    await take(alice, found(author="ada", name="Ada L."))
    await take(alice, found(STUB, author="", name="", author_id=""))

    post = await stored(alice)

    assert (post["author_id"], post["author_username"]) == ("7", "ada")
    assert post["author_details"]["name"] == "Ada L."


async def test_a_stub_is_completed(alice: Member) -> None:
    assert await result(alice, found(STUB, text="", author="", name="")) is ItemResult.NEW

    assert await result(alice, found(text=LONG, author="ada")) is ItemResult.CHANGED

    post = await stored(alice)
    assert (post["tweet_details"]["text"], post["author_username"]) == (LONG, "ada")
    assert await alice.ids(q="note") == ["1"]


async def test_new_counts_are_stored_and_do_not_touch_the_index_of_words(alice: Member) -> None:
    await take(alice, found(metrics={"favorite_count": 1}))
    await alice.embed()
    before = await index_of_words(alice)

    outcome = await result(alice, found(metrics={"favorite_count": 2}))

    assert likes(await stored(alice)) == 2
    assert outcome is ItemResult.UNCHANGED
    assert await index_of_words(alice) == before
    assert await alice.embed() == 0
    assert await writing.recount(alice) == []


async def seen(member: Member, at: int) -> None:
    """A page that was captured at this moment had the post."""
    store, account = SourcePostStore(member.database), await member.account()
    await member.database.write(
        lambda transaction: store.change(
            Writable(transaction, account.account_id),
            SourceUser("x", "7"),
            "1",
            at=at,
            is_saved=True,
        ),
        account.account_id,
    )


@pytest.mark.parametrize(("captured_at", "expected"), [(-1, (9, "Now")), (0, (4, "Then"))])
async def test_an_older_page_changes_neither_counts_nor_the_profile(
    alice: Member, captured_at: int, expected: tuple[int, str]
) -> None:
    await take(alice, found(name="Now", metrics={"favorite_count": 9}))
    await seen(alice, NOW)

    late = found(name="Then", metrics={"favorite_count": 4}, attachments=[IMAGE])
    await take(alice, msgspec.structs.replace(late, captured_at=NOW + captured_at))

    post = await stored(alice)
    assert (likes(post), post["author_details"]["name"]) == expected
    assert post["tweet_details"]["attachments"] == [IMAGE]


async def test_counts_of_a_stub_are_unknown(alice: Member) -> None:
    await take(alice, found(metrics={"favorite_count": 5}))
    await take(alice, found(STUB, metrics={"favorite_count": 0}))

    assert likes(await stored(alice)) == 5


X_INDEX, LATER_INDEX = (MS - 10_000) << 20, (MS - 5_000) << 20
DATED: dict[str, Any] = {
    "order": OrderSource.SAVED_DATE,
    "bookmarked_at": "2024-05-01T10:00:00+00:00",
}
DATED_INDEX = (1714557600000 << 20) | (0xFFFFF - 1)
EARLY_INDEX = (1714557600000 - 1) << 20


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (of_x(X_INDEX), DATED, X_INDEX),
        (DATED, of_x(X_INDEX), X_INDEX),
        (of_x(EARLY_INDEX), DATED, DATED_INDEX),
        (DATED, {"order": OrderSource.FILE_POSITION}, DATED_INDEX),
        ({"order": OrderSource.FILE_POSITION}, DATED, DATED_INDEX),
        (DATED, {}, DATED_INDEX),
        (of_x(X_INDEX), of_x(LATER_INDEX), LATER_INDEX),
        (of_x(LATER_INDEX), of_x(X_INDEX), LATER_INDEX),
    ],
)
async def test_the_better_source_decides_the_place(
    alice: Member, first: dict[str, Any], second: dict[str, Any], expected: int
) -> None:
    await take(alice, found(**first))
    await take(alice, found(**second))

    assert (await stored(alice))["sort_index"] == expected


async def test_a_post_saved_again_moves_up_and_an_old_page_cannot_undo_it(alice: Member) -> None:
    listed = found(**of_x(EARLY_INDEX))
    await take(alice, listed, found(post_id="2", **of_x(EARLY_INDEX + 1)))
    assert await alice.ids() == ["2", "1"]

    await take(alice, found(**DATED))
    await take(alice, listed)

    assert await alice.ids() == ["1", "2"]
    assert (await stored(alice))["bookmarked_at"] == "2024-05-01T10:00:00.000000+00:00"


async def test_the_time_of_saving_comes_from_the_index_of_x(alice: Member) -> None:
    await take(alice, found(**of_x(MS << 20)))

    assert (await stored(alice))["bookmarked_at"] == "2026-07-18T08:21:13.841000+00:00"


@pytest.mark.parametrize("moment", [MS + 400_000, 1_000_000_000_000])
async def test_an_index_that_is_no_moment_of_saving_is_only_an_order(
    alice: Member, moment: int
) -> None:
    await take(alice, found(**of_x(moment << 20)))

    assert (await stored(alice))["bookmarked_at"] == "2026-07-18T08:21:13.841838+00:00"


async def test_posts_of_a_list_are_placed_in_its_order(alice: Member) -> None:
    listed = [found(post_id=str(n), order=OrderSource.FILE_POSITION) for n in range(1, 6)]

    await take(alice, *listed)

    assert await alice.ids() == ["1", "2", "3", "4", "5"]


async def test_a_list_without_dates_does_not_move_a_saved_post(alice: Member) -> None:
    await take(alice, found(post_id="1"))
    before = await stored(alice)
    await take(alice, found(post_id="2", **of_x((MS + 1) << 20)))

    listed = [found(post_id=one, order=OrderSource.FILE_POSITION) for one in ("1", "2", "3")]
    await take(alice, *listed)

    assert await alice.ids() == ["2", "3", "1"]
    assert {name: before[name] for name in ("sort_index", "bookmarked_at")}.items() <= (
        await stored(alice)
    ).items()


async def test_found_labels_are_added_and_none_is_removed(alice: Member) -> None:
    await take(alice, found(tags=["a", "b"]))
    await take(alice, found(tags=["C"]))
    await take(alice, found(tags=[]))
    await take(alice, found())

    assert (await stored(alice))["tags"] == ["a", "b", "C"]
    assert await writing.labels(alice) == {"a": 1, "b": 1, "C": 1}


async def test_a_later_sync_does_not_touch_the_flags(alice: Member) -> None:
    await take(alice, found(is_read=False, is_archived=True))
    await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"is_read": True, "is_archived": False})

    await take(alice, found(text="other words", is_read=False, is_archived=True))

    post = await stored(alice)
    assert (post["is_read"], post["is_archived"]) == (True, False)


async def test_a_post_of_another_network_shows_its_source(alice: Member) -> None:
    await take(alice, found(post_id="1"), found(post_id="2", source="bluesky", source_id="at://x"))

    assert (await stored(alice, "2"))["source"] == "bluesky"
    assert (await stored(alice, "2"))["source_id"] == "at://x"
    assert "source" not in await stored(alice, "1")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("2026-01-02", "2026-01-02T00:00:00+00:00"),
        ("2026-01-02T10:00", "2026-01-02T10:00+00:00"),
        ("2026-01-02 10:00:01", "2026-01-02T10:00:01+00:00"),
        ("2026-01-02T10:00:00Z", "2026-01-02T10:00:00Z"),
        ("2026-01-02T10:00:00-05:00", "2026-01-02T10:00:00-05:00"),
    ],
)
async def test_the_time_of_a_post_has_an_offset(alice: Member, given: str, shown: str) -> None:
    await take(alice, found(posted_at=given))
    await alice.save(post_id="2", posted_at=given)

    for post_id in ("1", "2"):
        assert (await stored(alice, post_id))["tweet_details"]["posted_at"] == shown
    assert await writing.recount(alice) == []


THREAD = {"tweet_conversation_id": "1"}
REPLY = {
    "tweet_conversation_id": "1",
    "tweet_reply_to_user_id": "7",
    "is_sub_tweet_of_thread": True,
}


@pytest.mark.parametrize("order", ["root first", "reply first", "together"])
async def test_the_first_post_of_a_thread_is_marked(alice: Member, order: str) -> None:
    root, reply = found(meta=THREAD), found(post_id="2", meta=REPLY)
    batches = {"root first": [[root], [reply]], "reply first": [[reply], [root]]}

    for batch in batches.get(order, [[root, reply]]):
        await take(alice, *batch)

    assert (await stored(alice))["tweet_details"]["meta"]["tweet_is_thread"] is True
    assert await writing.recount(alice) == []


async def test_a_reply_of_somebody_else_makes_no_thread(alice: Member) -> None:
    await take(alice, found(author="ada", meta=THREAD))
    await take(alice, found(post_id="2", author="eve", meta=REPLY))

    assert (await stored(alice))["tweet_details"]["meta"]["tweet_is_thread"] is False


async def test_a_deleted_post_stays_deleted_until_it_is_saved_again(alice: Member) -> None:
    await take(alice, found(**of_x(X_INDEX)))
    await writing.send(alice, "DELETE", "/v1/bookmarks/1")

    assert await result(alice, found(**of_x(X_INDEX))) is ItemResult.IGNORED_DELETED
    assert await result(alice, found()) is ItemResult.IGNORED_DELETED
    assert await result(alice, found(**DATED)) is ItemResult.IGNORED_DELETED
    assert await alice.ids() == []
    assert await result(alice, found(**of_x(LATER_INDEX))) is ItemResult.NEW
    assert await alice.ids() == ["1"]
    assert await result(alice, found(**of_x(X_INDEX))) is ItemResult.UNCHANGED


async def test_a_deleted_post_stays_deleted_after_the_trash_is_emptied(alice: Member) -> None:
    await take(alice, found())
    await writing.send(alice, "DELETE", "/v1/bookmarks/1")
    alice.clock.now += 31 * writing.DAY
    # The post, and the change that deleted it with its row.
    assert await Sweeping(alice.database, alice.clock, pause_s=0).sweep() == 3

    assert await result(alice, found()) is ItemResult.IGNORED_DELETED


async def test_a_post_that_its_owner_saves_on_purpose_comes_back(alice: Member) -> None:
    await take(alice, found(STUB))
    await writing.send(alice, "DELETE", "/v1/bookmarks/1")

    assert await result(alice, found(STUB), is_saving=True) is ItemResult.NEW
    assert await result(alice, found(STUB)) is ItemResult.UNCHANGED


async def test_a_restored_post_is_not_deleted(alice: Member) -> None:
    await take(alice, found(STUB, text="a"))
    await writing.send(alice, "DELETE", "/v1/bookmarks/1")
    await writing.send(alice, "POST", "/v1/bookmarks/1/restore")

    assert await result(alice, found(STUB, text="a")) is ItemResult.UNCHANGED
    assert await result(alice, found(text=LONG)) is ItemResult.CHANGED


async def test_only_the_latest_deletions_are_remembered(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash_batch, "DELETIONS_MAX", 2)
    await take(alice, *(found(post_id=post_id) for post_id in ("1", "2", "3")))
    for post_id in ("1", "2", "3"):
        alice.clock.now += 1
        await writing.send(alice, "DELETE", f"/v1/bookmarks/{post_id}")

    outcome = await take(alice, *(found(post_id=post_id) for post_id in ("1", "2", "3")))

    assert [one for _, one in outcome.results] == [
        ItemResult.NEW,
        ItemResult.IGNORED_DELETED,
        ItemResult.IGNORED_DELETED,
    ]


async def test_a_post_that_changed_after_the_comparison_is_compared_again(alice: Member) -> None:
    intake, account = Intake(alice.database, alice.clock), await alice.account()
    await take(alice, found(STUB, text=""))
    prepared = await intake.prepare(account, [found(PREVIEW, text="A long text…")])
    await take(alice, found(text=LONG))

    await alice.database.write(lambda t: intake.take_within(t, account, prepared))

    assert (await stored(alice))["tweet_details"]["text"] == LONG


async def test_a_record_of_a_file_of_the_api_replaces_the_content(alice: Member) -> None:
    await take(alice, found(text=LONG, tags=["a", "b"], attachments=[IMAGE]))
    incoming = own_json.read(make.raw(make.post(post_id="1", text="short", tags=["c"]))).incoming
    record = FoundPost(record=incoming.record, line=1, own=incoming, is_whole=True)

    assert await result(alice, record) is ItemResult.CHANGED

    post = await stored(alice)
    assert (post["tweet_details"]["text"], post["tags"]) == ("short", ["c"])
    assert post["tweet_details"]["attachments"] == []


async def test_a_record_of_the_api_in_an_event_fills_the_post_and_moves_it(alice: Member) -> None:
    await take(alice, found(attachments=[IMAGE], **of_x(EARLY_INDEX)))
    sent = {"post_id": "1", "tweet_details": {"text": "sent"}}
    record = own_json.found_post(own_json.read(make.raw(sent)).incoming, line=1)
    saved = msgspec.structs.replace(record.record, bookmarked_at=DATED["bookmarked_at"])

    await take(
        alice,
        msgspec.structs.replace(record, record=saved, order_source=OrderSource.SAVED_DATE),
        is_saving=True,
    )

    post = await stored(alice)
    details = post["tweet_details"]
    assert (details["text"], details["attachments"]) == ("sent", [IMAGE])
    assert post["sort_index"] == DATED_INDEX


async def test_two_records_of_a_post_in_one_page_are_merged(alice: Member) -> None:
    outcome = await take(alice, found(STUB, text="", tags=["a"]), found(text=LONG, tags=["b"]))

    assert [one for _, one in outcome.results] == [ItemResult.NEW, ItemResult.CHANGED]
    post = await stored(alice)
    assert (post["tweet_details"]["text"], post["tags"]) == (LONG, ["a", "b"])
