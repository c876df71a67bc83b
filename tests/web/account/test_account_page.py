"""The account page: plan, preferences, address, sessions and a copy of everything."""

import json
import re

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.activity import Activity
from bowerbird.library.sign_in.mailed_links import PER_DAY
from bowerbird.model.accounts import ActivityKind
from bowerbird.requests import limits
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Readable
from bowerbird.storage.upkeep.digests import DigestStore
from tests.support import make
from tests.support.hosts.smtp import MailServer
from tests.support.service import Member
from tests.support.visiting import Visitor
from tests.web.house import House, text_of

pytestmark = pytest.mark.anyio

HOUR = 3_600 * MICROSECONDS
EMAIL = "owner@example.com"


async def test_it_shows_the_plan_and_what_is_used(house: House) -> None:
    await house.owner()
    person = await house.member("free@example.com", "free")
    await person.send("/keys", "/keys", name="laptop")

    page = text_of(await person.open("/account"))

    assert "Plan free Posts 0 API calls this month 0 Keys 1" in page
    assert "0 of 100" in page
    assert "The count starts again on 1 Aug 2026" in page


async def test_the_time_zone_is_saved_and_the_schedule_of_digests_stays(house: House) -> None:
    person = await house.owner()
    await person.send("/digests", "/digests", frequency="daily", hour="7", highlight="true")

    saved = await person.send("/account/preferences", "/account", time_zone="Europe/Berlin")

    assert saved.headers["location"] == "/account?said=preferences-saved#you"
    kept = await DigestStore(house.database).preferences(await house.account_id())
    assert (kept.time_zone, kept.frequency, kept.hour) == ("Europe/Berlin", "daily", 7)
    page = await person.open("/account?said=preferences-saved")
    assert "Your preferences are saved." in page.text
    assert '<option value="Europe/Berlin" selected>' in page.text


async def test_sessions_are_listed_and_ended_one_by_one(house: House) -> None:
    here = await house.owner()
    token = await house.links.create_for(await house.account_id())
    there = house.somebody()
    await there.send("/link", "/link", token=token)
    page = await here.open("/account")
    assert page.text.count("Firefox on Linux</th>") == 2
    assert page.text.count('on">This browser</span>') == 1

    [ended] = _actions(page.text, "/end")
    await here.send(ended, "/account")

    assert (await there.client.get("/account")).status_code == 303
    assert (await here.client.get("/account")).status_code == 200
    assert "Signed out “Firefox on Linux”" in text_of(await here.open("/activity"))


def _actions(page: str, end: str) -> list[str]:
    """The paths of forms with this end."""
    return [path for path in re.findall(r'action="([^"]+)"', page) if path.endswith(end)]


async def test_the_owner_changes_the_address_directly_without_a_mail_server(house: House) -> None:
    person = await house.owner()

    changed = await person.send("/account/email", "/account", email="me@example.org")
    assert changed.headers["location"] == "/account?said=email-changed#you"
    assert "me@example.org" in (await person.open("/account")).text
    assert await house.accounts.find("ME@example.org")


async def test_others_are_told_to_ask_the_operator_without_a_mail_server(house: House) -> None:
    await house.owner()
    person = await house.member("other@example.com")
    page = await person.open("/account")
    assert "ask the operator" in page.text
    assert "/account/email" not in page.text

    refused = await person.send("/account/email", "/account", email="me@example.org")

    assert refused.status_code == 400
    assert await house.accounts.find("other@example.com")


async def _confirming(mail: MailServer, person: Visitor, email: str) -> str:
    """Asks for another address; returns the token of the link that was sent there."""
    asked = await person.send("/account/email", "/account", email=email)
    assert asked.headers["location"] == "/account?said=email-sent#you"
    text = mail.to(email)[-1].get_content()
    assert "/link/email#" in text
    return str(text.split("/link/email#")[1].split()[0])


