"""What one account has, no page shows to another and no form changes, also with the right ids."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bowerbird.library.accounts.tokens import Devices
from tests.support import digesting, imports, make, writing
from tests.support.posts import ruling
from tests.web.house import House, Reader, field_in, rows_of
from tests.web.imports.conftest import checked, posts
from tests.web.sign_in import ceremonies

pytestmark = pytest.mark.anyio

SECRET = "geheim"
PATHS = (
    *("/p/{post}", "/p/{post}/json", "/library/many/{change}", "/library/many/{change}/state"),
    *("/views/{slug}", "/views/{slug}/posts", "/views/{slug}/edit"),
    *("/rules/{rule}", "/webhooks/{webhook}/x", "/sharing/{share}", "/exports/{export}/file"),
    *("/import/files/{file}", "/import/files/{file}/state", "/import/files/{file}/links"),
    *("/import/labels/{run}", "/connect/links/{link}", "/connect/links/{link}/state"),
    *("/digests/{digest}", "/digests/latest"),
)
# Pages and answers to scripts that have something of every account.
LISTS = (
    *("/library?is_unread_only=false", "/library?q=nest", "/library?change={change}", "/trash"),
    *(
        "/p/{post}/content",
        "/library/suggest?text=geh",
        "/library/places",
        "/library/panels/author",
        "/exports/state",
    ),
    *("/library/panels/label", "/labels", "/labels/matching?q=nest", "/labels?label={label}"),
    *("/labels/matching?post={post}", "/views", "/rules", "/webhooks", "/sharing", "/exports"),
    *("/import", "/import?undone={run}", "/keys", "/account", "/activity", "/sources", "/digests"),
    *("/highlights", "/highlights?q=nest", "/highlights/download", "/statistics?period=all"),
    *("/sharing/new?view={slug}", "/save?url=https://x.com/nora/status/{post}"),
)
MANY = {"back": "/library", "list": "/library"}
FORMS: list[tuple[str, dict[str, str]]] = [
    *(("/library/change", {action: "{post}"}) for action in ("read", "archive", "trash")),
    ("/library/change", {"restore": "{trashed}"}),
    ("/library/label", {"post": "{post}", "add": "mine"}),
    ("/library/many", {**MANY, "read": "", "posts": "{post}"}),
    ("/library/many", {**MANY, "restore": "{trashed}"}),
    ("/library/many/undo", {"change": "{change}"}),
    ("/trash/delete", {"sure": "yes", "posts": "{trashed}"}),
    ("/trash/delete", {"sure": "yes", "all": "yes"}),
    ("/p/{post}/note", {"note": "mine"}),
    ("/p/{post}/note/json", {"note": "mine"}),
    ("/p/{post}/highlights", {"quote": "nest"}),
    ("/p/{post}/highlights/comment", {"highlight": "{highlight}", "comment": "mine"}),
    ("/p/{post}/highlights/remove", {"highlight": "{highlight}"}),
    ("/highlights/again", {"post": "{post}"}),
    ("/labels/apply", {"op": "add", "label": "mine", "posts": "{post}"}),
    ("/labels/change", {"label": "{label}", "name": "mine", "color": ""}),
    ("/labels/merge", {"label": "{label}", "into": "mine"}),
    ("/labels/delete", {"label": "{label}"}),
    *(("/views", {button: "{slug}"}) for button in ("up", "down", "pin", "unpin", "delete")),
    ("/views/{slug}/edit", {"do": "save", "name": "mine"}),
    *(("/rules", {button: "{rule}"}) for button in ("up", "on", "off", "delete")),
    ("/rules/{rule}", {"do": "save", "name": "mine", "do0": "trash", "when": "arrives"}),
    *(
        (f"/webhooks/{action}", {"webhook": "{webhook}", "message": "x"})
        for action in ("test", "secret", "pause", "resume", "remove", "again")
    ),
    *(("/sharing/{share}", {"do": do}) for do in ("save", "on", "off", "renew", "delete")),
    *((f"/exports/{{export}}/{action}", {}) for action in ("cancel", "delete", "again")),
    ("/import/undo", {"run": "{run}"}),
    ("/import/labels/{run}", {"label-1": "on"}),
    *((f"/import/files/{{file}}/{action}", {}) for action in ("import", "cancel")),
    ("/keys/revoke", {"key": "{key}"}),
    ("/keys/disconnect", {"device": "{device}"}),
    ("/sources/devices/disconnect", {"device": "{device}"}),
    ("/account/sessions/{session}/end", {}),
    ("/account/passkeys/rename", {"passkey": "{passkey}", "name": "mine"}),
    ("/account/passkeys/remove", {"passkey": "{passkey}"}),
    ("/library/demo/remove", {}),
]


@pytest.fixture
def house_settings() -> dict[str, Any]:
    return {"webhooks_private_hosts": "127.0.0.1:9"}


async def filled(house: House, ann: Reader) -> dict[str, str]:
    """Something of every kind, with the secret in it; its ids by the names in the tables above."""
    member, person = ann.member, ann.person
    at = {"bookmarked_at": "2026-07-14T10:00:00+00:00"}
    passage = [{"id": "h1", "quote": "nest", "comment": SECRET}]
    marked = {"note": SECRET, "highlights": passage, "tags": [SECRET]}
    text = f"A nest, {SECRET}"
    post = (await member.save(post_id="71", text=text, author=SECRET, **marked, **at))["post_id"]
    await member.save(post_id="72", text=f"Thrown away, {SECRET}")
    changed = await ann.change("/library", trash="72")
    assert changed.status_code == 303
    many = await person.send("/library/many", "/library", **MANY, read="", posts=post)
    slug = await writing.view(member, "Nests", description=SECRET)
    rule = await ruling.rule(member, name=SECRET)
    url = {"url": f"http://127.0.0.1:9/{SECRET}"}
    webhook = await writing.send(member, "POST", "/v1/webhooks", url)
    share = {"label_name": SECRET, "title": SECRET}
    shared = await writing.send(member, "POST", "/v1/shares", share)
    export = await writing.send(member, "POST", "/v1/exports/csv", {"q": SECRET})
    run = await imports.run(member, imports.found(post_id="73", text=SECRET))
    file = await checked(house, person, posts("74"), f"{SECRET}.json")
    devices = Devices(house.database, house.clock)
    await devices.create(member.account_id, SECRET)
    key = await person.send("/keys", "/keys", name=SECRET)
    connect = await person.send("/connect", "/connect")
    await ceremonies.add(person, SECRET)
    await digesting.make(member)
    rows = await house.database.rows("SELECT passkey_id FROM passkey", {})
    sessions = await house.database.rows("SELECT session_id FROM web_session", {})
    return {
        "post": post,
        "trashed": "72",
        "highlight": "h1",
        "change": re.findall(r"change=(\w+)", many.headers["location"])[0],
        "slug": slug.rpartition("/")[2],
        "rule": rule["rule_id"],
        "webhook": webhook.json()["data"]["id"],
        "share": shared.json()["data"]["id"],
        "export": export.json()["data"]["job_id"],
        "run": run,
        "file": file.request.url.path.split("/")[3],
        "digest": (await digesting.ids(member))[0],
        "label": await writing.label_id(member, SECRET),
        "link": re.findall(r"/connect/links/([0-9a-f]+)", connect.text)[0],
        "key": field_in(key, "key")[0],
        "device": (await devices.all(member.account_id))[0].device_id,
        "passkey": rows[0][0],
        "session": sessions[0][0],
    }


@pytest.fixture
async def known(house: House, ann: Reader) -> AsyncIterator[dict[str, str]]:
    known = await filled(house, ann)
    before = await rows_of(house.database, ann.member.account_id)
    yield known
    after = await rows_of(house.database, ann.member.account_id)
    assert {table for table in before if before[table] != after[table]} == set()


async def test_no_page_shows_anything_of_another_account(
    ann: Reader, bob: Reader, known: dict[str, str]
) -> None:
    await bob.member.save_all([make.post(post_id="1")])
    for path in PATHS:
        shown = await bob.person.client.get(path.format(**known))
        assert (shown.status_code, SECRET in shown.text) == (404, False), path
    for path in LISTS:
        shown = await bob.person.open(path.format(**known))
        assert (shown.status_code in (200, 404), SECRET in shown.text) == (True, False), path
    # They are what their owner sees.
    assert SECRET in await ann.page("/library?is_unread_only=false")


async def test_no_form_changes_anything_of_another_account(
    bob: Reader, known: dict[str, str]
) -> None:
    await bob.member.save_all([make.post(post_id="1")])
    for path, fields in FORMS:
        sent = {name: value.format(**known) for name, value in fields.items()}
        answer = await bob.person.send(path.format(**known), "/library", **sent)
        # Some say that it was ended before.
        assert answer.status_code in (303, 400, 404) or "changed" in answer.text, (path, answer)
        assert SECRET not in answer.text, path
