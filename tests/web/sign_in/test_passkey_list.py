"""The passkeys of an account: names, their number, and never without a way in."""

import asyncio
import html
from pathlib import Path

import pytest

from bowerbird.library.accounts.accounts import Accounts
from bowerbird.model.accounts import Passkey
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.sign_in.identities import PasskeyStore, WaysInStore
from tests.support import databases
from tests.support.authenticator import Authenticator
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import SetClock
from tests.support.visiting import Visitor
from tests.support.waiting import until
from tests.web.house import House, build
from tests.web.sign_in import ceremonies
from tests.web.sign_in.ceremonies import ANY_PAGE, account_of

pytestmark = pytest.mark.anyio
WAITING = """
SELECT 1 FROM pg_stat_activity
 WHERE datname = current_database() AND wait_event_type = 'Lock'"""
ONLY_WAY = "This is your only way to sign in."
CONNECT = """
INSERT INTO provider_identity (issuer, subject, account_id, identity_id, shown, created_at)
VALUES ('https://accounts.google.com', '1', :account_id, 'i1', 'me', 1)"""


async def stored(house: House, person: Visitor) -> list[Passkey]:
    return list(await PasskeyStore(house.database).all(account_of(person), 100))


async def connect_provider(house: House, person: Visitor) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.run(CONNECT, {"account_id": account_of(person)})

    await house.database.write(work)


async def test_a_passkey_without_a_name_is_named_after_the_browser(house: House) -> None:
    owner = await house.owner()
    await ceremonies.add(owner, "")

    assert [passkey.name for passkey in await stored(house, owner)] == ["Firefox on Linux"]


async def test_a_passkey_is_renamed(house: House) -> None:
    owner = await house.owner()
    await ceremonies.add(owner)
    [passkey] = await stored(house, owner)

    fields = {"passkey": passkey.passkey_id, "name": "  <b>Phone</b> ☎ "}
    renamed = await owner.send("/account/passkeys/rename", ANY_PAGE, **fields)

    assert renamed.headers["location"] == "/account?said=passkey-renamed#methods"
    assert [found.name for found in await stored(house, owner)] == ["<b>Phone</b> ☎"]


async def test_a_name_that_cannot_be_shown_is_refused(house: House) -> None:
    owner = await house.owner()
    await ceremonies.add(owner, "Laptop")
    [passkey] = await stored(house, owner)

    for name in ["", "   ", "x" * 101, "a\nb", "a\u202eb", "a\x7fb"]:
        fields = {"passkey": passkey.passkey_id, "name": name}
        refused = await owner.send("/account/passkeys/rename", ANY_PAGE, **fields)
        assert refused.status_code == 400, name
        assert "1 to 100 printable characters" in refused.text
    assert await stored(house, owner) == [passkey]


async def test_passkeys_of_other_accounts_are_not_found(house: House) -> None:
    owner, member = await house.owner(), await house.member("other@example.com")
    await ceremonies.add(owner)
    await ceremonies.add(owner)
    await ceremonies.add(member)
    first, second = await stored(house, owner)

    for path in ("/account/passkeys/rename", "/account/passkeys/remove"):
        refused = await member.send(path, ANY_PAGE, passkey=first.passkey_id, name="Mine")
        assert refused.status_code == 404
        assert "No passkey" in refused.text
    assert await stored(house, owner) == [first, second]


async def test_an_account_has_at_most_twenty_passkeys(house: House) -> None:
    owner = await house.owner()
    early = await ceremonies.options(owner, "/account/passkeys/options", name="Late")
    attempt = dict(owner.client.cookies)
    for number in range(20):
        await ceremonies.add(owner, f"Key {number}")

    refused = await owner.send("/account/passkeys/options", ANY_PAGE, name="Late")
    assert refused.status_code == 400
    assert "20 passkeys" in refused.json()["error"]

    # The options came before the twentieth passkey.
    late = house.somebody()
    late.client.cookies.update(attempt)
    refused = await late.send(
        "/account/passkeys", ANY_PAGE, credential=Authenticator().create(early), name="Late"
    )
    assert refused.status_code == 400
    assert "20 passkeys" in refused.text
    assert len(await stored(house, owner)) == 20


