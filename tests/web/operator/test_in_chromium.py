"""The operator's page in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support import serving
from tests.support.serving import Server
from tests.web.accessibility import violations_in_each_look
from tests.web.chromium import for_axe


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("operator")
    with serving.serving(folder, sign_up="invite") as running:
        yield running


@pytest.fixture(scope="module")
def email(server: Server) -> str:
    """The first account is the owner's."""
    server.run("account", "create", "me@example.com")
    server.run("account", "create", "ann@example.com", "--plan", "free")
    return "me@example.com"


@for_axe
def test_axe_finds_no_problem_with_all_checks(page: Page) -> None:
    page.goto("/operator?checks=all")
    expect(page.get_by_role("row", name="Permissions")).to_be_visible()
    assert violations_in_each_look(page) == []


def test_the_owner_changes_a_plan_invites_somebody_and_withdraws_it(
    page: Page, server: Server
) -> None:
    page.goto("/account")
    page.get_by_role("link", name="Operator").first.click()
    page.get_by_label("Plan of ann@example.com").select_option("pro")
    page.get_by_role("button", name="Change the plan of ann@example.com").click()
    expect(page.get_by_role("status")).to_contain_text("The plan is changed.")
    expect(page.get_by_label("Plan of ann@example.com")).to_have_value("pro")

    page.get_by_label("For whom").fill("Ines")
    page.get_by_role("button", name="Create an invitation").click()
    expect(page.get_by_text(f"localhost:{server.port}/link?invitation=yes#")).to_be_visible()
    expect(page.get_by_role("button", name="Copy the link")).to_be_visible()
    page.goto("/operator")
    expect(page.get_by_text("/link?invitation=yes#")).to_have_count(0)

    page.get_by_text("Withdraw Ines").click()
    page.get_by_role("button", name="Withdraw the invitation").click()
    expect(page.get_by_role("status")).to_contain_text("The invitation is withdrawn.")


def test_accounts_are_searched_with_the_keyboard(page: Page) -> None:
    page.goto("/operator")
    page.get_by_label("Address starts with").fill("ann")
    page.get_by_label("Address starts with").press("Enter")
    accounts = page.get_by_role("table", name="Accounts")
    expect(accounts.get_by_role("rowheader")).to_have_text(["ann@example.com"])
