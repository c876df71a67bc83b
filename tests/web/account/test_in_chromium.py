"""Keys, account and activity in a real browser."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.support.serving import Server

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