async def test_an_address_changes_when_its_link_is_opened(mailing: House, mail: MailServer) -> None:
    person = await mailing.owner()
    token = await _confirming(mail, person, "me@example.org")
    older = await _confirming(mail, person, "another@example.org")

    assert await mailing.accounts.find(EMAIL)
    assert (await person.open("/link/email")).status_code == 200
    stranger = await mailing.somebody().send("/link/email", "/link", token=token)
    assert stranger.status_code == 403
    done = await person.send("/link/email", "/link/email", token=token)

    assert done.headers["location"] == "/account?said=email-changed#you"
    assert await mailing.accounts.find("me@example.org")
    for used in (token, older):
        again = await person.send("/link/email", "/link/email", token=used)
        assert again.status_code == 410


async def test_a_link_for_an_address_is_for_its_account_and_expires(
    mailing: House, mail: MailServer
) -> None:
    person, other = await mailing.owner(), await mailing.member("other@example.com")
    token = await _confirming(mail, person, "me@example.org")

    assert (await other.send("/link/email", "/link/email", token=token)).status_code == 410
    # It signs nobody in, and a link that signs in confirms no address.
    assert (await mailing.somebody().send("/link", "/link", token=token)).status_code == 410
    signing = await mailing.links.create_for(await mailing.account_id())
    assert (await person.send("/link/email", "/link/email", token=signing)).status_code == 410
    mailing.clock.now += 24 * HOUR
    assert (await person.send("/link/email", "/link/email", token=token)).status_code == 410
    assert await mailing.accounts.find(EMAIL)


async def test_nobody_learns_whether_an_address_is_taken(mailing: House, mail: MailServer) -> None:
    person = await mailing.owner()
    await mailing.member("taken@example.com")

    token = await _confirming(mail, person, "taken@example.com")
    await _confirming(mail, person, "free@example.com")

    # The reader of that mailbox may know.
    refused = await person.send("/link/email", "/link/email", token=token)
    assert refused.status_code == 400
    assert "already has an account" in refused.text
    assert await mailing.accounts.find(EMAIL)


async def test_confirming_one_address_does_not_let_a_person_email_many_others(
    mailing: House, mail: MailServer
) -> None:
    person = await mailing.owner()
    for n in range(PER_DAY):
        token = await _confirming(mail, person, f"n{n}@example.com")
        if n % 2:
            await person.send("/link/email", "/link/email", token=token)

    refused = await person.send("/account/email", "/account", email="more@example.com")
    assert refused.status_code == 429
    assert not mail.to("more@example.com")

    mailing.clock.now += 24 * HOUR
    await _confirming(mail, person, "more@example.com")


async def test_an_email_that_cannot_be_sent_is_reported_and_counts(
    mailing: House, mail: MailServer
) -> None:
    person = await mailing.owner()
    mail.at_recipient = lambda _: "550 no such mailbox"
    for n in range(PER_DAY):
        refused = await person.send("/account/email", "/account", email=f"n{n}@example.com")
        assert refused.status_code == 400
        assert "refused this address" in refused.text
    refused = await person.send("/account/email", "/account", email="me@example.org")
    assert refused.status_code == 429
    mailing.clock.now += 24 * HOUR
    mail.at_recipient = lambda _: "450 later"
    later = await person.send("/account/email", "/account", email="me@example.org")
    assert later.status_code == 503
    assert "does not accept emails now" in later.text
    assert not await mailing.database.rows("SELECT * FROM one_time_link WHERE kind = 'email'", {})


async def test_everything_can_be_downloaded(house: House) -> None:
    person = await house.owner()
    account_id = await house.account_id()
    member = Member(house.database, account_id, "", person.client, house.clock)
    posts = [make.post() for _ in range(700)]
    await member.save_all(posts)

    file = await person.send("/account/export", "/account")

    assert file.status_code == 200
    assert file.headers["content-disposition"] == 'attachment; filename="bowerbird-2026-07-18.json"'
    assert file.headers["cache-control"] == "no-store"
    assert "content-length" not in file.headers
    content = json.loads(file.content)
    assert content["account"]["email"] == EMAIL
    assert {post["post_id"] for post in content["bookmarks"]} == {post["post_id"] for post in posts}
    page = await Activity(house.database).page(account_id)
    assert ActivityKind.ACCOUNT_DOWNLOADED in [entry.kind for entry in page]


