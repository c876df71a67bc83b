"""The activity log: what is recorded, by whom it is seen, and how long it is kept."""

import re
from html import unescape

import httpx
import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.access import activity
from bowerbird.library.access.activity import Activity
from bowerbird.library.accounts.tokens import Devices, Keys
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.model.accounts import ActivityEntry, ActivityKind
from bowerbird.storage.database import Transaction, Writable
from bowerbird.storage.libraries import ActivityStore
from tests.support import make
from tests.support.service import Member, Service
from tests.web.house import House, signed_in

pytestmark = pytest.mark.anyio

DAY = 86_400 * MICROSECONDS
ROW = re.compile(r'<th scope="row"><bdi>(.*?)</bdi></th><td[^>]*>(.*?)</td>', re.DOTALL)


def shown(page: httpx.Response) -> list[tuple[str, str]]:
    """(what, from where) of each entry."""
    return [
        (unescape(what), re.sub("<[^>]+>", "", where)) for what, where in ROW.findall(page.text)
    ]


async def add(house: House, account_id: int, *entries: ActivityEntry) -> None:
    store = ActivityStore(house.database)

    async def work(transaction: Transaction) -> None:
        for entry in entries:
            await store.add(Writable(transaction, account_id), entry)

    await house.database.write(work)


def test_every_kind_has_a_sentence_with_and_without_a_detail() -> None:
    for kind in ActivityKind:
        for detail in ("", "name {0} of {it}"):
            entry = ActivityEntry(0, "", kind, detail, "")
            text = activity.sentence(entry)
            assert text
            assert "{}" not in text
            assert "“”" not in text


async def test_it_shows_what_the_person_and_the_command_line_did(house: House) -> None:
    person = await house.owner()
    account_id = await house.account_id()
    house.clock.now += MICROSECONDS
    await person.send("/keys", "/keys", name="laptop")
    house.clock.now += MICROSECONDS
    # The requests of these tests run in the task of the test, and leave their address there.
    activity.set_address(str)
    created = await Keys(house.database, house.clock).issue(account_id, "server")
    house.clock.now += MICROSECONDS
    await Keys(house.database, house.clock).revoke(account_id, created.record.key_id)
    house.clock.now += MICROSECONDS
    devices = Devices(house.database, house.clock)
    await devices.revoke(account_id, await devices.create(account_id, "Firefox"))
    house.clock.now += MICROSECONDS
    await house.accounts.set_plan("owner@example.com", "free")
    house.clock.now += MICROSECONDS
    await house.accounts.set_email("owner@example.com", "new@example.com")

    entries = shown(await person.open("/activity"))

    assert entries[:2] == [
        ("Changed the email address to new@example.com", "this server"),
        ("Changed the plan to free", "this server"),
    ]
    assert sorted(entries[2:4]) == [
        ("Connected the extension “Firefox”", "this server"),
        ("Disconnected the extension “Firefox”", "this server"),
    ]
    assert entries[4:7] == [
        ("Revoked the key “server”", "this server"),
        ("Created the key “server”", "this server"),
        ("Created the key “laptop”", "192.0.2.7"),
    ]
    assert sorted(entries[7:]) == [
        ("Created the account", "192.0.2.7"),
        ("Signed in with a one-time link", "192.0.2.7"),
    ]


async def test_exports_imports_and_deletions_are_recorded_with_their_address(
    cast: Service,
) -> None:
    alice = cast.alice
    first, second = await alice.save(), await alice.save()
    before = await kinds(alice)

    assert (await alice.client.delete(f"/v1/bookmarks/{first['post_id']}")).status_code == 200
    assert (await alice.client.post("/v1/exports/json", json={})).status_code == 202
    saved = await alice.client.post("/v1/bookmarks", json={"posts": [make.post()]})
    assert saved.status_code == 200
    label = {"tweet_ids": [second["post_id"]], "label_name": "x"}
    assert (await alice.client.post("/v1/labels/add", json=label)).status_code == 200

    recorded = [entry for entry in await entries(alice) if entry.kind not in before]
    assert sorted((entry.kind, entry.detail, entry.address) for entry in recorded) == [
        (ActivityKind.EXPORT_STARTED, "json", "127.0.0.1"),
        (ActivityKind.POSTS_DELETED, first["post_id"], "127.0.0.1"),
    ]
    assert not await entries(cast.bob)


async def kinds(member: Member) -> set[ActivityKind | str]:
    return {entry.kind for entry in await entries(member)}


async def entries(member: Member) -> list[ActivityEntry]:
    page = await Activity(member.database).page(member.account_id)
    return list(page)


