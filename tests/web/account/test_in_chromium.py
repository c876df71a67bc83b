"""Keys, account and activity in a real browser."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from playwright.sync_api import Page, expect

from tests.support import serving
from tests.support.serving import Server
from tests.web.accessibility import in_each_look, violations
from tests.web.chromium import Chromium
from tests.web.sessions import link, signed_in_state
from tests.web.sign_in.test_in_chromium import Watch

T = TypeVar("T")

PAGES = ("/keys", "/account", "/activity", "/account/delete", "/link/email", "/goodbye")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("account")) as running:
        running.run("account", "create", "me@example.com")
        running.run("device", "create", "me@example.com", "--name", "Firefox, laptop")
        yield running


def address(server: Server, path: str) -> str:
    return f"http://localhost:{server.port}{path}"


def signed_in(
    server: Server,
    chromium: Chromium,
    visit: Callable[[Page], T],
    email: str = "me@example.com",
    **context: Any,
) -> tuple[T, list[str]]:
    """Runs `visit` with a page of somebody who is signed in.

    Also returns what the browser complained about.
    """

    def enter(page: Page) -> tuple[T, list[str]]:
        watch = Watch(page, server)
        return visit(page), watch.problems

    return chromium.run(enter, storage_state=signed_in_state(server, email), **context)


def tab_to(page: Page, is_there: Callable[[], bool], most: int = 60) -> None:
    for _ in range(most):
        page.keyboard.press("Tab")
        if is_there():
            return
    raise AssertionError


def test_a_key_is_created_used_and_revoked(server: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/keys"))
        page.get_by_label("What is it for?").fill("Claude on the laptop")
        page.get_by_role("button", name="Create the key").click()
        expect(page.get_by_role("heading", name="Your new key")).to_be_visible()
        assert page.url == address(server, "/keys")
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

    assert signed_in(server, chromium, visit) == (None, [])


def test_a_key_is_revoked_without_javascript(server: Server, chromium: Chromium) -> None:
    server.run("key", "create", "me@example.com", "--name", "plain")

    def visit(page: Page) -> None:
        page.goto(address(server, "/keys"))
        row = page.get_by_role("row").filter(has_text="plain")
        row.get_by_text("Revoke plain").click()
        row.get_by_role("button", name="Revoke the key").click()
        page.wait_for_url("**/keys?said=key-revoked")
        expect(page.get_by_role("row").filter(has_text="plain")).to_have_count(0)

    assert signed_in(server, chromium, visit, java_script_enabled=False) == (None, [])


def test_the_keyboard_is_enough_to_create_and_revoke_a_key(
    server: Server, chromium: Chromium
) -> None:
    def visit(page: Page) -> None:
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

        page.goto(address(server, "/keys"))
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

    assert signed_in(server, chromium, visit) == (None, [])


def test_axe_finds_no_problem_and_the_browser_has_nothing_to_say(
    server: Server, chromium: Chromium
) -> None:
    def visit(page: Page) -> list[str]:
        found: list[str] = []
        for path in PAGES:
            page.goto(address(server, path))
            for look in in_each_look(page):
                found += [f"{path} {look} {violation}" for violation in violations(page)]
                wide = page.evaluate("document.documentElement.scrollWidth")
                found += [f"{path} is {wide} wide"] if wide > page.evaluate("innerWidth") else []
        return found

    found = signed_in(server, chromium, visit, bypass_csp=True, reduced_motion="reduce")

    assert found == ([], [])


def test_the_policy_of_the_pages_blocks_nothing(server: Server, chromium: Chromium) -> None:
    url = link(server)

    def visit(page: Page) -> list[str]:
        watch = Watch(page, server)
        page.goto(url)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/account?said=signed-in#methods")
        for path in PAGES:
            page.goto(address(server, path))
        return watch.problems

    assert chromium.run(visit) == []


def test_everything_is_downloaded_as_a_file(
    server: Server, chromium: Chromium, tmp_path: Path
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/account"))
        with page.expect_download() as started:
            page.get_by_role("button", name="Download").click()
        started.value.save_as(tmp_path / "all.json")
        assert started.value.suggested_filename.startswith("bowerbird-")

    signed_in(server, chromium, visit, accept_downloads=True)

    assert b'"email":"me@example.com"' in (tmp_path / "all.json").read_bytes()


def test_an_account_is_deleted_and_its_person_signed_out(
    server: Server, chromium: Chromium
) -> None:
    server.run("account", "create", "leaving@example.com")

    def visit(page: Page) -> None:
        page.goto(address(server, "/account"))
        page.get_by_role("link", name="Delete…").click()
        page.get_by_label("Type “leaving@example.com”").fill("leaving@example.com")
        page.get_by_role("button", name="Delete the account and its library").click()
        page.wait_for_url("**/goodbye")
        expect(page.get_by_role("heading", name="Your account is deleted")).to_be_visible()
        page.goto(address(server, "/account"))
        page.wait_for_url("**/sign-in?next=/account")

    assert signed_in(server, chromium, visit, "leaving@example.com") == (None, [])
