"""Providers and sign-up in a real browser, with a real OpenID provider."""

import itertools
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import apsw
import pytest
from playwright.sync_api import Page, expect

from bowerbird.storage.sqlite.database import FILE_NAME
from tests.support import serving
from tests.support.hosts.github_standin import github_stand_in
from tests.support.hosts.openid_provider import CLIENT_ID, CLIENT_SECRET, openid_provider
from tests.support.serving import Server

_ADDRESSES = itertools.count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    port = serving.free_port()
    with (
        openid_provider(f"http://localhost:{port}/sign-in/oidc/return") as provider,
        github_stand_in() as github,
        serving.serving(
            tmp_path_factory.mktemp("providers"),
            port=port,
            sign_up="open",
            oidc_issuer=provider.issuer,
            oidc_client_id=CLIENT_ID,
            oidc_client_secret=CLIENT_SECRET,
            oidc_name="Example ID",
            github_url=github,
            github_client_id="Iv1.8a61f9b3",
            github_client_secret="secret",
        ) as running,
    ):
        yield running


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
