"""No account can read, count or guess the data of another. One row per endpoint."""

import re
import secrets
from typing import Any, Final
from unittest.mock import patch

import httpx
import pytest

from bowerbird.library.exports.links import Links
from bowerbird.library.webhooks import webhooks
from tests.support import digesting, exporting, imports, make, writing
from tests.support.offenders import Offenders
from tests.support.posts import ruling
from tests.support.published import of_accounts
from tests.support.service import Member, Service, member

pytestmark = [pytest.mark.anyio, pytest.mark.both]

THEIRS: Final = ("7001", "7002", "7003")
THROWN_AWAY: Final = "7004"
_OPERATION: Final = {"tweet_ids": ["{post_id}"], "label_name": "Theirs"}

# Requests for bob's data per endpoint: a query and a body. `_filled` replaces the braces.
ASKED: Final[dict[tuple[str, str], list[tuple[str, Any]]]] = {
    ("get", "/v1/bookmarks"): [
        ("", None),
        ("?is_unread_only=false&hide_archived=false", None),
        ("?tag=theirs", None),
        ("?author=bob", None),
        ("?author=Bob%20B.", None),
        ("?q=geheim", None),
        ("?q=-nichts", None),
        ("?q=geheim&sort_by=relevance", None),
        ("?vector_search_term=geheim", None),
        ("?vector_search_term=geheim&q=geheim&sort_by=title", None),
        ("?media_type=image", None),
        ("?posted_from=2000-01-01&bookmarked_from=2000-01-01", None),
        ("?cursor={cursor}", None),
        ("?sort_by=title&sort_cursor=a", None),
        ("?sort_cursor=9999999", None),
        ("?ids={post_id}", None),
        ("?updated_since=2000-01-01&fields=post_id,note", None),
    ],
    ("get", "/v1/bookmarks/count"): [
        ("", None),
        ("?is_unread_only=false&hide_archived=false", None),
        ("?tag=theirs", None),
        ("?author=bob", None),
        ("?q=geheim", None),
        ("?q=-nichts", None),
        ("?vector_search_term=geheim", None),
    ],
    ("post", "/v1/bookmarks"): [
        ("", {"links": ["https://x.com/i/status/{post_id}"], "labels": ["Their label"]}),
        ("", {"posts": [{"post_id": "{post_id}", "tweet_details": {"text": "mine"}}]}),
    ],
    ("get", "/v1/account"): [("", None)],
    ("get", "/v1/bookmarks/{post_id}"): [("", None)],
    ("get", "/v1/bookmarks/{post_id}/similar"): [("", None), ("?limit=5", None)],
    ("get", "/v1/bookmarks/{post_id}/suggested_labels"): [("", None)],
    ("delete", "/v1/bookmarks/{post_id}/suggested_labels/{label_id}"): [("", None)],
    ("post", "/v1/bookmarks/{post_id}/new_labels"): [("", None)],
    ("get", "/v1/imports/{run_id}/suggested_labels"): [("", None)],
    ("post", "/v1/imports/{run_id}/suggested_labels/apply"): [("", {})],
    ("patch", "/v1/bookmarks/{post_id}"): [
        ("", {"is_read": True, "is_archived": True}),
        ("", {"note": "mine"}),
    ],
    ("delete", "/v1/bookmarks/{post_id}"): [("", None)],
    ("post", "/v1/bookmarks/{post_id}/restore"): [("", None), ("?thrown_away", None)],
    ("post", "/v1/bookmarks/{post_id}/highlights"): [("", {"quote": "geheim"})],
    ("patch", "/v1/bookmarks/{post_id}/highlights/{highlight_id}"): [("", {"comment": "mine"})],
    ("delete", "/v1/bookmarks/{post_id}/highlights/{highlight_id}"): [("", None)],
    ("get", "/v1/bookmarks/facets"): [("?by=label", None), ("?by=author", None)],
    ("post", "/v1/bookmarks/update"): [
        ("", {"tweet_ids": ["{post_id}"], "is_read": True}),
        ("", {"filter": {"tag": "theirs"}, "is_read": True, "dry_run": True}),
        ("", {"filter": {"tag": "theirs"}, "is_read": True, "expected_count": 0}),
    ],
    ("post", "/v1/bookmarks/changes"): [
        ("", {"action": "trash", "filters": {}, "expected_count": 0}),
        ("", {"action": "read", "tweet_ids": ["{post_id}"], "dry_run": True}),
        ("", {"action": "add_label", "filters": {"tag": "theirs"}, "label_name": "Theirs"}),
        ("", {"action": "remove_label", "filters": {}, "label_name": "Theirs"}),
        ("", {"action": "archive", "view": "{slug}"}),
        ("", {"action": "restore", "filters": {}}),
    ],
    ("post", "/v1/bookmarks/delete"): [
        ("", {"filter": {}, "expected_count": 0}),
        ("", {"tweet_ids": ["{post_id}"]}),
    ],
    ("post", "/v1/bookmarks/restore"): [
        ("", {"filter": {}, "dry_run": True}),
        ("", {"filter": {}, "expected_count": 0}),
        ("", {"tweet_ids": ["{post_id}"]}),
    ],
    ("get", "/v1/bookmarks/changes"): [("", None)],
    ("get", "/v1/bookmarks/trash"): [("", None), ("?author=theirs", None)],
    ("get", "/v1/bookmarks/duplicates"): [
        *(("", None), ("?same=text", None), ("?same=picture", None)),
    ],
    ("post", "/v1/bookmarks/duplicates/resolve"): [
        ("", {"groups": [{"keep": "{post_id}", "remove": ["1"]}]}),
        ("", {"groups": [{"keep": "1", "remove": ["{post_id}"]}]}),
    ],
    ("get", "/v1/bookmarks/changes/{change_id}"): [("", None)],
    ("post", "/v1/bookmarks/changes/{change_id}/undo"): [("", None)],
    ("get", "/v1/labels"): [("", None)],
    ("get", "/v1/labels/{label_id}"): [("", None)],
    ("post", "/v1/labels/add"): [
        ("", _OPERATION),
        ("", {"tweet_ids": ["{post_id}"], "label_id": "{label_id}"}),
    ],
    ("post", "/v1/labels/remove"): [
        ("", _OPERATION),
        ("", {"tweet_ids": ["{post_id}"], "label_id": "{label_id}"}),
    ],
    ("post", "/v1/labels/batch"): [
        ("", {"operations": [{"op": "add", **_OPERATION}, {"op": "remove", **_OPERATION}]}),
    ],
    ("patch", "/v1/labels/{label_id}"): [("", {"label_name": "mine"}), ("", {})],
    ("delete", "/v1/labels/{label_id}"): [("", None)],
    ("post", "/v1/labels/{label_id}/merge"): [("", {"into": "{label_id}"}), ("", {"into": "2"})],
    ("get", "/v1/changes"): [("", None), ("?cursor=now", None)],
    ("get", "/v1/views"): [("", None)],
    ("post", "/v1/views"): [("", {"name": "Their View", "base_query": {"tag": "Theirs"}})],
    ("get", "/v1/views/{slug}"): [("", None)],
    ("patch", "/v1/views/{slug}"): [("", {"name": "mine"}), ("", {})],
    ("delete", "/v1/views/{slug}"): [("", None)],
    ("get", "/v1/shares"): [("", None)],
    ("post", "/v1/shares"): [
        ("", {"label_name": "Theirs"}),
        ("", {"view": "{slug}", "audience": "public", "name": "theirs"}),
    ],
    ("get", "/v1/shares/{share_id}"): [("", None)],
    ("patch", "/v1/shares/{share_id}"): [("", {"title": "mine"}), ("", {"is_on": False})],
    ("delete", "/v1/shares/{share_id}"): [("", None)],
    ("get", "/v1/views/{slug}/bookmarks"): [("", None), ("?cursor={view_cursor}", None)],
    ("get", "/v1/rules"): [("", None)],
    ("post", "/v1/rules"): [("", {"name": "mine", "when": "arrives", "actions": [{"do": "stop"}]})],
    ("get", "/v1/rules/log"): [("", None)],
    ("post", "/v1/rules/preview"): [("", {"query": {"q": "geheim"}})],
    ("get", "/v1/rules/{rule_id}"): [("", None)],
    ("patch", "/v1/rules/{rule_id}"): [("", {"name": "mine"}), ("", {})],
    ("delete", "/v1/rules/{rule_id}"): [("", None)],
    ("post", "/v1/rules/{rule_id}/apply"): [("", {})],
    ("post", "/v1/exports/pdf"): [("", {"view": "{slug}"}), ("", {"tweet_ids": ["{post_id}"]})],
    ("post", "/v1/exports/csv"): [("", None), ("", {"tag": "theirs"})],
    ("post", "/v1/exports/json"): [("", None), ("", {"q": "geheim"})],
    ("post", "/v1/exports/markdown"): [("", None), ("", {"view": "{slug}"})],
    ("post", "/v1/exports/netscape"): [("", None), ("", {"tweet_ids": ["{post_id}"]})],
    ("get", "/v1/exports/{job_id}"): [("", None)],
    ("get", "/v1/exports/{job_id}/file"): [("", None), ("?token={token}", None)],
    ("get", "/v1/webhooks"): [("", None)],
    ("post", "/v1/webhooks"): [("", {"url": "http://not.allowed.example"})],
    ("get", "/v1/webhooks/{webhook_id}"): [("", None)],
    ("patch", "/v1/webhooks/{webhook_id}"): [("", {"is_active": False, "tag": "mine"})],
    ("delete", "/v1/webhooks/{webhook_id}"): [("", None)],
    ("post", "/v1/webhooks/{webhook_id}/rotate"): [("", None)],
    ("post", "/v1/webhooks/{webhook_id}/test"): [("", None)],
    ("get", "/v1/webhooks/{webhook_id}/deliveries"): [("", None)],
    ("get", "/v1/webhooks/{webhook_id}/deliveries/{message_id}"): [("", None)],
    ("post", "/v1/webhooks/{webhook_id}/deliveries/{message_id}/send_again"): [("", None)],
    ("get", "/v1/digests"): [("", None), ("?limit=1", None)],
    ("get", "/v1/digests/preferences"): [("", None)],
    ("patch", "/v1/digests/preferences"): [("", {"hour": 9}), ("", {})],
    ("get", "/v1/digests/{digest_id}"): [("", None), ("?format=json", None)],
    ("get", "/v1/imports"): [("", None), ("?cursor={import_cursor}", None)],
    ("get", "/v1/imports/{run_id}"): [("", None)],
    ("post", "/v1/imports/{run_id}/undo"): [("", None)],
}


