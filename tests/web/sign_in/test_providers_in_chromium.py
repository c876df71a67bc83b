"""Providers, sign-up and invitations in a real browser, with a real OpenID provider."""

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from playwright.sync_api import Page, expect

from bowerbird.clock import system_clock
from bowerbird.library.sign_in.one_time_links import Invitations
from bowerbird.storage.sqlite.database import FILE_NAME, SqliteDatabase
from tests.support import serving
from tests.support.github_standin import github_stand_in
from tests.support.openid_provider import CLIENT_ID, CLIENT_SECRET, openid_provider
from tests.support.serving import Server
from tests.web.sign_in.test_in_chromium import plug_in

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


@pytest.fixture(scope="module", params=["open"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("providers"), request.param) as server:
        yield server


@pytest.fixture
def options(server: Server) -> dict[str, Any]:
    """Each browser comes from an address of its own, because attempts are limited by address."""
    headers = {"X-Forwarded-For": f"192.0.2.{next(_ADDRESSES)}"}
    return {"base_url": f"http://localhost:{server.port}", "extra_http_headers": headers}


def sign_in_at_provider(page: Page, name: str) -> None:
    page.get_by_role("button", name="Continue with Example ID").click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Sign in").click()


def sign_up(page: Page, name: str) -> None:
    page.goto("/sign-up")
    sign_in_at_provider(page, name)
    expect(page.get_by_role("heading", name="Create an account?")).to_be_visible()
    page.get_by_role("button", name="Create the account").click()
    page.wait_for_url("**/welcome?said=account-created")


def sign_out(page: Page) -> None:
    page.goto("/account")
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url("/")


def forget_proofs(server: Server) -> None:
    """As if everybody had signed in long ago."""
    with closing(apsw.Connection(str(server.folder / "data" / FILE_NAME))) as library:
        library.set_busy_timeout(30_000)
        library.execute("UPDATE web_session SET proved_at = 0")


def test_sign_up_sign_in_connect_and_disconnect(page: Page) -> None:
    sign_up(page, "alice")
    expect(page.get_by_text("alice@example.com").first).to_be_visible()
    # The only way in cannot be removed.
    expect(page.get_by_text("Disconnect Example ID")).to_have_count(0)

    sign_out(page)
    page.goto("/account")
    page.wait_for_url("**/sign-in?next=/account")
    # The provider remembers alice.
    page.get_by_role("button", name="Continue with Example ID").click()
    page.wait_for_url("/account")

    page.get_by_role("button", name="Connect GitHub").click()
    page.wait_for_url("**/account?said=provider-connected#methods")
    expect(page.get_by_text("Octo Cat")).to_be_visible()

    page.locator("summary", has_text="Disconnect Example ID").click()
    page.get_by_role("button", name="Disconnect Example ID", exact=True).click()
    page.wait_for_url("**/account?said=provider-disconnected#methods")
    expect(page.locator("summary", has_text="Disconnect")).to_have_count(0)

    sign_out(page)
    page.goto("/sign-in?next=/account")
    page.get_by_role("button", name="Continue with GitHub").click()
    page.wait_for_url("/account")
    expect(page.get_by_text("alice@example.com").first).to_be_visible()


def test_the_provider_confirms_who_somebody_is(page: Page, server: Server) -> None:
    sign_up(page, "berta")
    page.goto("/account")
    forget_proofs(server)
    page.get_by_role("button", name="Connect GitHub").click()
    page.wait_for_url("**/reauthenticate?next=/account")

    # The provider remembers berta, and asks nevertheless.
    sign_in_at_provider(page, "berta")

    page.wait_for_url("**/account?said=confirmed")


def test_a_passkey_creates_an_account(page: Page) -> None:
    plug_in(page)
    page.goto("/sign-in")
    page.get_by_role("link", name="Create an account").click()
    page.get_by_role("button", name="Create the account with a passkey").click()
    page.wait_for_url("**/welcome?said=account-created")

    sign_out(page)
    page.goto("/sign-in?next=/account")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url("/account")


def test_going_back_from_the_provider_shows_the_sign_in_page(page: Page) -> None:
    page.goto("/sign-in")
    page.get_by_role("button", name="Continue with Example ID").click()
    expect(page.get_by_label("Name")).to_be_visible()

    page.go_back()

    expect(page.get_by_role("button", name="Continue with Example ID")).to_be_visible()


@pytest.fixture
def token(server: Server) -> str:
    """An invitation of the operator."""

    async def invite() -> str:
        database = SqliteDatabase(server.folder / "data")
        try:
            return await Invitations(database, system_clock).create("Fiona")
        finally:
            await database.close()

    return asyncio.run(invite())


@pytest.mark.parametrize("server", ["invite"], indirect=True)
def test_an_invitation_from_the_link_to_the_account(page: Page, token: str) -> None:
    page.goto("/sign-in")
    expect(page.get_by_text("New accounts need an invitation")).to_be_visible()
    page.goto(f"/link?invitation=yes#{token}")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Create an account")).to_be_visible()
    assert token not in page.url
    sign_in_at_provider(page, "fiona")
    page.get_by_role("button", name="Create the account").click()
    page.wait_for_url("**/welcome?said=account-created")
    expect(page.get_by_text("fiona@example.com").first).to_be_visible()
