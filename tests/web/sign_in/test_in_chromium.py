"""Passkeys in a real browser with a virtual authenticator, from the owner's link on."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from bowerbird.settings import Settings
from bowerbird.web.templating import Templates
from tests.support import serving
from tests.support.serving import Server
from tests.support.visiting import form_token
from tests.web.accessibility import violations_in_each_look
from tests.web.chromium import Chromium
from tests.web.template_examples import EXAMPLES

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("passkeys")) as running:
        running.run("account", "create", "me@example.com")
        yield running


def address(server: Server, path: str) -> str:
    return f"http://localhost:{server.port}{path}"


def link(server: Server) -> str:
    """A link for the account, as the command line prints it."""
    printed = server.run("account", "link", "me@example.com")
    [url] = [word for word in printed.split() if "/link#" in word]
    return url


def plug_in(page: Page) -> None:
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})


def show_account(page: Page, server: Server) -> None:
    """Shows the form for passkeys at /account, with a token for the visitor's session."""
    templates = Templates(Settings(port=server.port), has_sandbox=True)

    def show(route: Route) -> None:
        shown = page.request.get(address(server, "/link")).text()
        _, values = EXAMPLES["account"]
        html = templates.render("account.html", **(values | {"csrf": form_token(shown)}))
        route.fulfill(body=html, content_type="text/html")

    page.route(re.compile(r"/account(\?.*)?$"), show)


class Watch:
    """Messages of the browser, and requests that leave the site."""

    def __init__(self, page: Page, server: Server) -> None:
        self.problems: list[str] = []
        host = f"localhost:{server.port}"
        page.on("console", lambda message: self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self._check(request.url, host))

    def _check(self, url: str, host: str) -> None:
        if urlsplit(url).netloc != host:
            self.problems.append(url)


def test_link_then_passkey_then_sign_out_then_passkey(server: Server, chromium: Chromium) -> None:
    url = link(server)

    def visit(page: Page) -> list[str]:
        plug_in(page)
        show_account(page, server)
        page.goto(url)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/account?said=signed-in#methods")

        page.goto(address(server, "/account"))
        page.get_by_label("Name of the new passkey").fill("Laptop")
        page.get_by_role("button", name="Add a passkey").click()
        page.wait_for_url("**/account?said=passkey-added#methods")

        page.goto(address(server, "/account"))
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.wait_for_url(address(server, "/"))
        watch = Watch(page, server)
        page.goto(address(server, "/sign-in?next=/keys"))
        page.get_by_role("button", name="Sign in with a passkey").click()
        page.wait_for_url(address(server, "/keys"))
        # Somebody who is signed in goes on at once.
        page.goto(address(server, "/sign-in?next=/keys"))
        expect(page).to_have_url(address(server, "/keys"))
        return watch.problems

    assert chromium.run(visit) == []


def test_a_browser_without_the_passkey_says_so(server: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> list[str]:
        watch = Watch(page, server)
        plug_in(page)
        page.goto(address(server, "/sign-in"))
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page.get_by_role("alert")).to_contain_text("The browser used no passkey")
        return watch.problems

    assert chromium.run(visit) == []


def test_the_keyboard_is_enough_to_sign_in(server: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> None:
        plug_in(page)
        page.goto(address(server, "/sign-in"))
        button = page.get_by_role("button", name="Sign in with a passkey")
        for _ in range(20):
            page.keyboard.press("Tab")
            if button.evaluate("button => button === document.activeElement"):
                break
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_be_visible()
        expect(button).to_be_focused()

    chromium.run(visit)


def test_axe_finds_no_problem_on_the_sign_in_page(server: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> list[str]:
        page.goto(address(server, "/sign-in"))
        expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_visible()
        return violations_in_each_look(page)

    found = chromium.run(visit, bypass_csp=True, reduced_motion="reduce")

    assert found == []