def test_every_published_endpoint_is_covered() -> None:
    published = {
        (method, path)
        for path, item in of_accounts().items()
        for method in item
        if method in ("get", "put", "post", "patch", "delete")
    }

    assert published == set(ASKED)


async def _fill(bob: Member) -> dict[str, str]:
    """Give bob data of every kind; return the ids and cursors that address it."""
    posts = [
        make.post(
            post_id=post_id,
            text="geheim",
            author="bob",
            name="Bob B.",
            tags=["theirs"],
            attachments=[{"type": "image"}],
            is_read=post_id == THEIRS[2],
            note="ihre Notiz",
            highlights=[{"id": "h1", "quote": "geheim", "comment": "ihre"}],
        )
        for post_id in (*THEIRS, THROWN_AWAY)
    ]
    await bob.save_all(posts)
    await bob.embed()
    await writing.send(bob, "DELETE", f"/v1/bookmarks/{THROWN_AWAY}")
    view = await writing.view(bob, "Their View", base_query={"q": "geheim"})
    share = await writing.send(bob, "POST", "/v1/shares", {"label_name": "theirs"})
    shown = (await bob.get(f"{view}/bookmarks", limit=1)).json()
    theirs = imports.found(post_id=THEIRS[0], text="geheim", author="bob", name="Bob B.")
    run_ids = [await imports.run(bob, theirs) for _ in range(2)]
    job_id = (await exporting.begin(bob))["job_id"]
    body = {"action": "add_label", "tweet_ids": [THEIRS[0]], "label_name": "theirs"}
    changed = await writing.send(bob, "POST", "/v1/bookmarks/changes", body)
    await writing.send(bob, "PATCH", "/v1/digests/preferences", {"time_zone": "Asia/Kathmandu"})
    rule = await ruling.rule(bob, query={"q": "geheim"})
    url = {"url": "https://theirs.example/geheim"}
    webhook = (await writing.send(bob, "POST", "/v1/webhooks", url)).json()["data"]
    with patch.object(webhooks, "WAIT_S", 0.0):
        tested = await writing.send(bob, "POST", f"/v1/webhooks/{webhook['id']}/test")
    now = bob.clock.now
    await digesting.make(bob, "2026-07-20T08:00:00+00:00")
    bob.clock.now = now
    return {
        "digest_id": (await digesting.ids(bob))[0],
        "post_id": THEIRS[0],
        "highlight_id": "h1",
        "label_id": await writing.label_id(bob, "theirs"),
        "slug": view.rpartition("/")[2],
        "share_id": share.json()["data"]["id"],
        "cursor": (await bob.listed(limit=1))["meta"]["next_cursor"],
        "view_cursor": shown["meta"]["next_cursor"],
        "job_id": job_id,
        "run_id": run_ids[0],
        "webhook_id": webhook["id"],
        "message_id": tested.json()["data"]["id"],
        "change_id": changed.json()["data"]["change_id"],
        "rule_id": rule["rule_id"],
        "import_cursor": (await bob.get("/v1/imports", limit=1)).json()["meta"]["next_cursor"],
        # A token of bob's account for a job that does not exist.
        "token": await Links(bob.database, bob.clock).token(bob.account_id, "f" * 32, 2**62),
    }


