"""Keys, account and activity in a real browser."""

from collections.abc import Callable

from playwright.sync_api import Page, expect


def tab_to(page: Page, is_there: Callable[[], bool], most: int = 60) -> None:
    for _ in range(most):
        page.keyboard.press("Tab")
        if is_there():
            return
    raise AssertionError


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
