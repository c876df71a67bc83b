"""No result exceeds the maximum size, whatever the library and the arguments contain."""

import json
from typing import Any, Final

import pytest

from bowerbird.toolserver.assembly import TOOLS
from bowerbird.toolserver.tools.results import response_size
from tests.support import digesting, make, writing
from tests.support.service import Member, Service
from tests.support.toolcalls import ask, call, result_of

pytestmark = pytest.mark.anyio

MOST: Final = 25 * 1024
# Label names of 100 characters with three bytes per character.
NAMES: Final = [f"{number:03d}" + "\u9ce5" * 97 for number in range(99)]
LONG: Final = "\u9ce5" * 999
QUERY: Final = {
    "q": LONG,
    **dict.fromkeys(("author", "tag"), LONG),
    "posted_from": "2026-01-01T00:00:00+00:00",
}
UNKNOWN: Final = [f"{number:040d}" for number in range(5_000)]


@pytest.fixture
def alice(service: Service) -> Member:
    return service.alice


async def filled(member: Member) -> list[str]:
    """A library of large posts; returns their ids."""
    posts = [
        make.post(
            text=LONG,
            name=LONG,
            tags=NAMES,
            article={"title": LONG, "plain_text": LONG * 3},
            attachments=[{"type": "photo", "url": f"https://x.com/{n}"} for n in range(400)],
            bookmarked_at=f"2026-07-14T12:00:{number:02d}+00:00",
        )
        for number in range(24)
    ]
    await member.save_all(posts)
    await digesting.make(member)
    return [post["post_id"] for post in posts]


# Their results have the same form as those of delete_bookmarks.
CHANGES = ("undo_change", "get_change", "merge_labels", "delete_label")
# Their results repeat at most one short text.
SMALL = (
    *("update_note", "add_highlight", "update_highlight", "delete_highlight", "update_label"),
    *(
        "update_digest_preferences",
        "undo_import",
        "similar_bookmarks",
        "resolve_duplicates",
        "suggest_labels",
    ),
    *("create_rule", "update_rule", "delete_rule"),
)