async def test_a_refused_call_leaves_no_entry(cast: Service) -> None:
    assert (await cast.alice.client.delete("/v1/bookmarks/404")).status_code == 404
    assert (await cast.alice.client.post("/v1/exports/json", json={"x": 1})).status_code == 400

    assert await entries(cast.alice) == []


async def test_it_is_read_page_by_page_without_gaps_or_repetitions(house: House) -> None:
    person = await house.owner()
    account_id = await house.account_id()
    now = house.clock()
    # Several at the same moment, across the end of a page.
    made = [
        ActivityEntry(now - n // 7, f"{n:012x}", ActivityKind.KEY_CREATED, f"k{n:03}", "")
        for n in range(1, 131)
    ]
    await add(house, account_id, *made)

    seen: list[str] = []
    page = await person.open("/activity")
    while True:
        seen += [what for what, _ in shown(page)]
        older = re.search(r'href="(/activity\?cursor=[^"]+)"', page.text)
        if older is None:
            break
        assert len(shown(page)) == activity.PAGE
        page = await person.open(unescape(older[1]))

    assert "These are the oldest events" in page.text
    keys = [what for what in seen if "k" in what and "key" in what]
    assert sorted(keys) == sorted(f"Created the key “{entry.detail}”" for entry in made)
    assert len(seen) == len(set(seen))


CURSORS = (
    *("x", "-1-a", "9" * 40 + "-a", "1-zz", "%00", "%ff", "1-' OR 1=1", "a" * 5_000, "٣-a", "1-"),
)


async def test_a_made_up_cursor_shows_the_first_page(house: House) -> None:
    person = await house.owner()

    for cursor in CURSORS:
        page = await person.client.get(f"/activity?cursor={cursor}")
        assert page.status_code == 400 or "Signed in" in page.text, cursor


async def test_entries_are_kept_for_180_days(house: House) -> None:
    await house.owner()
    account_id = await house.account_id()
    now = house.clock()
    old = ActivityEntry(now - 181 * DAY, "a", ActivityKind.KEY_CREATED, "old", "")
    recent = ActivityEntry(now - 179 * DAY, "b", ActivityKind.KEY_CREATED, "recent", "")
    await add(house, account_id, old, recent)

    await Sweeping(house.database, house.clock, pause_s=0).sweep()

    page = await Activity(house.database).page(account_id)
    assert [entry.detail for entry in page if entry.kind is ActivityKind.KEY_CREATED] == ["recent"]


async def test_the_number_of_entries_is_bounded(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "ENTRIES_MAX", 5)
    await house.owner()
    account_id = await house.account_id()
    made = [
        ActivityEntry(house.clock() + n, "a", ActivityKind.KEY_CREATED, str(n), "")
        for n in range(1, 13)
    ]
    await add(house, account_id, *made)
    sweeping = Sweeping(house.database, house.clock, pause_s=0)

    assert await sweeping.sweep() == 9
    assert await sweeping.sweep() == 0

    page = await Activity(house.database).page(account_id)
    assert [entry.detail for entry in page] == ["12", "11", "10", "9", "8"]


async def test_an_entry_of_a_newer_server_is_shown(house: House) -> None:
    """As during an upgrade, while servers of both versions run."""
    person = await house.owner()
    account_id = await house.account_id()
    await add(house, account_id, ActivityEntry(house.clock() + 1, "a", "bell rung", "twice", ""))

    page = await person.open("/activity")

    assert shown(page)[0][0] == "Recorded by a newer version of this server: bell rung"


async def test_expired_sessions_and_links_are_removed(house: House) -> None:
    await house.owner()
    await house.links.create_for_owner()
    assert await Sweeping(house.database, house.clock, pause_s=0).sweep() == 0

    house.clock.now += 31 * DAY
    await Sweeping(house.database, house.clock, pause_s=0).sweep()

    assert not await house.database.rows("SELECT * FROM web_session", {})
    assert not await house.database.rows("SELECT * FROM one_time_link", {})


async def test_recent_changes_are_listed_and_undone_there(house: House) -> None:
    reader = await signed_in(house, "reader@example.com")
    person = reader.person
    await reader.member.save(post_id="1")
    await reader.change("/library", read="1")

    page = await person.open("/activity")
    assert "Marked 1 post read." in page.text
    assert "this website" in page.text
    change_id = re.findall(r'name="change" value="([0-9a-f]+)"', page.text)[0]
    after = await person.send("/library/many/undo", "/activity", change=change_id, back="/activity")

    assert after.headers["location"].startswith("/activity?change=")
    page = await person.open("/activity")
    assert "Undone: 1 post changed back." in page.text
    assert 'name="change"' not in page.text
