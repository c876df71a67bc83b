"""Passkeys: signing in, and their list."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.access.activity import Activity
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.model.accounts import ActivityKind, Passkey
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.sign_in import PasskeyStore, WaysInStore
from tests.support import databases
from tests.support.hosts.authenticator import PRESENT, VERIFIED, Authenticator, encoded
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import SetClock
from tests.support.visiting import Visitor, visitor
from tests.support.waiting import until
from tests.web.house import House, build
from tests.web.sign_in import ceremonies
from tests.web.sign_in.ceremonies import ANY_PAGE, account_of

pytestmark = pytest.mark.anyio


MINUTE = 60 * MICROSECONDS

REFUSED = "This passkey could not be checked."

EXPIRED = "This attempt has expired or was used already."


async def stored(house: House, person: Visitor) -> list[Passkey]:
    return list(await PasskeyStore(house.database).all(account_of(person), 100))


async def kinds(house: House, account_id: int) -> list[ActivityKind | str]:
    page = await Activity(house.database).page(account_id)
    return [entry.kind for entry in page]


async def test_a_passkey_signs_in_without_an_email_address(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner, "Laptop")
    somebody = house.somebody()

    entered = await ceremonies.sign_in(somebody, authenticator, next="/keys")

    assert (entered.status_code, entered.headers["location"]) == (303, "/keys")
    assert account_of(somebody) == account_of(owner)
    [passkey] = await stored(house, owner)
    assert (passkey.name, passkey.last_used_at) == ("Laptop", house.clock.now)
    assert set(await kinds(house, account_of(owner))) >= {
        ActivityKind.PASSKEY_ADDED,
        ActivityKind.SIGNED_IN,
    }


async def test_the_options_ask_for_a_discoverable_passkey_and_for_the_person(house: House) -> None:
    owner = await house.owner("me@example.com")
    known = await ceremonies.add(owner)

    creation = await ceremonies.options(owner, "/account/passkeys/options", name="Phone")

    assert creation["rp"] == {"name": "Bowerbird", "id": "localhost"}
    assert creation["user"] == {
        "id": encoded(account_of(owner).to_bytes(8, "big")),
        "name": "me@example.com",
        "displayName": "me@example.com",
    }
    assert creation["authenticatorSelection"]["residentKey"] == "required"
    assert creation["authenticatorSelection"]["userVerification"] == "required"
    assert creation["attestation"] == "none"
    assert [c["id"] for c in creation["excludeCredentials"]] == [encoded(known.credential_id)]

    request = await ceremonies.options(house.somebody(), "/sign-in/passkey/options")

    assert request["rpId"] == "localhost"
    assert not request["allowCredentials"]
    assert request["userVerification"] == "required"


@pytest.mark.parametrize(
    "lie",
    [
        {"origin": "http://localhost:9999"},
        {"origin": "https://localhost:8080"},
        {"origin": "http://evil.example"},
        {"rp_id": "evil.example"},
        {"flags": PRESENT},
        {"flags": VERIFIED},
        {"credential_id": b"unknown"},
        {"user_handle": (2**62).to_bytes(8, "big")},
        {"user_handle": b"\xff" * 8},
        {"user_handle": b"\x01"},
        {"user_handle": b""},
        {"key": Authenticator().key},
    ],
    ids=lambda lie: next(iter(lie)),
)
async def test_a_wrong_answer_does_not_sign_in(house: House, lie: dict[str, Any]) -> None:
    authenticator = await ceremonies.add(await house.owner())
    vars(authenticator).update(lie)
    somebody = house.somebody()

    refused = await ceremonies.sign_in(somebody, authenticator)

    # The same page for all of them, so that nobody learns which accounts and passkeys exist.
    assert refused.status_code == 400
    assert REFUSED in refused.text
    assert not somebody.session


@pytest.mark.parametrize(
    "lie",
    [{"origin": "http://evil.example"}, {"rp_id": "evil.example"}, {"flags": PRESENT}],
    ids=str,
)
async def test_a_wrong_answer_does_not_register(house: House, lie: dict[str, Any]) -> None:
    owner = await house.owner()

    refused = await ceremonies.try_to_add(owner, Authenticator(**lie))

    assert refused.status_code == 400
    assert REFUSED in refused.text
    assert not await stored(house, owner)


async def test_an_answer_works_once(house: House) -> None:
    authenticator = await ceremonies.add(await house.owner())
    somebody = house.somebody()
    wanted = await ceremonies.options(somebody, "/sign-in/passkey/options")
    credential = authenticator.sign(wanted)
    attempt = dict(somebody.client.cookies)

    page = ceremonies.ANY_PAGE
    entered = await somebody.send("/sign-in/passkey", page, credential=credential)
    assert entered.status_code == 303

    thief = house.somebody()
    thief.client.cookies.update({k: v for k, v in attempt.items() if k.endswith("-attempt")})
    again = await thief.send("/sign-in/passkey", page, credential=credential)
    assert again.status_code == 400
    assert EXPIRED in again.text

    # A new attempt has another challenge.
    other = house.somebody()
    await ceremonies.options(other, "/sign-in/passkey/options")
    replayed = await other.send("/sign-in/passkey", page, credential=credential)
    assert REFUSED in replayed.text
    assert not thief.session
    assert not other.session


async def test_an_attempt_to_register_works_once(house: House) -> None:
    owner = await house.owner()
    wanted = await ceremonies.options(owner, "/account/passkeys/options", name="Laptop")
    cookies = dict(owner.client.cookies)
    answers = []
    for _ in range(2):
        # A browser that keeps the attempt.
        browser = house.somebody()
        browser.client.cookies.update(cookies)
        fields = {"credential": Authenticator().create(wanted), "name": "Laptop"}
        answers.append(await browser.send("/account/passkeys", ceremonies.ANY_PAGE, **fields))

    assert [answer.status_code for answer in answers] == [303, 400]
    assert EXPIRED in answers[1].text
    assert len(await stored(house, owner)) == 1


async def test_an_attempt_of_another_kind_is_refused(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner)
    page = ceremonies.ANY_PAGE

    wanted = await ceremonies.options(owner, "/reauthenticate/options")
    signed = authenticator.sign(wanted)
    assert EXPIRED in (await owner.send("/sign-in/passkey", page, credential=signed)).text

    wanted = await ceremonies.options(owner, "/sign-in/passkey/options")
    signed = authenticator.sign(wanted)
    assert EXPIRED in (await owner.send("/reauthenticate", page, credential=signed)).text

    wanted["user"] = {"id": encoded(account_of(owner).to_bytes(8, "big"))}
    created = Authenticator().create(wanted)
    refused = await owner.send("/account/passkeys", page, credential=created, name="Laptop")
    assert EXPIRED in refused.text
    assert len(await stored(house, owner)) == 1


async def test_an_attempt_to_register_belongs_to_its_account(house: House) -> None:
    owner, member = await house.owner(), await house.member("other@example.com")
    wanted = await ceremonies.options(owner, "/account/passkeys/options", name="Laptop")
    attempt = {k: v for k, v in owner.client.cookies.items() if k.endswith("-attempt")}
    member.client.cookies.update(attempt)

    refused = await member.send(
        "/account/passkeys",
        ceremonies.ANY_PAGE,
        credential=Authenticator().create(wanted),
        name="Laptop",
    )

    assert REFUSED in refused.text
    assert not await stored(house, member)


async def test_a_counter_that_does_not_grow_is_refused_and_noted(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner, sign_count=1)
    authenticator.sign_count = 7
    assert (await ceremonies.sign_in(house.somebody(), authenticator)).status_code == 303

    for count in (7, 6, 0):
        authenticator.sign_count = count
        copy = house.somebody()
        refused = await ceremonies.sign_in(copy, authenticator)
        assert REFUSED in refused.text, count
        assert not copy.session

    assert (await kinds(house, account_of(owner))).count(ActivityKind.PASSKEY_REFUSED) == 3
    authenticator.sign_count = 8
    assert (await ceremonies.sign_in(house.somebody(), authenticator)).status_code == 303
    [passkey] = await stored(house, owner)
    assert passkey.sign_count == 8


DEEP = "[" * 7_000 + "]" * 7_000

MALFORMED = (
    *("", "null", "[]", "{}", "{", '"x"', "\ud7ff", "x" * 20_000, DEEP),
    json.dumps({"id": "AA", "response": {}}),
    json.dumps({"id": 1, "response": None}),
    f'{{"id": "AA", "response": {DEEP}}}',
    f'{{"id": "AA", "more": {DEEP}, "response": {{}}}}',
)

STARTS = {
    "/sign-in/passkey": "/sign-in/passkey/options",
    "/reauthenticate": "/reauthenticate/options",
    "/account/passkeys": "/account/passkeys/options",
}


@pytest.mark.parametrize("path", STARTS)
async def test_a_malformed_answer_is_refused(house: House, path: str) -> None:
    owner = await house.owner()
    await ceremonies.add(owner)
    for credential in MALFORMED:
        await ceremonies.options(owner, STARTS[path])
        refused = await owner.send(path, ceremonies.ANY_PAGE, credential=credential)
        assert (refused.status_code, REFUSED in refused.text) == (400, True), credential[:30]


NESTED = encoded(b"\x81" * 8_000 + b"\x00")


@pytest.mark.parametrize("hostile", ["", "AA", "é", "A", "====", NESTED, encoded(DEEP.encode())])
async def test_hostile_bytes_in_an_answer_are_refused(house: House, hostile: str) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner)
    for part in ("id", "clientDataJSON", "authenticatorData", "signature", "userHandle"):
        wanted = await ceremonies.options(owner, "/sign-in/passkey/options")
        answer = json.loads(authenticator.sign(wanted))
        (answer if part == "id" else answer["response"])[part] = hostile
        answer["rawId"] = answer["id"]
        refused = await owner.send(
            "/sign-in/passkey", ceremonies.ANY_PAGE, credential=json.dumps(answer)
        )
        assert (refused.status_code, REFUSED in refused.text) == (400, True), part
    for part in ("id", "clientDataJSON", "attestationObject"):
        wanted = await ceremonies.options(owner, "/account/passkeys/options")
        answer = json.loads(Authenticator().create(wanted))
        (answer if part == "id" else answer["response"])[part] = hostile
        refused = await owner.send(
            "/account/passkeys", ceremonies.ANY_PAGE, credential=json.dumps(answer)
        )
        assert (refused.status_code, REFUSED in refused.text) == (400, True), part


async def test_a_longer_answer_than_browsers_send_is_refused(house: House) -> None:
    authenticator = await ceremonies.add(await house.owner())
    person = house.somebody()
    wanted = await ceremonies.options(person, "/sign-in/passkey/options")
    credential = authenticator.sign(wanted)
    page = ceremonies.ANY_PAGE

    long = await person.send("/sign-in/passkey", page, credential=credential.ljust(16_385))
    assert REFUSED in long.text
    entered = await person.send("/sign-in/passkey", page, credential=credential.ljust(16_384))
    assert entered.status_code == 303


async def test_attempts_are_limited_by_address_and_the_account_is_not_locked(house: House) -> None:
    authenticator = await ceremonies.add(await house.owner())
    thief = house.somebody()
    good, authenticator.key = authenticator.key, Authenticator().key
    answers = [(await ceremonies.sign_in(thief, authenticator)).status_code for _ in range(21)]
    assert answers[-1] == 429
    assert set(answers[:-2]) == {400}

    authenticator.key = good
    holder = visitor(house.service, address="198.51.100.9")
    assert (await ceremonies.sign_in(holder, authenticator)).status_code == 303


async def test_errors_of_the_scripts_calls_are_json(house: House) -> None:
    owner = await house.owner()
    page = ceremonies.ANY_PAGE

    without_token = await owner.post("/account/passkeys/options", name="Laptop")
    assert without_token.status_code == 403
    assert "out of date" in without_token.json()["error"]

    no_passkey = await owner.send("/reauthenticate/options", page)
    assert (no_passkey.status_code, no_passkey.json()) == (
        400,
        {"error": "Your account has no passkey."},
    )

    bad_name = await owner.send("/account/passkeys/options", page, name="x" * 101)
    assert bad_name.status_code == 400
    assert "1 to 100" in bad_name.json()["error"]

    house.clock.now += 10 * MINUTE
    again = await owner.send("/account/passkeys/options", page, name="Laptop")
    assert again.status_code == 401
    assert again.json()["go"] == "/reauthenticate?next=/account"

    stranger = await house.somebody().send("/account/passkeys/options", page)
    assert stranger.status_code == 401
    assert stranger.json()["go"] == "/sign-in?next=/account"


async def test_a_forged_counter_is_not_noted(house: House) -> None:
    owner = await house.owner()
    authenticator = await ceremonies.add(owner, sign_count=5)
    authenticator.key = Authenticator().key
    authenticator.sign_count = 1

    assert REFUSED in (await ceremonies.sign_in(house.somebody(), authenticator)).text
    assert ActivityKind.PASSKEY_REFUSED not in await kinds(house, account_of(owner))


def test_a_server_without_passkeys_does_not_import_the_library() -> None:
    code = "import sys, bowerbird.app; assert not {'webauthn', 'cryptography'} & set(sys.modules)"

    subprocess.run([sys.executable, "-c", code], check=True)


WAITING = """
SELECT 1 FROM pg_stat_activity
 WHERE datname = current_database() AND wait_event_type = 'Lock'"""

ONLY_WAY = "This is your only way to sign in."

CONNECT = """
INSERT INTO provider_identity (issuer, subject, account_id, identity_id, shown, created_at)
VALUES ('https://accounts.google.com', '1', :account_id, 'i1', 'me', 1)"""


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
                await passkeys.insert(Writable(transaction, account_id), passkey)

        async def remove(transaction: Transaction) -> None:
            await ways_in.lock(transaction, account_id)
            removing.set()
            await may_end.wait()
            await passkeys.remove(Writable(transaction, account_id), "p1")

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