def arguments(ids: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Calls of every tool whose results would be too large."""
    labelled = {"post_ids": [*ids, *UNKNOWN[: 100 - len(ids)]], "label_name": NAMES[0]}
    changes = [
        {"op": "add", "post_ids": [ids[0], *UNKNOWN[n * 99 :][:99]], "label_name": "x"}
        for n in range(50)
    ]
    buckets = [{"name": f"{n}", "query": {"author": LONG, "tag": LONG}} for n in range(20)]
    view = {"name": "v", "base_query": {"q": LONG}, "description": LONG, "triage_buckets": buckets}
    return {
        "list_bookmarks": [{"limit": 100}, {"response_format": "detailed"}, QUERY],
        "search_bookmarks": [{"query": LONG}, {"query": LONG[:3], "response_format": "detailed"}],
        "get_bookmarks": [
            {"post_ids": ids[:20], "max_chars": 20_000},
            {"post_ids": [*ids[:1], *UNKNOWN[:19]]},
        ],
        "count_bookmarks": [QUERY],
        "update_bookmarks": [{"post_ids": labelled["post_ids"], "is_read": False}],
        "delete_bookmarks": [{"filter": {}, "dry_run": True}, {"post_ids": ids[20:]}],
        "list_trash": [{"limit": 100}, {"q": LONG[:3]}],
        "list_changes": [{"limit": 100}],
        "list_duplicates": [{"limit": 50}],
        "list_rules": [{}],
        "restore_bookmarks": [{"filter": {}, "dry_run": True}],
        "save_bookmarks": [
            {"links": ["https://example.com/" + "\U0001f426" * 200] * 100},
            {
                "links": [f"https://x.com/i/status/{post_id}" for post_id in ids],
                "labels": [f"{number}" + "\U0001f426" * 90 for number in range(10)],
            },
        ],
        "list_imports": [{"limit": 100}],
        "facet_bookmarks": [{"by": "label", "limit": 100}, {"by": "author", **QUERY}],
        "list_labels": [{}],
        "add_label": [labelled],
        "remove_label": [{**labelled, "label_name": NAMES[1]}],
        "batch_label": [{"operations": changes}],
        "create_view": [view, {"name": "all", "base_query": {"is_unread_only": False}}],
        "update_view": [{"slug": "v", **view}],
        "list_views": [{}],
        "get_view_bookmarks": [{"slug": "v"}, {"slug": "all", "limit": 100}],
        "delete_view": [{"slug": "v"}],
        "create_export": [{"format": "json"}],
        "list_digests": [{"limit": 100}],
        "get_digest": [{}],
        "get_account": [{}],
    }


async def test_every_result_fits_and_matches_its_schema(alice: Member) -> None:
    calls = arguments(await filled(alice))
    assert calls.keys() == {tool.name for tool in TOOLS} - {"get_export", *CHANGES, *SMALL}

    for tool, sent in calls.items():
        for one in sent:
            # result_of checks the result against the published schema.
            result = await result_of(alice, tool, **one)
            assert not result["isError"], (tool, result["content"])
            assert len(result["content"][0]["text"].encode()) <= MOST, tool


async def test_every_resource_fits(alice: Member) -> None:
    ids = await filled(alice)
    await call(alice, "create_view", **arguments(ids)["create_view"][0])
    await call(alice, "create_view", name="all")

    for uri in (f"bookmark://{ids[0]}", "view://v", "view://all", "digest://latest"):
        (content,) = (await ask(alice, "resources/read", uri=uri))["contents"]
        assert len(content["text"].encode()) <= MOST, uri
        if content["mimeType"] == "application/json":
            assert json.loads(content["text"])["truncated"] is True, uri


async def test_a_post_that_is_too_large_is_truncated(alice: Member) -> None:
    saved = await alice.save(
        text="owls " * 300, attachments=[{"url": f"https://x.com/{n}"} for n in range(3_000)]
    )

    answer = await call(alice, "get_bookmarks", post_ids=[saved["post_id"]])
    listed = await call(alice, "list_bookmarks", response_format="detailed")

    for shown in (answer, listed):
        details = shown["bookmarks"][0]["tweet_details"]
        assert details["text"].startswith("owls owls")
        assert len(details["attachments"]) > 20
        assert shown["truncated"] is True
        assert shown["advice"].startswith(response_size.TRUNCATED)


async def test_a_truncated_digest_keeps_every_part(alice: Member) -> None:
    await filled(alice)

    digest = await call(alice, "get_digest")

    assert digest["truncated"] is True
    assert digest["saved"]["count"] == 24
    assert digest["saved"]["posts"][0]["text"].startswith("\u9ce5")
    assert digest["saved"]["by_author"][0]["count"] == 24
    assert digest["unread"]["posts"]


async def test_labelling_many_posts_returns_the_posts_that_fit(alice: Member) -> None:
    ids = await filled(alice)

    answer = await call(alice, "add_label", post_ids=ids, label_name="x")

    assert answer["truncated"] is True
    assert answer["affected"] == len(ids)
    assert 0 < len(answer["posts"]) < len(ids)
    assert "get_bookmarks" in answer["advice"]
    assert (await writing.labels(alice))["x"] == len(ids)


async def test_resources_are_listed_page_by_page(alice: Member) -> None:
    for number in range(60):
        await call(alice, "create_view", name=f"view {number:02d}", description=LONG)
    seen: list[str] = []
    page: dict[str, Any] = {"nextCursor": None}

    while "nextCursor" in page:
        cursor = {"cursor": page["nextCursor"]} if page["nextCursor"] else {}
        page = await ask(alice, "resources/list", **cursor)
        assert len(json.dumps(page, ensure_ascii=False).encode()) <= MOST
        seen += [resource["title"] for resource in page["resources"]]

    assert seen == [f"view {number:02d}" for number in range(60)]


def test_a_record_with_thousands_of_fields_keeps_its_id() -> None:
    inner = {f"field{number}": "x" * 30 for number in range(3_000)}

    made = response_size.shrink({"post_id": "1", "tweet_details": inner}, 5_000)

    assert made["post_id"] == "1"
    assert 3_000 < response_size.size(made) <= 5_000