async def test_downloads_are_bounded_per_day(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ACCOUNT_DOWNLOADS_PER_DAY", 2)
    person = await house.owner()
    for _ in range(2):
        assert (await person.send("/account/export", "/account")).status_code == 200

    refused = await person.send("/account/export", "/account")
    assert refused.status_code == 429
    assert "2 times today" in text_of(refused)

    house.clock.now += 24 * HOUR
    assert (await person.send("/account/export", "/account")).status_code == 200


async def test_an_account_without_an_address_has_its_pages(house: House) -> None:
    async def create(transaction: object) -> int:
        return await house.accounts.create_within(transaction, "")  # type: ignore[arg-type]

    account_id = await house.database.write(create)
    person = house.somebody()
    await person.send("/link", "/link", token=await house.links.create_for(account_id))

    for path in ("/keys", "/account", "/activity", "/account/delete"):
        assert (await person.client.get(path)).status_code == 200, path
    assert "Your account has no email address." not in (await person.open("/keys")).text
    with pytest.raises(Refusal) as refused:
        await house.accounts.find(str(account_id + 1))
    assert refused.value.code is Code.NOT_FOUND
    assert (await house.accounts.find(f" {account_id} ")).account_id == account_id


async def test_what_happens_to_posts_that_are_removed_at_x_is_chosen(house: House) -> None:
    person, other = await house.owner(), await house.member("other@example.com", "pro")

    async def choice() -> str:
        return await AccountStore(house.database).removed_posts(
            Readable(house.database, await house.account_id())
        )

    for chosen in ("trash", "keep", "hide"):
        saved = await person.send("/account/removed-posts", "/account", choice=chosen)
        assert saved.headers["location"] == "/account?said=preferences-saved#removed"
        assert await choice() == chosen
        assert f'<option value="{chosen}" selected>' in (await person.open("/account")).text
    await other.send("/account/removed-posts", "/account", choice="trash")
    assert await choice() == "hide"


async def test_how_posts_read_is_kept_in_the_browser_and_written_on_every_page(
    house: House,
) -> None:
    person = await house.owner()
    look = {"size": "large", "face": "sans", "width": "wide"}
    saved = await person.send("/account/reading", "/account", back="/p/1?from=/library", **look)
    assert saved.headers["location"] == "/p/1?from=%2Flibrary&said=preferences-saved"
    written = 'data-size="large" data-face="sans" data-width="wide">'
    assert written in (await person.open("/library")).text
    page = (await person.open("/account")).text
    assert '<input type="radio" name="size" value="large" checked>' in page
    [name] = [name for name, _ in person.client.cookies.items() if name.endswith("-look")]
    person.client.cookies.set(name, '"><b>', domain="localhost.local")
    assert "data-size" not in (await person.open("/library")).text


async def test_the_first_browser_says_which_time_zone_it_is(house: House) -> None:
    person = await house.owner()
    store, account_id = DigestStore(house.database), await house.account_id()
    assert "data-zone" in (await person.open("/account")).text
    await person.send("/account/time-zone", "/account", time_zone="Asia/Tokyo")
    assert (await store.preferences(account_id)).time_zone == "Asia/Tokyo"
    assert "data-zone" not in (await person.open("/account")).text
    # Another browser changes nothing, also if the account has chosen UTC.
    for chosen in ("Europe/Berlin", "UTC"):
        await person.send("/account/preferences", "/account", time_zone=chosen)
        await person.send("/account/time-zone", "/account", time_zone="Asia/Tokyo")
        assert (await store.preferences(account_id)).time_zone == chosen
