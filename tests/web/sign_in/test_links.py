"""Links that sign in: of the owner, by email, and invitations."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Refusal
from bowerbird.library.sign_in import mailed_links, one_time_links
from bowerbird.library.sign_in.one_time_links import InvitationRefused, Invitations
from bowerbird.requests.limits import INVITATIONS_MAX
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files import Files
from tests.support.hosts.smtp import MailServer
from tests.support.visiting import Visitor
from tests.support.waiting import PATIENCE_S
from tests.web.house import House, build, text_of

pytestmark = pytest.mark.anyio


MINUTE = 60 * MICROSECONDS

DAY = 24 * 60 * MINUTE


async def test_the_owner_creates_an_account_and_is_signed_in(house: House) -> None:
    token = await house.links.create_for_owner()
    person = house.somebody()

    asked = await person.send("/link", "/link", token=token)
    assert asked.status_code == 303
    assert asked.headers["location"] == f"/link?owner=yes#{token}"
    page = "/link?owner=yes"
    assert "Your email address" in (await person.open(page)).text
    assert person.session == ""

    entered = await person.send(page, page, token=token, email="me@example.com")

    assert entered.status_code == 303
    assert person.session
    [member] = await house.accounts.all()
    assert (member.email, member.plan) == ("me@example.com", "pro")


async def test_the_owners_link_works_where_somebody_else_is_signed_in(
    house: House, tmp_path: Path
) -> None:
    await house.accounts.create("owner@example.com")
    ann = await house.member("ann@example.com")
    await house.accounts.delete("owner@example.com", Files(Settings(data_dir=tmp_path)))
    token = await house.links.create_for_owner()

    asked = await ann.send("/link", "/link", token=token)
    page = asked.headers["location"].partition("#")[0]
    assert "Your email address" in (await ann.open(page)).text
    entered = await ann.send(page, page, token=token, email="me@example.com")

    assert entered.status_code == 303
    assert "me@example.com" in text_of(await ann.open("/account"))


async def test_the_owners_link_needs_no_script(house: House) -> None:
    pasted = f"http://localhost:8080/link#{await house.links.create_for_owner()}"
    person = house.somebody()

    asked = await person.send("/link", "/link", token="", link=pasted)

    assert "Your email address" in asked.text
    token = pasted.rpartition("#")[2]
    entered = await person.send("/link", "/link", token=token, email="me@example.com")
    assert entered.status_code == 303


async def test_a_link_expires_after_fifteen_minutes(house: House) -> None:
    await house.accounts.create("me@example.com")
    token = await house.links.create_for_owner()
    house.clock.now += 15 * MINUTE

    assert (await house.somebody().send("/link", "/link", token=token)).status_code == 410


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


async def test_a_server_that_starts_again_and_again_still_makes_a_link(house: House) -> None:
    tokens = [await house.links.create_for_owner() for _ in range(30)]

    entered = await house.somebody().send(
        "/link", "/link", token=tokens[-1], email="owner@example.com"
    )

    assert entered.status_code == 303


EMAIL = "ann@example.com"


@pytest.fixture
async def mailing(mailing: House) -> House:
    await mailing.accounts.create(EMAIL)
    return mailing


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


DAY_INVITATIONS = 86_400 * MICROSECONDS


@pytest.fixture
def invitations(house: House) -> Invitations:
    return Invitations(house.database, house.clock)


async def use(house: House, invitations: Invitations, token: str) -> None:
    async def work(transaction: Transaction) -> None:
        await invitations.use(transaction, token)

    await house.database.write(work)


async def test_an_invitation_expires_after_seven_days(
    house: House, invitations: Invitations
) -> None:
    token = await invitations.create()
    house.clock.now += 7 * DAY_INVITATIONS - 1
    assert await invitations.is_open(token)

    house.clock.now += 1

    assert not await invitations.is_open(token)
    assert not await invitations.all()
    with pytest.raises(InvitationRefused):
        await use(house, invitations, token)


async def test_a_link_that_signs_in_is_no_invitation(
    house: House, invitations: Invitations
) -> None:
    token = await house.links.create_for_owner()

    assert not await invitations.is_open(token)
    with pytest.raises(InvitationRefused):
        await use(house, invitations, token)
    assert (await house.somebody().send("/link", "/link", token=token)).status_code == 303


async def test_open_invitations_are_bounded(invitations: Invitations) -> None:
    for _ in range(INVITATIONS_MAX):
        await invitations.create()
    with pytest.raises(Refusal, match="100 invitations are open already"):
        await invitations.create()

    await invitations.withdraw((await invitations.all())[0].link_id)

    await invitations.create()
