"""Connecting an extension in a real browser."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.support import serving
from tests.support.serving import Server
from tests.web.accessibility import violations
from tests.web.account.test_in_chromium import address
from tests.web.chromium import Chromium, follow
from tests.web.sign_in.test_in_chromium import Watch

LINK = re.compile(r"http://localhost:\d+/#[0-9A-Z]{4}-[0-9A-Z]{4}")


def test_an_extension_is_connected_and_disconnected(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> tuple[list[str], list[str]]:
        watch = Watch(page, server)
        page.goto(address(server, "/keys"))
        follow(page, page.get_by_role("link", name="Connect an extension"))
        found = violations(page)
        page.get_by_role("button", name="Create a connection link").click()
        link = page.locator(".secret code").inner_text()
        assert LINK.fullmatch(link)
        page.get_by_role("button", name="Copy the link").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("() => navigator.clipboard.readText()") == link
        found += violations(page)
        problems = list(watch.problems)

        site, _, code = link.partition("/#")
        sent = {"code": code, "name": "<b>Chromium</b> on Linux"}
        answer = serving.http.post(f"{site}/connect/redeem", json=sent)
        assert answer.status_code == 200
        assert answer.json()["data"]["token"].startswith("dev_")

        page.get_by_role("link", name="See connected extensions").click()
        row = page.get_by_role("row").filter(has_text="<b>Chromium</b> on Linux")
        expect(row).to_contain_text("none yet")
        row.get_by_text("Disconnect").first.click()
        page.get_by_role("button", name="Disconnect the extension").click()
        expect(page.get_by_role("status")).to_contain_text("The extension is disconnected.")
        return found, problems

    permissions = ["clipboard-read", "clipboard-write"]
    found = chromium.run(visit, storage_state=state, permissions=permissions)
    assert found == ([], [])


def test_the_link_is_created_without_javascript(
    server: Server, chromium: Chromium, state: Any
) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/connect"))
        page.get_by_role("button", name="Create a connection link").click()
        assert LINK.fullmatch(page.locator(".secret code").inner_text())
        expect(page.get_by_role("button", name="Copy the link")).to_have_count(0)

    chromium.run(visit, storage_state=state, java_script_enabled=False)
