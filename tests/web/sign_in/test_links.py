"""One-time links: the owner's way in, and everybody's when all else fails."""

from pathlib import Path

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.settings import Settings
from bowerbird.storage.files.files import Files
from tests.web.house import House
from tests.web.sign_in.ceremonies import account_of

pytestmark = pytest.mark.anyio
MINUTE = 60 * MICROSECONDS
DAY = 24 * 60 * MINUTE


async def test_the_owner_creates_an_account_and_is_signed_in(house: House) -> None:
    token = await house.links.create_for_owner()
    person = house.somebody()

    asked = await person.send("/link", "/link", token=token)
    assert asked.status_code == 200
    assert "Your email address" in asked.text
    assert person.session == ""

    entered = await person.send("/link", "/link", token=token, email="me@example.com")

    assert entered.status_code == 303
    assert person.session
    [member] = await house.accounts.all()
    assert (member.email, member.plan) == ("me@example.com", "pro")


async def test_the_whole_link_can_be_pasted_where_no_script_reads_it(house: House) -> None:
    token = await house.links.create_for_owner()
    person = house.somebody()
    assert 'name="link"' in (await person.open("/link")).text

    asked = await person.send("/link", "/link", token="", link=f" http://x.example/link#{token} ")
    assert f'name="token" value="{token}"' in asked.text
    assert 'name="link"' not in asked.text
    entered = await person.send("/link", "/link", token=token, email="me@example.com")

    assert entered.status_code == 303


async def test_a_link_works_once(house: House) -> None:
    await house.accounts.create("me@example.com")
    token = await house.links.create_for_owner()
    first, second = house.somebody(), house.somebody()

    assert (await first.send("/link", "/link", token=token)).status_code == 303
    again = await second.send("/link", "/link", token=token)

    assert again.status_code == 410
    assert "no longer valid" in again.text
    assert not second.session


async def test_a_link_expires_after_fifteen_minutes(house: House) -> None:
    await house.accounts.create("me@example.com")
    token = await house.links.create_for_owner()
    house.clock.now += 15 * MINUTE

    assert (await house.somebody().send("/link", "/link", token=token)).status_code == 410


async def test_a_link_of_an_account_signs_in_that_account(house: House) -> None:
    await house.owner()
    member = await house.member("other@example.com")

    assert (await member.open("/")).status_code == 200
    assert (
        member.session[:16] == f"{(await house.accounts.find('other@example.com')).account_id:016x}"
    )


async def test_no_visitor_becomes_the_owner_without_the_link(house: House) -> None:
    person = house.somebody()
    for token in ("", "x" * 43, "\u0000", "A" * 60_000):
        refused = await person.send("/link", "/link", token=token, email="thief@example.com")
        assert refused.status_code in {400, 410}, token

    assert not await house.accounts.all()
    assert person.session == ""


@pytest.mark.parametrize("email", ["nonsense", "a@b"])
async def test_an_address_that_is_no_address_is_refused_and_the_link_stays(
    house: House, email: str
) -> None:
    token = await house.links.create_for_owner()
    person = house.somebody()

    refused = await person.send("/link", "/link", token=token, email=email)
    assert refused.status_code == 400
    assert "Invalid email address" in refused.text

    entered = await person.send("/link", "/link", token=token, email="me@example.com")
    assert entered.status_code == 303


async def test_the_stored_link_is_a_hash(house: House) -> None:
    token = await house.links.create_for_owner()
    rows = await house.database.rows("SELECT * FROM one_time_link", {})

    assert token not in str(rows)
    assert token.encode() not in [value for row in rows for value in row]


@pytest.mark.both
async def test_an_owner_whose_session_is_too_old_gets_a_link_again(house: House) -> None:
    owner = await house.owner()
    assert await house.links.has_owner_entered()

    for _ in range(9):
        house.clock.now += 20 * DAY
        await owner.open("/keys")
        await house.service.session_uses.flush()

    assert "Sign in with a passkey" in (await owner.open("/account")).text
    assert not await house.links.has_owner_entered()


@pytest.mark.both
async def test_without_an_owner_an_account_of_somebody_is_not_taken_over(
    house: House, tmp_path: Path
) -> None:
    await house.accounts.create("owner@example.com")
    await house.accounts.create("ann@example.com")
    await house.accounts.delete("owner@example.com", Files(Settings(data_dir=tmp_path)))
    person, token = house.somebody(), await house.links.create_for_owner()

    asked = await person.send("/link", "/link", token=token)
    refused = await person.send("/link", "/link", token=token, email="ann@example.com")

    assert "Nobody has an account" not in asked.text
    assert refused.status_code == 400
    assert "bowerbird account owner ann@example.com" in refused.text
    assert person.session == ""


@pytest.mark.both
async def test_a_link_ends_the_session_that_the_browser_had(house: House) -> None:
    owner = await house.owner()
    before = dict(owner.client.cookies)
    token = await house.links.create_for_owner()

    entered = await owner.send("/link", "/link", token=token)

    assert entered.status_code == 303
    assert len(await Sessions(house.database, house.clock).all(account_of(owner))) == 1
    thief = house.somebody()
    thief.client.cookies.update(before)
    assert "Sign in with a passkey" in (await thief.open("/account")).text
    assert (await owner.open("/account")).status_code == 200


async def test_opening_the_page_of_a_link_does_not_use_it(house: House) -> None:
    await house.accounts.create("me@example.com")
    token = await house.links.create_for_owner()
    await house.somebody().open("/link")

    assert (await house.somebody().send("/link", "/link", token=token)).status_code == 303


async def test_a_server_that_starts_again_and_again_still_makes_a_link(house: House) -> None:
    tokens = [await house.links.create_for_owner() for _ in range(30)]

    entered = await house.somebody().send(
        "/link", "/link", token=tokens[-1], email="owner@example.com"
    )

    assert entered.status_code == 303
