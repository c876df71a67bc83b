"""Requests every example of the OpenAPI document from the service.

`python -m tests.support.programs.examples` records them in src/bowerbird/openapi/examples.json.
"""

import asyncio
import json
import re
import tempfile
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from msgspec import structs

from bowerbird.library.bulk import changes
from bowerbird.library.webhooks import webhooks
from bowerbird.model.events import DeliveryState
from bowerbird.storage.changes.events import WebhookStore
from bowerbird.storage.database import Transaction, Writable
from tests.support import databases, digesting, exporting, imports, make, waiting
from tests.support.published import document
from tests.support.service import Service, build
from tests.support.working import at_work

FILE: Final = Path(__file__).parents[3] / "src/bowerbird/openapi/examples.json"
ACCEPTED: Final = 202
FIRST, SECOND = "1945678901234567890", "1945111222333444555"
POSTS: Final[list[dict[str, Any]]] = [
    {
        "post_id": FIRST,
        "tweet_details": {
            "text": "He has 41 blue things now. Bottle caps in front, feathers behind.",
            "link": f"https://x.com/bowerwatch/status/{FIRST}",
            "posted_at": "2026-07-17T06:12:00+00:00",
            "attachments": [
                {
                    "type": "image",
                    "url": "https://images.example.com/bower.jpg",
                    "width": 1600,
                    "height": 1200,
                    "alt_text": "A bower of twigs with blue bottle caps before it",
                }
            ],
            "meta": {
                "tweet_conversation_id": FIRST,
                "non_real_time_engagement_metrics": {"reply_count": 3, "favorite_count": 128},
            },
        },
        "author_id": "220033",
        "author_username": "bowerwatch",
        "author_details": {
            "name": "Bower Watch",
            "username": "bowerwatch",
            "profile_image": "https://images.example.com/bowerwatch.png",
        },
        "bookmarked_at": "2026-07-18T07:00:00+00:00",
        "sort_index": 1945900000000000002,
    },
    {
        "post_id": SECOND,
        "tweet_details": {
            "text": "Why some birds build stages instead of nests",
            "link": f"https://x.com/fieldnotes/status/{SECOND}",
            "posted_at": "2026-07-15T18:30:00+00:00",
            "article": {
                "title": "Stages, not nests",
                "plain_text": "A bower is no nest. Nobody sleeps there, nothing hatches there.",
                "url": "https://example.com/stages-not-nests",
            },
            "meta": {"tweet_conversation_id": SECOND},
        },
        "author_id": "77120",
        "author_username": "fieldnotes",
        "author_details": {"name": "Field Notes", "username": "fieldnotes"},
        "bookmarked_at": "2026-07-16T09:00:00+00:00",
        "sort_index": 1945900000000000001,
    },
]
BOTH: Final = [FIRST, SECOND]
SHARE: Final = {"list": "unread", "audience": "feed", "title": "To read"}
VIEW: Final = {
    "name": "Weekend reading",
    "description": "Long texts of the last month.",
    "base_query": {"media_type": "article", "bookmarked_from": "last 30 days"},
    "default_sort": {"sort_by": "posted_at", "sort_order": "desc"},
    "triage_buckets": [{"name": "Long reads", "query": {"q": "bower"}}],
}
RULE: Final = {
    "name": "Bowers",
    "when": "labelled",
    "label_name": "Birds",
    "query": {"q": "bower*"},
    "actions": [{"do": "mark_read"}],
}
WEBHOOK: Final = {
    "url": "https://hooks.example.com/b",
    "events": ["post.created", "post.labelled"],
    "tag": "Birdlife",
}
CHANGE: Final = {
    "action": "archive",
    "filters": {"is_unread_only": False, "bookmarked_to": "2026-07-31"},
}
# More posts than one transaction changes.
MANY: Final = 210
LARGE: Final = {"filter": {"author": "fieldnotes"}, "expected_count": MANY}
LARGE_LABELLING: Final[dict[str, Any]] = {}
LARGE_CHANGE: Final = {"action": "trash", "filters": {"author": "fieldnotes"}}
# Operation, path and body, requested in this order from one library.
STEPS: Final[list[tuple[str, str, Any]]] = [
    ("getAccount", "/v1/account", None),
    ("listSimilarBookmarks", f"/v1/bookmarks/{FIRST}/similar?limit=1", None),
    ("listBookmarks", "/v1/bookmarks?limit=1", None),
    ("countBookmarks", "/v1/bookmarks/count?q=bower", None),
    ("addLabel", "/v1/labels/add", {"tweet_ids": [FIRST, "1"], "label_name": "Birds"}),
    ("listSuggestedLabels", f"/v1/bookmarks/{SECOND}/suggested_labels", None),
    ("refuseSuggestedLabel", f"/v1/bookmarks/{SECOND}/suggested_labels/1", None),
    ("proposeNewLabels", f"/v1/bookmarks/{SECOND}/new_labels", None),
    ("listLabels", "/v1/labels", None),
    ("getLabel", "/v1/labels/1", None),
    ("getBookmark", f"/v1/bookmarks/{FIRST}", None),
    ("removeLabel", "/v1/labels/remove", {"tweet_ids": [FIRST], "label_name": "Birds"}),
    (
        "batchLabels",
        "/v1/labels/batch",
        {
            "operations": [
                {"op": "add", "tweet_ids": [SECOND], "label_name": "To read"},
                {"op": "add", "tweet_ids": [FIRST], "label_name": "To read"},
            ]
        },
    ),
    (
        "batchLabels",
        "/v1/labels/batch",
        {
            "operations": [
                {"op": "add", "tweet_ids": [FIRST], "label_name": "Blue"},
                {"op": "remove", "tweet_ids": [FIRST], "label_name": "Green"},
            ]
        },
    ),
    (
        "updateLabel",
        "/v1/labels/1",
        {"label_name": "Birdlife", "metadata": {"shelf": 3}, "color": "sea"},
    ),
    ("mergeLabel", "/v1/labels/3/merge", {"into": "1"}),
    ("deleteLabel", "/v1/labels/2", None),
    ("updateBookmarks", "/v1/bookmarks/update", {"tweet_ids": BOTH, "is_read": True}),
    (
        "updateBookmark",
        f"/v1/bookmarks/{FIRST}",
        {"is_read": False, "is_archived": False, "note": "Ask *Ines* about the caps."},
    ),
    (
        "addHighlight",
        f"/v1/bookmarks/{FIRST}/highlights",
        {"quote": "Bottle caps in front", "comment": "Like a shop window"},
    ),
    ("updateHighlight", f"/v1/bookmarks/{FIRST}/highlights/{{id}}", {"comment": "All blue"}),
    ("deleteHighlight", f"/v1/bookmarks/{FIRST}/highlights/{{id}}", None),
    ("deleteBookmark", f"/v1/bookmarks/{FIRST}", None),
    ("listTrash", "/v1/bookmarks/trash", None),
    ("restoreBookmark", f"/v1/bookmarks/{FIRST}/restore", None),
    ("changeBookmarks", "/v1/bookmarks/changes", {**CHANGE, "dry_run": True}),
    ("changeBookmarks", "/v1/bookmarks/changes", {**CHANGE, "expected_count": 2}),
    ("listChanges", "/v1/bookmarks/changes?limit=2", None),
    ("getChange", "/v1/bookmarks/changes/{change_id}", None),
    ("undoChange", "/v1/bookmarks/changes/{change_id}/undo", None),
    ("countBookmarksBy", "/v1/bookmarks/facets?by=author&is_unread_only=false", None),
    ("deleteBookmarks", "/v1/bookmarks/delete", {"tweet_ids": [SECOND]}),
    ("restoreBookmarks", "/v1/bookmarks/restore", {"filter": {}, "expected_count": 1}),
    (
        "saveBookmarks",
        "/v1/bookmarks",
        {"links": ["https://x.com/nestcam/status/1945000111222333444"], "labels": ["Birdlife"]},
    ),
    (
        "saveBookmarks",
        "/v1/bookmarks",
        {
            "posts": [
                {
                    "post_id": "1945000111222333444",
                    "tweet_details": {"text": "The first egg, at 5:40 this morning."},
                    "author_username": "nestcam",
                }
            ],
            "links": ["https://example.com/an-article"],
        },
    ),
    ("listEvents", "/v1/changes?limit=1", None),
    ("createShare", "/v1/shares", SHARE),
    ("listShares", "/v1/shares", None),
    ("getShare", "/v1/shares/{share_id}", None),
    ("updateShare", "/v1/shares/{share_id}", {"title": "Unread posts"}),
    ("deleteShare", "/v1/shares/{share_id}", None),
    # Requested after a post with the text of another one was saved.
    ("listDuplicates", "/v1/bookmarks/duplicates", None),
    (
        "resolveDuplicates",
        "/v1/bookmarks/duplicates/resolve",
        {"groups": [{"keep": FIRST, "remove": ["22"]}]},
    ),
    ("createView", "/v1/views", VIEW),
    ("listViews", "/v1/views", None),
    ("getView", "/v1/views/weekend-reading", None),
    ("listViewBookmarks", "/v1/views/weekend-reading/bookmarks?bucket=long-reads", None),
    ("updateView", "/v1/views/weekend-reading", {"name": "Sunday reading"}),
    ("deleteView", "/v1/views/weekend-reading", None),
    ("previewRule", "/v1/rules/preview", {"query": {"q": "bower*"}}),
    ("createRule", "/v1/rules", RULE),
    ("listRules", "/v1/rules", None),
    ("getRule", "/v1/rules/{rule_id}", None),
    ("updateRule", "/v1/rules/{rule_id}", {"is_on": False}),
    ("applyRule", "/v1/rules/{rule_id}/apply", {}),
    ("listRuleLog", "/v1/rules/log", None),
    ("deleteRule", "/v1/rules/{rule_id}", None),
    ("createWebhook", "/v1/webhooks", WEBHOOK),
    ("listWebhooks", "/v1/webhooks", None),
    ("getWebhook", "/v1/webhooks/{webhook_id}", None),
    ("updateWebhook", "/v1/webhooks/{webhook_id}", {"tag": None, "is_active": True}),
    ("rotateWebhookSecret", "/v1/webhooks/{webhook_id}/rotate", None),
    ("testWebhook", "/v1/webhooks/{webhook_id}/test", None),
    # The message of before is sent.
    ("listWebhookDeliveries", "/v1/webhooks/{webhook_id}/deliveries", None),
    # Sent while the request waits.
    ("testWebhook", "/v1/webhooks/{webhook_id}/test", None),
    ("getWebhookDelivery", "/v1/webhooks/{webhook_id}/deliveries/{message_id}", None),
    (
        "sendWebhookMessageAgain",
        "/v1/webhooks/{webhook_id}/deliveries/{message_id}/send_again",
        None,
    ),
    (
        "sendWebhookMessageAgain",
        "/v1/webhooks/{webhook_id}/deliveries/{message_id}/send_again",
        None,
    ),
    ("deleteWebhook", "/v1/webhooks/{webhook_id}", None),
    ("createExportPdf", "/v1/exports/pdf", {"tag": "Birdlife"}),
    ("createExportCsv", "/v1/exports/csv", {"is_unread_only": False}),
    ("createExportMarkdown", "/v1/exports/markdown", {"tag": "Birdlife"}),
    ("createExportNetscape", "/v1/exports/netscape", {"hide_archived": True}),
    ("createExportJson", "/v1/exports/json", {"tweet_ids": BOTH}),
    # The last export, after it has completed.
    ("getExport", "/v1/exports/{job_id}", None),
    ("getDigestPreferences", "/v1/digests/preferences", None),
    (
        "updateDigestPreferences",
        "/v1/digests/preferences",
        {"time_zone": "Europe/Berlin", "hour": 7},
    ),
    # Requested after a digest was created.
    ("listDigests", "/v1/digests", None),
    ("getDigest", "/v1/digests/weekly-2026-07-13", None),
    # Requested after an import of two posts.
    ("listImports", "/v1/imports", None),
    ("getImport", "/v1/imports/{run_id}", None),
    ("listImportLabels", "/v1/imports/{run_id}/suggested_labels", None),
    ("applyImportLabels", "/v1/imports/{run_id}/suggested_labels/apply", {"expected_count": 0}),
    ("undoImport", "/v1/imports/{run_id}/undo", None),
    # Requested after a large import.
    ("applyImportLabels", "/v1/imports/{run_id}/suggested_labels/apply", LARGE_LABELLING),
    # Requested after more posts were saved than one transaction deletes.
    ("changeBookmarks", "/v1/bookmarks/changes", LARGE_CHANGE),
    # Each after the job of the one before has completed.
    ("undoChange", "/v1/bookmarks/changes/{change_id}/undo", None),
    ("updateBookmarks", "/v1/bookmarks/update", {**LARGE, "is_archived": False}),
    ("addLabel", "/v1/labels/add", {**LARGE, "label_name": "Notes"}),
    ("removeLabel", "/v1/labels/remove", {**LARGE, "label_name": "Notes"}),
    # Changes of a whole label, for which the request does not wait.
    ("addLabel", "/v1/labels/add", {**LARGE, "label_name": "Notes"}),
    ("updateLabel", "/v1/labels/4", {"label_name": "Field notes"}),
    ("mergeLabel", "/v1/labels/4/merge", {"into": "1"}),
    ("deleteLabel", "/v1/labels/1", None),
    ("deleteBookmarks", "/v1/bookmarks/delete", LARGE),
    ("restoreBookmarks", "/v1/bookmarks/restore", {"filter": {}, "expected_count": MANY + 1}),
]
# Random, and no example for a scanner of secrets to find.
_SECRET: Final = re.compile("whsec_[A-Za-z0-9+/=]+")
SECRET: Final = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OF_A_LABEL: Final = ("updateLabel", "mergeLabel", "deleteLabel")
SENDING: Final = ("testWebhook", "sendWebhookMessageAgain")
# Returns a file, so the document has no example of it.
FILES: Final = ("downloadExport",)


