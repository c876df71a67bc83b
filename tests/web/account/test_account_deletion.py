"""Deleting an account: at once for everybody, and complete whatever happens afterwards."""

from pathlib import Path

import httpx
import pytest

from bowerbird.jobs import account_jobs
from bowerbird.library.accounts.accounts import HalfDeleted, NoAccount
from bowerbird.library.accounts.tokens import Devices
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
from tests.support import make
from tests.support.service import Member
from tests.support.visiting import Visitor
from tests.web.house import House, key_in, text_of

pytestmark = pytest.mark.anyio

EMAIL = "leaving@example.com"


@pytest.fixture
async def leaving(house: House) -> Visitor:
    """Somebody with posts, who is not the owner."""
    await house.owner()
    person = await house.member(EMAIL)
    account_id = await house.account_id(EMAIL)
    member = Member(house.database, account_id, "", person.client, house.clock)
    await member.save_all([make.post(tags=["birds", "tools"]) for _ in range(120)])
    return person


async def delete(person: Visitor, phrase: str = EMAIL) -> httpx.Response:
    return await person.send("/account/delete", "/account/delete", phrase=phrase)


async def finish(house: House, tmp_path: Path) -> None:
    """What a worker does every minute."""
    files = Files(Settings(data_dir=tmp_path))
    await account_jobs.deletions(house.database, files).run()


async def rows_left(database: Database, account_id: int) -> dict[str, int]:
    tables = ("person", "library", "bookmark", "api_key", "web_session", "label", "activity")
    found = {}
    for table in tables:
        sql = f"SELECT count(*) FROM {table} WHERE account_id = :account_id"  # noqa: S608
        found[table] = (await database.rows(sql, {"account_id": account_id}))[0][0]
    return {table: count for table, count in found.items() if count}


async def test_the_page_says_what_is_lost(leaving: Visitor) -> None:
    page = text_of(await leaving.open("/account/delete"))

    assert "Posts 120 Labels 2 Smart Views 0 Keys 0" in page
    assert f"Type “{EMAIL}”" in page


@pytest.mark.both
async def test_it_takes_effect_at_once(house: House, leaving: Visitor) -> None:
    account_id = await house.account_id(EMAIL)
    key = key_in(await leaving.send("/keys", "/keys", name="x"))
    elsewhere = house.somebody()
    await elsewhere.send("/link", "/link", token=await house.links.create_for(account_id))
    unused = await house.links.create_for(account_id)
    devices = Devices(house.database, house.clock)
    device = await devices.create(account_id, "Firefox")

    done = await delete(leaving)

    assert done.headers["location"] == "/goodbye"
    assert leaving.session == ""
    assert "Your account is deleted" in (await leaving.open("/goodbye")).text
    answer = await elsewhere.client.get("/account")
    assert answer.headers["location"] == "/sign-in?next=/account"
    called = await leaving.client.get("/v1/bookmarks", headers={"Authorization": f"Bearer {key}"})
    assert called.status_code == 401
    assert await devices.caller(device) is None
    assert (await house.somebody().send("/link", "/link", token=unused)).status_code == 410
    with pytest.raises(HalfDeleted):
        await house.accounts.find(EMAIL)


async def test_a_worker_removes_the_rest(house: House, leaving: Visitor, tmp_path: Path) -> None:
    account_id = await house.account_id(EMAIL)
    await delete(leaving)
    assert (await rows_left(house.database, account_id))["bookmark"] == 120

    await finish(house, tmp_path)

    assert await rows_left(house.database, account_id) == {}
    with pytest.raises(NoAccount):
        await house.accounts.find(EMAIL)
    assert await house.accounts.find("owner@example.com")
    await house.accounts.create(EMAIL)


async def test_the_phrase_may_be_typed_in_other_letters(leaving: Visitor) -> None:
    assert (await delete(leaving, f" {EMAIL.upper()} ")).status_code == 303


async def test_the_owner_stays_while_others_have_accounts(house: House) -> None:
    owner = await house.owner()
    await house.accounts.create("other@example.com")

    # Before anything is typed.
    page = await owner.open("/account/delete")
    assert "Make one of them the owner first" in text_of(page)
    assert 'name="phrase"' not in page.text
    refused = await delete(owner, "owner@example.com")
    assert refused.status_code == 400
    assert "bowerbird account owner" in text_of(refused)
    assert (
        "<code>bowerbird account owner EMAIL</code>" in (await owner.open("/account/delete")).text
    )
    assert await house.accounts.find("owner@example.com")

    await house.accounts.set_owner("other@example.com")
    assert "the owner first" not in text_of(await owner.open("/account/delete"))
    assert (await delete(owner, "owner@example.com")).status_code == 303


@pytest.mark.both
async def test_the_last_account_can_be_deleted_and_a_new_owner_can_come(
    house: House, tmp_path: Path
) -> None:
    owner = await house.owner()
    assert (await delete(owner, "owner@example.com")).status_code == 303

    # Also before a worker has removed the rest.
    new = await house.owner("new@example.com")

    assert (await new.client.get("/account")).status_code == 200
    await finish(house, tmp_path)
    assert [one.email for one in await house.accounts.all()] == ["new@example.com"]


async def test_a_worker_leaves_complete_accounts_alone(
    house: House, leaving: Visitor, tmp_path: Path
) -> None:
    await finish(house, tmp_path)

    assert (await house.accounts.find(EMAIL)).total == 120
    assert (await leaving.client.get("/account")).status_code == 200