async def test_a_passkey_is_added_once(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner)

    again = await ceremonies.try_to_add(owner, authenticator)

    assert again.status_code == 400
    assert "on your account already" in again.text


async def test_a_removed_passkey_signs_nobody_in(house: House) -> None:
    owner = await house.owner()
    lost, kept = await ceremonies.add(owner, "Lost"), await ceremonies.add(owner, "Kept")
    [passkey] = [found for found in await stored(house, owner) if found.name == "Lost"]

    removed = await owner.send("/account/passkeys/remove", ANY_PAGE, passkey=passkey.passkey_id)

    assert removed.headers["location"] == "/account?said=passkey-removed#methods"
    thief = house.somebody()
    assert (await ceremonies.sign_in(thief, lost)).status_code == 400
    assert not thief.session
    assert (await ceremonies.sign_in(house.somebody(), kept)).status_code == 303


async def test_the_last_way_in_stays(database: Database, tmp_path: Path) -> None:
    house = build(database, tmp_path, google_client_id="id", google_client_secret="secret")
    owner = await house.owner()
    await ceremonies.add(owner)
    [passkey] = await stored(house, owner)

    refused = await owner.send("/account/passkeys/remove", ANY_PAGE, passkey=passkey.passkey_id)
    assert refused.status_code == 400
    assert ONLY_WAY in refused.text
    assert await stored(house, owner) == [passkey]

    await connect_provider(house, owner)
    removed = await owner.send("/account/passkeys/remove", ANY_PAGE, passkey=passkey.passkey_id)
    assert removed.status_code == 303
    assert not await stored(house, owner)


async def test_two_removals_at_the_same_time_leave_one_way_in(house: House) -> None:
    owner = await house.owner()
    await ceremonies.add(owner)
    await ceremonies.add(owner)

    answers = await asyncio.gather(
        *(
            owner.send("/account/passkeys/remove", ANY_PAGE, passkey=passkey.passkey_id)
            for passkey in await stored(house, owner)
        )
    )

    assert sorted(answer.status_code for answer in answers) == [303, 400]
    assert len(await stored(house, owner)) == 1


async def test_the_ways_in_are_counted_one_transaction_after_the_other(
    postgres: ThrowawayPostgres,
) -> None:
    async with databases.fresh_postgres(postgres) as database:
        account_id = await Accounts(database, SetClock(), "pro").create("me@example.com")
        passkeys, ways_in = PasskeyStore(database), WaysInStore(database)
        removing, may_end = asyncio.Event(), asyncio.Event()

        async def add(transaction: Transaction) -> None:
            for id in ("p1", "p2"):
                passkey = Passkey(id.encode(), id, b"key", 0, id, "[]", 1)
                await passkeys.insert(transaction, account_id, passkey)

        async def remove(transaction: Transaction) -> None:
            await ways_in.lock(transaction, account_id)
            removing.set()
            await may_end.wait()
            await passkeys.remove(transaction, account_id, "p1")

        async def count(transaction: Transaction) -> int:
            return (await ways_in.lock(transaction, account_id)).total

        async def is_waiting_or_done() -> bool:
            return counting.done() or bool(await database.rows(WAITING, {}))

        await database.write(add)
        first = asyncio.create_task(database.write(remove))
        await removing.wait()
        counting = asyncio.create_task(database.write(count))
        await until(is_waiting_or_done)
        may_end.set()
        await first

        assert await counting == 1


async def test_a_refusal_shows_no_markup_of_others(house: House) -> None:
    owner = await house.owner()
    await ceremonies.add(owner)
    hostile = "<script>alert(1)</script>"

    refused = await owner.send("/account/passkeys/rename", ANY_PAGE, passkey=hostile, name="Laptop")

    assert hostile not in refused.text
    assert html.escape("<script>alert") in refused.text