# What later paths call the id in an answer.
NAMED_LATER: Final = {
    "createShare": "share_id",
    "createWebhook": "webhook_id",
    "testWebhook": "message_id",
    "addHighlight": "id",
}


async def asked(service: Service) -> dict[str, Any]:
    """Operation -> the request body, and the actual responses by status."""
    alice = service.alice
    await alice.save_all(POSTS)
    await alice.embed()
    methods = {
        operation["operationId"]: method.upper()
        for item in document()["paths"].values()
        for method, operation in item.items()
    }
    found: dict[str, Any] = {}
    job: dict[str, Any] = {}
    for name, path, body in STEPS:
        await _prepare(service, name, path, body, job)
        waiting_s = 0.0 if name in found and name in OF_A_LABEL else changes.WAIT_S
        is_awaited = name in SENDING and name in found
        hook_s = webhooks.WAIT_S if is_awaited else 0.0
        with patch.object(changes, "WAIT_S", waiting_s), patch.object(webhooks, "WAIT_S", hook_s):
            response, _ = await asyncio.gather(
                alice.client.request(methods[name], path.format(**job), json=body),
                _deliver(service) if is_awaited else asyncio.sleep(0),
            )
        assert response.is_success, (name, response.text)
        if response.status_code == ACCEPTED and name not in SENDING:
            # The change of a request that returns bookmarks or a label is in meta.
            job = response.json()["meta"].get("change") or response.json()["data"]
        if name == "addHighlight":
            job["id"] = response.json()["data"]["id"]
        if name == "createRule":
            job["rule_id"] = response.json()["data"]["rule_id"]
        if name in NAMED_LATER:
            job[NAMED_LATER[name]] = response.json()["data"]["id"]
        if name == "changeBookmarks":
            job = response.json()["data"]
        kept = found.setdefault(name, {"answers": {}})
        if body is not None:
            kept.setdefault("request", body)
        # Every installation shows the examples, so they contain a neutral address.
        shown = response.text.replace("http://localhost:8080", "https://example.com")
        shown = _SECRET.sub(SECRET, shown)
        kept["answers"][str(response.status_code)] = json.loads(shown)
    return found


