"""Keys, account and activity in a real browser."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.serving import Server
from tests.web.accessibility import violations_in_each_look
from tests.web.chromium import for_axe

PAGES = (
    *("/keys", "/account", "/activity", "/account/delete", "/link/email", "/goodbye"),
    "/webhooks",
)


def tab_to(page: Page, is_there: Callable[[], bool], most: int = 60) -> None:
    for _ in range(most):
        page.keyboard.press("Tab")
        if is_there():
            return
    raise AssertionError


def test_a_key_is_created_used_and_revoked(page: Page, server: Server) -> None:
    page.goto("/keys")
    page.get_by_label("What is it for?").fill("Claude on the laptop")
    page.get_by_role("button", name="Create the key").click()
    expect(page.get_by_role("heading", name="Your new key")).to_be_visible()
    expect(page).to_have_url("/keys")
    key = page.locator(".secret code").inner_text()
    assert server.get("/v1/bookmarks", key).status_code == 200
    page.get_by_role("tab", name="Python").click()
    expect(page.get_by_role("group", name="Python")).to_contain_text(key)

    page.get_by_role("link", name="I have copied it").click()
    expect(page.get_by_role("rowheader", name="Claude on the laptop")).to_be_visible()
    assert key not in page.content()
    page.get_by_text("Revoke Claude on the laptop").click()
    page.get_by_role("button", name="Revoke the key").click()
    page.wait_for_url("**/keys?said=key-revoked")
    expect(page.get_by_role("status")).to_contain_text("The key is revoked.")
    assert server.get("/v1/bookmarks", key).status_code == 401


@pytest.mark.browser(java_script_enabled=False)
def test_a_key_is_created_and_revoked_without_javascript(page: Page) -> None:
    page.goto("/keys")
    page.get_by_label("What is it for?").fill("plain")
    page.get_by_role("button", name="Create the key").click()
    page.goto("/keys")
    row = page.get_by_role("row").filter(has_text="plain")
    row.get_by_text("Revoke plain").click()
    row.get_by_role("button", name="Revoke the key").click()
    page.wait_for_url("**/keys?said=key-revoked")
    expect(page.get_by_role("row").filter(has_text="plain")).to_have_count(0)


def test_a_webhook_is_added_paused_and_removed(page: Page) -> None:
    page.goto("/webhooks")
    page.get_by_role("textbox", name="Address").fill("https://hooks.example.com/b")
    page.get_by_label("Only with this label").fill("Birds")
    page.get_by_role("button", name="Add and show the secret").click()
    assert page.locator(".secret code").inner_text().startswith("whsec_")

    page.goto("/webhooks")
    assert "whsec_" not in page.content()
    hook = page.locator("article").filter(has_text="https://hooks.example.com/b")
    expect(hook).to_contain_text("Only with the label Birds.")
    hook.get_by_role("button", name="Pause").click()
    page.wait_for_url("**/webhooks?said=webhook-paused")
    expect(hook.get_by_role("button", name="Resume")).to_be_visible()
    hook.get_by_text("Remove https://hooks.example.com/b").click()
    hook.get_by_role("button", name="Remove the webhook").click()
    page.wait_for_url("**/webhooks?said=webhook-removed")
    expect(hook).to_have_count(0)


def test_the_keyboard_is_enough_to_create_and_revoke_a_key(page: Page) -> None:
    def focused(text: str) -> Callable[[], bool]:
        return lambda: (
            text
            in page.evaluate(
                """() => {
              const element = document.activeElement;
              return element === document.body ? "" : element.innerText || element.name || "";
            }"""
            )
        )

    page.goto("/keys")
    tab_to(page, focused("name"))
    page.keyboard.type("by keyboard")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your new key")).to_be_visible()
    # The script of the questions comes last.
    page.wait_for_load_state()
    tab_to(page, focused("Revoke it"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Revoke this key?")).to_be_visible()
    tab_to(page, focused("Revoke the key"), 5)
    page.keyboard.press("Enter")
    page.wait_for_url("**/keys?said=key-revoked")


@for_axe
def test_axe_finds_no_problem(page: Page) -> None:
    for path in PAGES:
        page.goto(path)
        assert violations_in_each_look(page) == []


def test_the_policy_of_the_pages_blocks_nothing(page: Page) -> None:
    for path in PAGES:
        page.goto(path)


@pytest.mark.browser(accept_downloads=True)
def test_everything_is_downloaded_as_a_file(page: Page, email: str, tmp_path: Path) -> None:
    page.goto("/account")
    with page.expect_download() as started:
        page.get_by_role("button", name="Download").click()
    started.value.save_as(tmp_path / "all.json")
    assert started.value.suggested_filename.startswith("bowerbird-")
    assert f'"email":"{email}"'.encode() in (tmp_path / "all.json").read_bytes()


@pytest.mark.browser(email="leaving@example.com")
def test_an_account_is_deleted_and_its_person_signed_out(page: Page) -> None:
    page.goto("/account")
    page.get_by_role("link", name="Delete…").click()
    page.get_by_label("Type “leaving@example.com”").fill("leaving@example.com")
    page.get_by_role("button", name="Delete the account and its library").click()
    page.wait_for_url("**/goodbye")
    expect(page.get_by_role("heading", name="Your account is deleted")).to_be_visible()
    page.goto("/account")
    page.wait_for_url("**/sign-in?next=/account")
