"""Providers, sign-up and invitations in a real browser, with a real OpenID provider."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import apsw
import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from bowerbird.clock import system_clock
from bowerbird.library.sign_in.invitations import Invitations
from bowerbird.storage.sqlite.database import FILE_NAME, SqliteDatabase
from tests.support import serving
from tests.support.github_standin import github_stand_in
from tests.support.openid_provider import CLIENT_ID, CLIENT_SECRET, openid_provider
from tests.support.serving import Server
from tests.web.accessibility import violations_in_each_look
from tests.web.chromium import Chromium
from tests.web.sign_in.test_in_chromium import plug_in

T = TypeVar("T")
_ADDRESSES = itertools.count(1)


@contextmanager
def running(folder: Path, sign_up: str) -> Iterator[Server]:
    port = serving.free_port()
    back = f"http://localhost:{port}/sign-in/oidc/return"
    with (
        openid_provider(back) as provider,
        github_stand_in() as github,
        serving.serving(
            folder,
            port=port,
            sign_up=sign_up,
            oidc_issuer=provider.issuer,
            oidc_client_id=CLIENT_ID,
            oidc_client_secret=CLIENT_SECRET,
            oidc_name="Example ID",
            github_url=github,
            github_client_id="Iv1.8a61f9b3",
            github_client_secret="secret",
        ) as server,
    ):
        yield server


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("open"), "open") as server:
        yield server


def address(server: Server, path: str) -> str:
    return f"http://localhost:{server.port}{path}"


def run(chromium: Chromium, visit: Callable[[Page], T], **context: Any) -> T:
    """Each browser comes from an address of its own, because attempts are limited by address."""
    headers = {"X-Forwarded-For": f"192.0.2.{next(_ADDRESSES)}"}
    return chromium.run(visit, extra_http_headers=headers, **context)


class Watch:
    """Messages of the browser, and requests to other hosts than the site and the providers."""

    def __init__(self, page: Page, server: Server) -> None:
        self.problems: list[str] = []
        settings = server.environment
        known = {
            f"localhost:{server.port}",
            urlsplit(settings["BOWERBIRD_OIDC_ISSUER"]).netloc,
            urlsplit(settings["BOWERBIRD_GITHUB_URL"]).netloc,
        }
        page.on("console", lambda message: self._note(message, f"localhost:{server.port}"))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self._check(request.url, known))

    def _note(self, message: ConsoleMessage, host: str) -> None:
        # The providers have no icon, which the browser complains about.
        if urlsplit(message.location["url"]).netloc == host:
            self.problems.append(message.text)

    def _check(self, url: str, known: set[str]) -> None:
        if urlsplit(url).netloc not in known:
            self.problems.append(url)


def sign_in_at_provider(page: Page, name: str) -> None:
    page.get_by_role("button", name="Continue with Example ID").click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Sign in").click()


def sign_up(page: Page, server: Server, name: str) -> None:
    page.goto(address(server, "/sign-up"))
    sign_in_at_provider(page, name)
    expect(page.get_by_role("heading", name="Create an account?")).to_be_visible()
    page.get_by_role("button", name="Create the account").click()
    page.wait_for_url("**/account?said=account-created#methods")


def sign_out(page: Page, server: Server) -> None:
    page.goto(address(server, "/account"))
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url(address(server, "/"))


def forget_proofs(server: Server) -> None:
    """As if everybody had signed in long ago."""
    with closing(apsw.Connection(str(server.folder / "data" / FILE_NAME))) as library:
        library.set_busy_timeout(30_000)
        library.execute("UPDATE web_session SET proved_at = 0")


def test_sign_up_sign_in_connect_and_disconnect(opened: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> list[str]:
        watch = Watch(page, opened)
        sign_up(page, opened, "alice")
        expect(page.get_by_text("alice@example.com").first).to_be_visible()
        # The only way in cannot be removed.
        expect(page.get_by_text("Disconnect Example ID")).to_have_count(0)

        sign_out(page, opened)
        page.goto(address(opened, "/account"))
        page.wait_for_url("**/sign-in?next=/account")
        # The provider remembers alice.
        page.get_by_role("button", name="Continue with Example ID").click()
        page.wait_for_url(address(opened, "/account"))

        page.get_by_role("button", name="Connect GitHub").click()
        page.wait_for_url("**/account?said=provider-connected#methods")
        expect(page.get_by_text("Octo Cat")).to_be_visible()

        page.locator("summary", has_text="Disconnect Example ID").click()
        page.get_by_role("button", name="Disconnect Example ID", exact=True).click()
        page.wait_for_url("**/account?said=provider-disconnected#methods")
        expect(page.locator("summary", has_text="Disconnect")).to_have_count(0)

        sign_out(page, opened)
        page.goto(address(opened, "/sign-in?next=/account"))
        page.get_by_role("button", name="Continue with GitHub").click()
        page.wait_for_url(address(opened, "/account"))
        expect(page.get_by_text("alice@example.com").first).to_be_visible()
        return watch.problems

    assert run(chromium, visit) == []


def test_the_provider_confirms_who_somebody_is(opened: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> list[str]:
        watch = Watch(page, opened)
        sign_up(page, opened, "berta")
        forget_proofs(opened)
        page.get_by_role("button", name="Connect GitHub").click()
        page.wait_for_url("**/reauthenticate?next=/account")

        # The provider remembers berta, and asks nevertheless.
        sign_in_at_provider(page, "berta")

        page.wait_for_url("**/account?said=confirmed")
        return watch.problems

    assert run(chromium, visit) == []


def test_somebody_else_at_the_provider_confirms_nothing(opened: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> None:
        sign_up(page, opened, "clara")
        forget_proofs(opened)
        page.goto(address(opened, "/reauthenticate?next=/account"))
        sign_in_at_provider(page, "dora")
        expect(page.get_by_role("heading", name="Not confirmed")).to_be_visible()

        page.get_by_role("link", name="Try again").click()
        page.wait_for_url("**/reauthenticate?next=/account")

    run(chromium, visit)


def test_cancelling_at_the_provider_leads_back(opened: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> None:
        page.goto(address(opened, "/sign-in"))
        page.get_by_role("button", name="Continue with Example ID").click()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("You cancelled the sign-in at Example ID.")).to_be_visible()

        page.get_by_role("main").get_by_role("link", name="Sign in").click()
        page.wait_for_url(address(opened, "/sign-in"))

    run(chromium, visit)


def test_a_passkey_creates_an_account(opened: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> list[str]:
        watch = Watch(page, opened)
        plug_in(page)
        page.goto(address(opened, "/sign-in"))
        page.get_by_role("link", name="Create an account").click()
        page.get_by_role("button", name="Create the account with a passkey").click()
        page.wait_for_url("**/account?said=account-created#methods")

        sign_out(page, opened)
        page.goto(address(opened, "/sign-in?next=/account"))
        page.get_by_role("button", name="Sign in with a passkey").click()
        page.wait_for_url(address(opened, "/account"))
        return watch.problems

    assert run(chromium, visit) == []


def test_going_back_from_the_provider_shows_the_sign_in_page(
    opened: Server, chromium: Chromium
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(opened, "/sign-in"))
        page.get_by_role("button", name="Continue with Example ID").click()
        expect(page.get_by_label("Name")).to_be_visible()

        page.go_back()

        expect(page.get_by_role("button", name="Continue with Example ID")).to_be_visible()

    run(chromium, visit)


def test_axe_finds_no_problem_on_the_pages_of_a_sign_up(opened: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> list[str]:
        found = []
        for path in ("/sign-in", "/sign-up"):
            page.goto(address(opened, path))
            expect(page.get_by_role("button", name="passkey")).to_be_visible()
            found += violations_in_each_look(page)
        sign_in_at_provider(page, "emma")
        expect(page.get_by_role("heading", name="Create an account?")).to_be_visible()
        return found + violations_in_each_look(page)

    found = run(chromium, visit, bypass_csp=True, reduced_motion="reduce")

    assert found == []


def test_an_invitation_from_the_link_to_the_account(tmp_path: Path, chromium: Chromium) -> None:
    async def invite(folder: Path) -> str:
        database = SqliteDatabase(folder)
        try:
            return await Invitations(database, system_clock).create("Fiona")
        finally:
            await database.close()

    def visit(page: Page, server: Server, token: str) -> list[str]:
        watch = Watch(page, server)
        page.goto(address(server, "/sign-in"))
        expect(page.get_by_text("New accounts need an invitation")).to_be_visible()
        page.goto(address(server, f"/link?invitation=yes#{token}"))
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading", name="Create an account")).to_be_visible()
        assert token not in page.url
        sign_in_at_provider(page, "fiona")
        page.get_by_role("button", name="Create the account").click()
        page.wait_for_url("**/account?said=account-created#methods")
        expect(page.get_by_text("fiona@example.com").first).to_be_visible()
        return watch.problems

    def used(page: Page, server: Server, token: str) -> None:
        page.goto(address(server, f"/link?invitation=yes#{token}"))
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading", name="This link is no longer valid")).to_be_visible()

    with running(tmp_path, "invite") as server:
        token = asyncio.run(invite(tmp_path / "data"))
        assert run(chromium, lambda page: visit(page, server, token)) == []
        run(chromium, lambda page: used(page, server, token))


def test_a_closed_service_creates_no_account(tmp_path: Path, chromium: Chromium) -> None:
    def visit(page: Page, server: Server) -> None:
        page.goto(address(server, "/sign-in"))
        expect(page.get_by_role("link", name="Create an account")).to_have_count(0)
        sign_in_at_provider(page, "grace")
        expect(page.get_by_text("This service accepts no new accounts.")).to_be_visible()

    with running(tmp_path, "closed") as server:
        run(chromium, lambda page: visit(page, server))
        assert "grace" not in server.run("account", "list")