async def _prepare(service: Service, name: str, path: str, body: Any, job: dict[str, Any]) -> None:
    """Brings the library into the state that a step needs."""
    alice = service.alice
    if "{job_id}" in path:
        await exporting.finished(service, alice, job)
    if name == "listWebhookDeliveries":
        await _deliver(service)
    if name == "listDigests":
        await digesting.make(alice)
    if name == "listDuplicates":
        await alice.save_all([{**POSTS[0], "post_id": "22", "tags": ["Birdlife"]}])
    if name == "listImports" or body is LARGE_LABELLING:
        number, text = (MANY, "Birdlife") if body is LARGE_LABELLING else (2, "words")
        others = [imports.found(post_id=str(100 + one), text=text) for one in range(number)]
        job["run_id"] = await imports.run(alice, *others)
    if body is LARGE_CHANGE:
        await alice.save_all([make.post(author="fieldnotes") for _ in range(MANY)])
    if job.get("state") in ("working", "undoing"):
        await _until_done(service, job["change_id"])


async def _deliver(service: Service) -> None:
    """Notes what the receiver would have answered."""
    store, account_id = WebhookStore(service.database), service.alice.account_id
    [message] = await waiting.until(lambda: store.waiting(account_id, 1))
    delivered = structs.replace(
        message,
        state=DeliveryState.DELIVERED,
        tries=1,
        tried_at=service.clock(),
        took_ms=84,
        status=200,
        answer="ok",
    )

    async def work(transaction: Transaction) -> None:
        await store.put_delivery(Writable(transaction, account_id), delivered, 100)

    await service.database.write(work)


async def _until_done(service: Service, change_id: str) -> None:
    path = f"/v1/bookmarks/changes/{change_id}"

    async def is_done() -> bool:
        state = (await service.alice.get(path)).json()["data"]["state"]
        return bool(state in ("done", "undone"))

    async with at_work(service.app.worker):
        await waiting.until(is_done)


async def _record() -> None:
    with tempfile.TemporaryDirectory() as folder:
        template = databases.sqlite_template(Path(folder) / "template")
        (Path(folder) / "data").mkdir()
        async with databases.fresh_sqlite(template, Path(folder) / "data") as database:
            cast = await build(database, data_dir=Path(folder) / "data")
            found = await asked(cast)
    FILE.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(_record())