# The same ids while no account has any data.
UNKNOWN: Final = {
    "post_id": THEIRS[0],
    "highlight_id": "h1",
    "label_id": "1",
    "slug": "their-view",
    "share_id": "0" * 16,
    "digest_id": "weekly-2026-07-13",
    "cursor": "x",
    "view_cursor": "x",
    "job_id": "0" * 32,
    "run_id": "0" * 24,
    "change_id": "0" * 24,
    "rule_id": "0" * 24,
    "webhook_id": "0" * 24,
    "message_id": "msg_test_" + "0" * 24,
    "import_cursor": "x",
    "token": "x",
}


def _filled(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, names) for item in value]
    return value.format(**names) if isinstance(value, str) else value


async def request(
    member: Member, method: str, path: str, asked: tuple[str, Any], names: dict[str, str]
) -> httpx.Response:
    query, body = asked
    if query == "?thrown_away":
        names = {**names, "post_id": THROWN_AWAY}
    target = (path + query).format(**names)
    return await member.client.request(method, target, json=_filled(body, names))


async def _everything(member: Member) -> list[bytes]:
    """Everything an account can read about itself."""
    paths = (
        *("/v1/bookmarks?is_unread_only=false", "/v1/bookmarks/count", "/v1/labels", "/v1/views"),
        *("/v1/imports", "/v1/shares", "/v1/webhooks"),
        *("/v1/digests", "/v1/digests/latest", "/v1/digests/preferences"),
    )
    answers = [(await member.client.get(path)).content for path in paths]
    return [*answers, str(await writing.version(member)).encode()]


