"""The unsubscribe page: one POST stops the emails, a GET changes nothing."""

import pytest

from tests.support import digesting
from tests.support.digesting import MONDAY
from tests.support.hosts.smtp import mail_server
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

ONE_CLICK = {"List-Unsubscribe": "One-Click"}


async def unsubscribe_path(member: Member) -> str:
    """The path of the unsubscribe link in an email to the member."""
    await digesting.prefer(member, "2026-07-18T12:00:00+00:00", mail=True)
    await member.save(bookmarked_at="2026-07-14T12:00:00+00:00")
    await digesting.make(member, MONDAY, can_mail=True)
    async with mail_server() as server:
        await digesting.mail(member, server).send_due(member.account_id)
    url: str = server.letters[0]["List-Unsubscribe"].strip("<>")
    return url.removeprefix("https://birds.example.org")


async def gets_emails(member: Member) -> bool:
    preference: bool = (await member.get("/v1/digests/preferences")).json()["data"]["mail"]
    return preference


async def test_one_post_stops_the_emails_but_not_the_digests(cast: Service) -> None:
    path = await unsubscribe_path(cast.alice)
    other = await unsubscribe_path(cast.bob)

    response = await cast.nobody.post(path, data=ONE_CLICK)

    assert response.status_code == 200
    assert "You are unsubscribed" in response.text
    assert path != other
    assert not await gets_emails(cast.alice)
    assert await gets_emails(cast.bob)
    assert (await digesting.shown(cast.alice))["digest_id"] == "weekly-2026-07-13"


async def test_unsubscribing_twice_succeeds(cast: Service) -> None:
    path = await unsubscribe_path(cast.alice)
    await cast.nobody.post(path, data=ONE_CLICK)

    assert (await cast.nobody.post(path, data=ONE_CLICK)).status_code == 200
    assert not await gets_emails(cast.alice)


async def test_opening_the_page_changes_nothing(cast: Service) -> None:
    path = await unsubscribe_path(cast.alice)

    page = await cast.nobody.get(path)
    head = await cast.nobody.head(path)

    assert (page.status_code, head.status_code) == (200, 200)
    assert '<form method="post">' in page.text
    assert await gets_emails(cast.alice)


async def test_an_invalid_token_is_not_found(cast: Service) -> None:
    path = await unsubscribe_path(cast.alice)
    account, _, secret = path.rpartition("/")[2].partition("-")
    bobs = f"{cast.bob.account_id:x}"

    for token in (
        f"{account}-{'0' * 32}",
        f"{account}-{secret[:-1]}",
        f"{account}-{secret.upper()}X",
        f"{bobs}-{secret}",
        f"ffffffffffffffff-{secret}",
        f"0-{secret}",
        "None",
        "%00",
        "x" * 5000,
    ):
        response = await cast.nobody.post(f"/unsubscribe/{token}", data=ONE_CLICK)
        assert response.status_code == 404, token
    assert await gets_emails(cast.alice)


async def test_an_account_that_never_got_an_email_has_no_link(cast: Service) -> None:
    response = await cast.nobody.post(f"/unsubscribe/{cast.free.account_id:x}-None")

    assert response.status_code == 404


async def test_the_page_is_not_cached_and_has_no_scripts(cast: Service) -> None:
    page = await cast.nobody.get(await unsubscribe_path(cast.alice))

    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "script" not in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
