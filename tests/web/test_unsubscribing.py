"""The page that stops letters: one POST does it, a GET changes nothing."""

import pytest

from tests.support import digesting
from tests.support.digesting import MONDAY
from tests.support.service import Member, Service
from tests.support.smtp import mail_server

pytestmark = pytest.mark.anyio

ONE_CLICK = {"List-Unsubscribe": "One-Click"}


async def path_in_a_letter(member: Member) -> str:
    """The address that a letter to the member gives, without its origin."""
    await digesting.prefer(member, "2026-07-18T12:00:00+00:00", mail=True)
    await member.save(bookmarked_at="2026-07-14T12:00:00+00:00")
    await digesting.make(member, MONDAY, can_mail=True)
    async with mail_server() as server:
        await digesting.mail(member, server).send_due(member.account_id)
    address: str = server.letters[0]["List-Unsubscribe"].strip("<>")
    return address.removeprefix("https://birds.example.org")


async def is_mailed(member: Member) -> bool:
    mailed: bool = (await member.get("/v1/digests/preferences")).json()["data"]["mail"]
    return mailed


async def test_one_click_stops_the_letters_and_nothing_else(cast: Service) -> None:
    path = await path_in_a_letter(cast.alice)
    other = await path_in_a_letter(cast.bob)

    response = await cast.nobody.post(path, data=ONE_CLICK)

    assert response.status_code == 200
    assert "You are unsubscribed" in response.text
    assert path != other
    assert not await is_mailed(cast.alice)
    assert await is_mailed(cast.bob)
    assert (await digesting.shown(cast.alice))["digest_id"] == "weekly-2026-07-13"


async def test_it_may_be_done_twice(cast: Service) -> None:
    path = await path_in_a_letter(cast.alice)
    await cast.nobody.post(path, data=ONE_CLICK)

    assert (await cast.nobody.post(path, data=ONE_CLICK)).status_code == 200
    assert not await is_mailed(cast.alice)


async def test_looking_at_the_page_changes_nothing(cast: Service) -> None:
    path = await path_in_a_letter(cast.alice)

    page = await cast.nobody.get(path)
    head = await cast.nobody.head(path)

    assert (page.status_code, head.status_code) == (200, 200)
    assert '<form method="post">' in page.text
    assert await is_mailed(cast.alice)


async def test_the_address_stays_the_same_from_letter_to_letter(cast: Service) -> None:
    path = await path_in_a_letter(cast.alice)
    await digesting.make(cast.alice, "2026-07-27T08:00:00+00:00", can_mail=True)
    async with mail_server() as server:
        await digesting.mail(cast.alice, server).send_due(cast.alice.account_id)

    assert server.letters[0]["List-Unsubscribe"].endswith(f"{path}>")


async def test_no_other_text_stops_anything(cast: Service) -> None:
    path = await path_in_a_letter(cast.alice)
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
    assert await is_mailed(cast.alice)


async def test_an_account_that_had_no_letter_has_no_address(cast: Service) -> None:
    response = await cast.nobody.post(f"/unsubscribe/{cast.free.account_id:x}-None")

    assert response.status_code == 404


async def test_other_methods_are_refused(cast: Service) -> None:
    path = await path_in_a_letter(cast.alice)

    assert (await cast.nobody.delete(path)).status_code == 405
    assert await is_mailed(cast.alice)


async def test_the_page_is_kept_by_nobody_and_runs_nothing(cast: Service) -> None:
    page = await cast.nobody.get(await path_in_a_letter(cast.alice))

    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "script" not in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
