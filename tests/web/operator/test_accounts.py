"""Accounts and plans on the operator's page."""

import itertools
import re

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.access.activity import Activity
from bowerbird.model.accounts import ActivityKind
from tests.web.sign_in.conftest import House

pytestmark = [pytest.mark.anyio, pytest.mark.both]

CHANGES = (
    "/operator/plan",
    "/operator/invitations",
    "/operator/invitations/withdraw",
    "/operator/jobs/retry",
    "/operator/jobs/cancel",
)


def listed(page: str) -> list[str]:
    """The addresses in the table of accounts."""
    section = page.partition('id="accounts"')[2].partition("</section>")[0]
    return re.findall(r'<th scope="row"><bdi>([^<]+)</bdi>', section)


async def test_the_owner_sees_accounts_the_newest_first(house: House) -> None:
    owner = await house.owner()
    for name in ("ann", "ben"):
        house.clock.now += 1 * MICROSECONDS
        await house.accounts.create(f"{name}@example.com", "free")

    page = await owner.open("/operator")

    assert page.status_code == 200
    assert listed(page.text) == ["ben@example.com", "ann@example.com", "owner@example.com"]
    assert "3 accounts" in page.text
    assert page.headers["cache-control"] == "no-store"


async def test_others_do_not_learn_that_there_is_a_page(house: House) -> None:
    await house.owner()
    member = await house.member("ann@example.com")
    account = (await member.open("/account")).text

    assert (await member.open("/operator")).status_code == 404
    assert 'href="/operator"' not in account
    for path in CHANGES:
        refused = await member.send(path, "/account", account="1", plan="pro", note="x")
        assert refused.status_code == 404, path


async def test_a_stranger_is_asked_to_sign_in(house: House) -> None:
    await house.owner()
    stranger = house.somebody()

    sent = await stranger.client.get("/operator")

    assert sent.status_code == 303
    assert sent.headers["location"] == "/sign-in?next=/operator"


async def test_a_former_owner_no_longer_sees_the_page(house: House) -> None:
    former = await house.owner()
    await house.member("ann@example.com")

    await house.accounts.set_owner("ann@example.com")

    assert (await former.open("/operator")).status_code == 404


async def test_changing_a_plan_is_in_the_activity_of_the_account(house: House) -> None:
    owner = await house.owner()
    account_id = await house.accounts.create("ann@example.com", "free")

    changed = await owner.send("/operator/plan", "/operator", account=account_id, plan="pro")

    assert changed.headers["location"] == "/operator?said=plan-changed#accounts"
    assert (await house.accounts.find("ann@example.com")).plan == "pro"
    [entry] = [
        each
        for each in await Activity(house.database, house.clock).page(account_id)
        if each.kind is ActivityKind.PLAN_CHANGED
    ]
    assert (entry.detail, entry.address) == ("pro", "192.0.2.7")


@pytest.mark.parametrize(
    ("account", "plan", "status"),
    [("1", "pro", 404), ("x", "pro", 400), ("9" * 40, "pro", 400), ("", "pro", 400)],
)
async def test_an_unknown_account_is_refused(
    house: House, account: str, plan: str, status: int
) -> None:
    owner = await house.owner()

    refused = await owner.send("/operator/plan", "/operator", account=account, plan=plan)

    assert refused.status_code == status


async def test_an_unknown_plan_is_refused(house: House) -> None:
    owner = await house.owner()
    account_id = (await house.accounts.find("owner@example.com")).account_id

    refused = await owner.send("/operator/plan", "/operator", account=account_id, plan="gold")

    assert refused.status_code == 400
    assert "Unknown plan" in refused.text
    assert (await house.accounts.find("owner@example.com")).plan == "pro"


async def test_accounts_come_in_pages_that_contain_each_once(house: House) -> None:
    owner = await house.owner()
    expected = ["owner@example.com"]
    for number in range(44):
        # Some are created at the same instant.
        house.clock.now += (number % 2) * MICROSECONDS
        expected.append(f"n{number:02d}@example.com")
        await house.accounts.create(expected[-1])

    found, path = [], "/operator"
    for _ in range(3):
        page = (await owner.open(path)).text
        found.append(listed(page))
        older = re.search(r'href="(/operator\?accounts=[^"#]+)', page)
        path = older[1] if older else ""

    assert [len(page) for page in found] == [20, 20, 5]
    assert path == ""
    assert sorted(itertools.chain(*found)) == sorted(expected)


async def test_accounts_are_found_by_the_start_of_their_address(house: House) -> None:
    owner = await house.owner()
    for email in ("Ann@example.com", "anna@example.org", "hannah@example.com", "ä@example.com"):
        await house.accounts.create(email)

    assert listed((await owner.open("/operator?search=ANN")).text) == [
        "Ann@example.com",
        "anna@example.org",
    ]
    assert listed((await owner.open("/operator?search=%C3%84")).text) == ["ä@example.com"]
    none = (await owner.open("/operator?search=%25")).text
    assert listed(none) == []
    assert "No address starts with" in none


async def test_a_search_shows_at_most_one_page(house: House) -> None:
    owner = await house.owner()
    for number in range(21):
        await house.accounts.create(f"n{number:02d}@example.com")

    page = (await owner.open("/operator?search=n")).text

    assert len(listed(page)) == 20
    assert "Only the first 20 are shown." in page


async def test_addresses_and_searches_are_never_markup(house: House) -> None:
    owner = await house.owner()
    await house.accounts.create("x&b'y@example.com")

    found = (await owner.open("/operator?search=x%26b")).text
    searched = (await owner.open("/operator?search=%3Cb%3Ex")).text

    assert listed(found) == ["x&amp;b&#39;y@example.com"]
    assert "<b>x" not in searched
    assert listed(searched) == []


@pytest.mark.parametrize("query", ["accounts=x", "accounts=1-x", "jobs=-", "stores=1-zz"])
async def test_an_unknown_page_of_a_list_is_refused(house: House, query: str) -> None:
    owner = await house.owner()

    assert (await owner.open(f"/operator?{query}")).status_code == 400
