"""Sign-in links that are sent by email to people who ask for one."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.sign_in import mailed_links, one_time_links
from bowerbird.storage.database import Database
from tests.support import smtp
from tests.support.smtp import MailServer
from tests.support.visiting import Visitor
from tests.support.waiting import PATIENCE_S
from tests.web.house import House, build, text_of

pytestmark = pytest.mark.anyio

MINUTE = 60 * MICROSECONDS
EMAIL = "ann@example.com"


@pytest.fixture
async def mail() -> AsyncIterator[MailServer]:
    async with smtp.mail_server() as server:
        yield server


@pytest.fixture
async def mailing(database: Database, tmp_path: Path, mail: MailServer) -> House:
    house = build(database, tmp_path, smtp_url=mail.url, mail_from="Posts <posts@example.org>")
    await house.accounts.create(EMAIL)
    return house


async def _ask(house: House, email: str = EMAIL, person: Visitor | None = None) -> str:
    """Asks for a link; returns what the page says, after everything was sent."""
    page = await (person or house.somebody()).send("/sign-in/link", "/sign-in", email=email)
    assert page.status_code == 200, page.text
    await house.service.mailed_links.close(PATIENCE_S)
    return text_of(page)


def _token(mail: MailServer, email: str = EMAIL) -> str:
    text = mail.to(email)[-1].get_content()
    return str(text.split("/link#")[1].split()[0])


def _saying(answer: str) -> Callable[[str], str]:
    return lambda _: answer


@pytest.mark.both
async def test_the_link_signs_in_once_when_its_button_is_pressed(
    mailing: House, mail: MailServer
) -> None:
    person = mailing.somebody()
    await _ask(mailing, person=person)
    token = _token(mail)

    # What scanners of mail do.
    assert (await mailing.somebody().open("/link")).status_code == 200
    entered = await person.send("/link", "/link", link=f"https://posts.example.org/link#{token}")
    again = await mailing.somebody().send("/link", "/link", token=token)

    assert (entered.status_code, again.status_code) == (303, 410)
    assert (await person.open("/library")).status_code == 200
    rows = await mailing.database.rows("SELECT * FROM one_time_link", {})
    assert token not in str(rows)
    assert "Sent a link to sign in by email" in text_of(await person.open("/activity"))


async def test_the_link_expires_after_fifteen_minutes(mailing: House, mail: MailServer) -> None:
    await _ask(mailing)
    mailing.clock.now += 15 * MINUTE

    late = await mailing.somebody().send("/link", "/link", token=_token(mail))
    assert late.status_code == 410


async def test_an_unknown_address_gets_the_same_answer_and_no_email(
    mailing: House, mail: MailServer
) -> None:
    known = await _ask(mailing)
    unknown = await _ask(mailing, "bob@example.com")

    assert unknown == known.replace(EMAIL, "bob@example.com")
    assert [letter["To"] for letter in mail.letters] == [EMAIL]


async def test_the_email_goes_to_the_stored_spelling_of_the_address(
    mailing: House, mail: MailServer
) -> None:
    await _ask(mailing, " ANN@Example.com ")

    assert [letter["To"] for letter in mail.letters] == [EMAIL]


async def test_something_else_than_an_address_is_refused(mailing: House, mail: MailServer) -> None:
    number = str(await mailing.account_id(EMAIL))
    for email in ("", "nonsense", number, f"{EMAIL}\r\nBcc: x@example.com"):
        refused = await mailing.somebody().send("/sign-in/link", "/sign-in", email=email)
        assert refused.status_code == 400, email
        assert "Invalid email address" in refused.text

    await mailing.service.mailed_links.close(PATIENCE_S)
    assert not mail.letters


async def test_an_account_has_few_open_links_and_the_operator_can_still_make_one(
    mailing: House, mail: MailServer
) -> None:
    for _ in range(one_time_links.MAILED_OPEN_MAX + 1):
        await _ask(mailing)
    assert len(mail.letters) == one_time_links.MAILED_OPEN_MAX
    await mailing.links.create_for(await mailing.account_id(EMAIL))

    mailing.clock.now += 15 * MINUTE
    await _ask(mailing)
    assert len(mail.letters) == one_time_links.MAILED_OPEN_MAX + 1


async def test_an_account_gets_few_links_per_day(mailing: House, mail: MailServer) -> None:
    for _ in range(one_time_links.MAILED_PER_DAY + 1):
        mailing.clock.now += 5 * MINUTE
        await _ask(mailing)
    assert len(mail.letters) == one_time_links.MAILED_PER_DAY

    mailing.clock.now += 24 * 60 * MINUTE
    await _ask(mailing)
    assert len(mail.letters) == one_time_links.MAILED_PER_DAY + 1


@pytest.mark.both
async def test_a_network_asks_a_few_times_at_once(mailing: House) -> None:
    for n in range(mailed_links.ASKED_MAX):
        await _ask(mailing, f"n{n}@example.com")

    refused = await mailing.somebody().send("/sign-in/link", "/sign-in", email=EMAIL)
    assert refused.status_code == 429
    mailing.clock.now += MINUTE
    await _ask(mailing)


async def test_a_link_that_the_mail_server_refuses_does_not_stay_open(
    mailing: House, mail: MailServer
) -> None:
    for answer in ("550 no such mailbox", "450 later"):
        mail.at_recipient = _saying(answer)
        await _ask(mailing)

    left = "SELECT link_id FROM one_time_link WHERE used_at IS NULL"
    assert not await mailing.database.rows(left, {})


async def test_a_link_to_the_former_address_ends_with_the_change(
    mailing: House, mail: MailServer
) -> None:
    await _ask(mailing)
    await mailing.accounts.set_email(EMAIL, "ann@example.org")

    late = await mailing.somebody().send("/link", "/link", token=_token(mail))
    assert late.status_code == 410


async def test_a_person_without_a_passkey_proves_with_a_link(
    mailing: House, mail: MailServer
) -> None:
    person = await mailing.member("bob@example.com")
    mailing.clock.now += 60 * MINUTE
    page = await person.open("/reauthenticate?next=/account/delete")
    assert 'name="email" value="bob@example.com"' in page.text

    await _ask(mailing, "bob@example.com", person)
    await person.send("/link", "/link", token=_token(mail, "bob@example.com"))

    proved = await person.client.get("/reauthenticate?next=/account/delete")
    assert proved.headers["location"] == "/account/delete"


@pytest.mark.parametrize(
    "settings", [{}, {"smtp_url": "smtp://127.0.0.1:9", "email_sign_in": "off"}]
)
async def test_no_link_is_offered_without_a_mail_server_or_if_turned_off(
    database: Database, tmp_path: Path, settings: dict[str, str]
) -> None:
    house = build(database, tmp_path, mail_from="posts@example.org", **settings)

    assert "/sign-in/link" not in (await house.somebody().open("/sign-in")).text
    refused = await house.somebody().send("/sign-in/link", "/sign-in", email=EMAIL)
    assert refused.status_code == 404
