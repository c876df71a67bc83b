"""Passkeys in a real browser with a virtual authenticator, from the owner's link on."""

import itertools
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.serving import Server
from tests.web.sessions import address, link

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


_NUMBERS = itertools.count(1)


@pytest.fixture
def url(server: Server) -> str:
    """A link for an account, as the command line prints it."""
    email = f"passkey-{next(_NUMBERS)}@example.com"
    server.run("account", "create", email)
    return link(server, email)


@pytest.fixture(scope="module")
def options(server: Server) -> dict[str, Any]:
    """A stranger, who has no cookies."""
    return {"base_url": address(server, "")}


def plug_in(page: Page) -> None:
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})


def test_passkey_then_sign_out_then_passkey(page: Page, url: str) -> None:
    plug_in(page)
    page.goto(url)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/welcome?said=signed-in")
    page.get_by_role("button", name="Add a passkey").click()
    page.wait_for_url("**/welcome?step=posts")
    expect(page.get_by_role("heading", name="With the extension")).to_be_visible()
    page.goto("/account")
    page.get_by_label("Name of the new passkey").fill("Laptop")
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url("/")
    page.goto("/sign-in?next=/keys")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url("/keys")
    # Somebody who is signed in goes on at once.
    page.goto("/sign-in?next=/keys")
    expect(page).to_have_url("/keys")


def test_a_browser_without_the_passkey_says_so(page: Page) -> None:
    plug_in(page)
    page.goto("/sign-in")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("The browser used no passkey")


def test_the_keyboard_is_enough_to_sign_in(page: Page) -> None:
    plug_in(page)
    page.goto("/sign-in")
    button = page.get_by_role("button", name="Sign in with a passkey")
    for _ in range(20):
        page.keyboard.press("Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(button).to_be_focused()


@pytest.mark.browser.with_args(may_complain=True)
def test_going_back_to_a_confirmed_link_sends_no_form_again(page: Page, url: str) -> None:
    """Before it shows the answer to a form again, a browser asks to send the form again."""
    for _ in range(2):
        page.goto(url)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_load_state()
    expect(page.get_by_role("heading", name="no longer valid")).to_be_visible()
    page.goto("/library")

    page.go_back()

    page.wait_for_url("**/welcome")
