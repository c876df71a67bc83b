"""The choice of what happens to posts that are removed at X, on the account page."""

import pytest

from bowerbird.storage.accounts.accounts import AccountStore
from tests.web.sign_in.conftest import House

pytestmark = pytest.mark.anyio
EMAIL = "owner@example.com"


async def choice_of(house: House) -> str:
    account = await house.accounts.find(EMAIL)
    return await AccountStore(house.database).removed_posts(house.database, account.account_id)


async def test_the_page_shows_what_was_chosen_at_the_command_line(house: House) -> None:
    person = await house.owner()
    assert '<option value="keep" selected>' in (await person.open("/account")).text

    await house.accounts.set_removed_posts(EMAIL, "trash")

    assert '<option value="trash" selected>' in (await person.open("/account")).text


@pytest.mark.parametrize("choice", ["hide", "trash", "keep"])
async def test_the_choice_is_saved(house: House, choice: str) -> None:
    person = await house.owner()
    await house.accounts.set_removed_posts(EMAIL, "trash" if choice == "keep" else "keep")

    saved = await person.send("/account/removed-posts", "/account", choice=choice)

    assert saved.headers["location"] == "/account?said=preferences-saved#removed"
    assert await choice_of(house) == choice


@pytest.mark.parametrize("fields", [{"choice": "delete"}, {"choice": ""}, {}])
async def test_another_choice_is_refused_and_changes_nothing(
    house: House, fields: dict[str, str]
) -> None:
    person = await house.owner()
    await house.accounts.set_removed_posts(EMAIL, "hide")

    refused = await person.send("/account/removed-posts", "/account", **fields)

    assert refused.status_code == 400
    assert "Choose keep, hide or trash." in refused.text
    assert await choice_of(house) == "hide"


async def test_one_account_does_not_choose_for_another(house: House) -> None:
    await house.owner()
    other = await house.member("other@example.com", "pro")

    await other.send("/account/removed-posts", "/account", choice="trash")

    assert await choice_of(house) == "keep"