def _without_job_ids(body: bytes) -> bytes:
    """Ids of jobs, imports and shares are random, so two responses never have the same one.

    Neither have cursors that belong to an account and are never null.
    """
    body = re.sub(rb'"next_cursor":"[^"]+"', b'"next_cursor":""', body)
    return re.sub(rb"[0-9a-f]{32}|[0-9a-f]{24}|[0-9a-f]{16}", b"job", body)


def _traces(value: Any) -> list[Any]:
    """Every scalar value in a response."""
    if isinstance(value, dict):
        return [trace for item in value.values() for trace in _traces(item)]
    if isinstance(value, list):
        return [trace for item in value for trace in _traces(item)]
    return [value]


async def test_no_endpoint_reveals_data_of_another_account(cast: Service) -> None:
    # Each endpoint is called by two empty accounts: one before bob has any data, one after. Their
    # responses must be the same.
    blank = {row: await _responses(await _empty_member(cast), *row, UNKNOWN) for row in ASKED}
    names = await _fill(cast.bob)
    theirs = await _everything(cast.bob)

    offenders = Offenders()
    for row, before in blank.items():
        after = await _responses(await _empty_member(cast), *row, names)
        with offenders.check(row):
            for asked, answer in after.items():
                _require_same_response(asked, before[asked], answer)
            assert await _everything(cast.bob) == theirs
    assert offenders == {}
    restored = await writing.send(cast.bob, "POST", f"/v1/bookmarks/{THROWN_AWAY}/restore")
    assert restored.status_code == 200


async def _empty_member(cast: Service) -> Member:
    name = f"nobody-{secrets.token_hex(4)}"
    return await member(cast.app, cast.database, cast.clock, name, "pro")


async def _responses(
    member: Member, method: str, path: str, names: dict[str, str]
) -> dict[str, httpx.Response]:
    async with member.client:
        return {
            str(asked): await request(member, method, path, asked, names)
            for asked in ASKED[method, path]
        }


def _require_same_response(asked: str, before: httpx.Response, after: httpx.Response) -> None:
    if "cursor={cursor}" in asked or "cursor={import_cursor}" in asked:
        assert after.status_code == 400
    else:
        assert after.status_code == before.status_code
        assert _without_job_ids(after.content) == _without_job_ids(before.content)
    traces = set(_traces(after.json()))
    if (
        "'links'" in asked
        or "'posts'" in asked
        or "ids={post_id}" in asked
        or "'tweet_ids': ['{post_id}']" in asked
    ):
        # The response repeats the id that the caller sent: of a post to save, or not found.
        traces.discard(THEIRS[0])
    assert not {*THEIRS, "geheim", "theirs", "bob"} & traces


async def test_writes_to_equal_ids_change_only_the_callers_data(cast: Service) -> None:
    await _fill(cast.bob)
    theirs = await _everything(cast.bob)
    names = await _fill(cast.alice)

    offenders = Offenders()
    for method, path in ASKED:
        for asked in ASKED[method, path]:
            await request(cast.alice, method, path, asked, names)
            with offenders.check((method, path, str(asked))):
                assert await _everything(cast.bob) == theirs
    assert offenders == {}
    restored = await writing.send(cast.bob, "POST", f"/v1/bookmarks/{THROWN_AWAY}/restore")
    assert restored.status_code == 200


async def test_an_etag_of_another_account_does_not_match(alice: Member, bob: Member) -> None:
    await _fill(bob)
    theirs = await bob.get("/v1/bookmarks")

    mine = await alice.client.get(
        "/v1/bookmarks", headers={"If-None-Match": theirs.headers["etag"]}
    )

    assert mine.status_code == 200
    assert mine.json()["data"] == []
