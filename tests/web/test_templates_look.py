"""Every page in each of its states in a real browser: accessibility, policy, width, scripts."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, ViewportSize, expect

from bowerbird.web import templating
from tests.support.programs.once import made_once
from tests.web import every_page, rule_and_share_pages
from tests.web.accessibility import (
    CONTRAST,
    SMALL,
    TARGETS,
    TARGETS_WITHOUT_CONTRAST,
    prepare,
    violations,
)
from tests.web.chromium import is_too_wide, wait_until
from tests.web.rule_and_share_pages import Album

# Not pages: what pages are made of, and pages that other tests open.
PARTS = {
    *("skeleton", "base", "door", "app", "macros", "icons", "upgrade", "digest_settings"),
    *("library_frame", "library_search", "library_rows"),
    *("shared_content", "suggested_labels"),
    "pictures",
    *("reading_form", "daily"),
    *("library_acts", "library_cells", "library_dates", "library_panel"),
}
SMALL_PHONE: ViewportSize = {"width": 360, "height": 800}
# A window of 1280 at 200 %.
ENLARGED: ViewportSize = {"width": 640, "height": 430}
PHONE: ViewportSize = {"width": 390, "height": 844}
FAILURES = every_page.FAILURES
DESKTOP: ViewportSize = {"width": 1280, "height": 860}


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Album:
    return made_once(tmp_path_factory.getbasetemp(), "every-page", every_page.pages)


@pytest.fixture(scope="module")
def site(album: Album) -> Iterator[str]:
    with every_page.served(album) as url:
        yield url


@pytest.fixture(scope="module")
def options() -> dict[str, Any]:
    return {}


def test_every_template_of_a_page_is_among_them(album: Album) -> None:
    folder = Path(templating.__file__).parent / "templates"
    templates = {path.stem for path in folder.rglob("*.html") if path.parent.name != "docs"} - PARTS

    assert templates
    assert {name.partition("-")[0] for name in (*album, *FAILURES)} == templates


# In parts, so that several test processes share the work.
@pytest.mark.parametrize("part", range(6))
@pytest.mark.browser(reduced_motion="reduce", may_complain=True)
def test_axe_finds_no_problem_nothing_is_blocked_and_no_page_is_wider_than_its_window(
    page: Page, album: Album, site: str, part: int
) -> None:
    messages: list[str] = []
    page.on("console", lambda message: messages.append(f"{page.url} {message.text}"))
    page.on("pageerror", lambda error: messages.append(f"{page.url} {error}"))
    page.on("requestfailed", lambda request: messages.append(f"{request.url} {request.failure}"))
    prepare(page)
    for name in [*album, *FAILURES][part::6]:
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(SMALL_PHONE)
        page.goto(f"{site}/{name}#token")
        assert not is_too_wide(page), name
        if page.locator("nav.tabbar").count():
            assert page.evaluate(SMALL) == [], name
        page.set_viewport_size(ENLARGED)
        assert not is_too_wide(page), f"{name} at 200 %"
        page.set_viewport_size(DESKTOP)
        assert violations(page, options=TARGETS) == [], name
        if "-" in name:
            # Another state of a page differs from the first in its content only.
            continue
        page.emulate_media(color_scheme="dark")
        assert violations(page, options=CONTRAST) == [], name
        page.set_viewport_size(PHONE)
        page.locator("details.more").evaluate_all("(all) => all.forEach((one) => one.open = true)")
        # The tests of each page check its contrast on a phone.
        assert violations(page, options=TARGETS_WITHOUT_CONTRAST) == [], name
    # The browser cancels open requests when the next page is loaded.
    assert [message for message in messages if not message.endswith("net::ERR_ABORTED")] == []


_ALONE = (".aside .tag a", ".aside .edit > summary", ".side h2 > a", ".passages blockquote a")


@pytest.mark.parametrize(("size", "least"), [(DESKTOP, 24), (PHONE, 44)])
@pytest.mark.browser(bypass_csp=True)
def test_links_that_stand_alone_are_as_high_as_a_target(
    page: Page, site: str, size: ViewportSize, least: int
) -> None:
    page.set_viewport_size(size)
    page.goto(f"{site}/post-noted")
    page.locator("details").evaluate_all("(all) => { for (const one of all) one.open = true }")
    assert violations(page, options=TARGETS_WITHOUT_CONTRAST) == []
    if size is PHONE:
        page.locator("#side").evaluate("(side) => side.showPopover()")
    measure = "(links) => links.map((link) => link.getBoundingClientRect().height)"
    heights = {each: page.locator(each).evaluate_all(measure) for each in _ALONE}
    assert all(heights.values())
    assert {each: found for each, found in heights.items() if min(found) < least} == {}


# Pages on which people or posts have a name, a note or a text with markup.
HOSTILE = (
    *("keys", "account", "activity", "exports", "operator", "operator-quiet", "operator-invited"),
    *("connect_link-connected", "save-known", "import-refused"),
    *("library", "library-compact", "library-view", "views", "view_edit", "labels"),
    *("digest", "statistics"),
)


def test_no_name_or_text_becomes_markup(album: Album) -> None:
    for name, shown in album.items():
        assert rule_and_share_pages.HOSTILE not in shown.text, name
        assert "<script>alert" not in shown.text, name
    for name in HOSTILE:
        assert "&lt;b&gt;تصميم&lt;/b&gt;" in album[name].text, name


def test_every_form_carries_the_csrf_token(album: Album) -> None:
    for name, shown in album.items():
        tokens = len(re.findall(r'<input type="hidden" name="csrf" value="[^"]+">', shown.text))
        # A search changes nothing, and its token would be in the URL.
        searches = shown.text.count('<form method="get"')
        assert tokens + searches == shown.text.count("<form"), name


@pytest.mark.browser(color_scheme="light", bypass_csp=True)
def test_the_theme_is_remembered_and_set_before_the_page_is_painted(page: Page, site: str) -> None:
    page.goto(f"{site}/keys")
    button = page.get_by_role("button", name="Colours: system")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    button.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.get_by_role("button", name="Colours: light").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto(f"{site}/home")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.get_by_role("button", name="Colours: dark").click()
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")
    assert page.context.cookies() == []


def test_a_page_follows_a_run_and_keeps_what_is_typed(page: Page, site: str) -> None:
    ended = {"mark": "", "jobs": []}
    asked: list[Route] = []

    def answer(route: Route) -> None:
        asked.append(route)
        route.fulfill(json=ended)

    page.goto(f"{site}/sources")
    page.locator("details").evaluate_all("(all) => { for (const one of all) one.open = true }")
    token = page.get_by_label("Access token").first
    token.fill("typed")
    page.evaluate("window.isSame = true")
    page.route("**/sources/state", answer)
    wait_until(lambda: len(asked) > 1, lambda: page.wait_for_timeout(50))
    assert page.evaluate("window.isSame")
    expect(token).to_have_value("typed")
    token.fill("")
    page.wait_for_function("() => !window.isSame")


def test_a_link_gives_its_token_to_the_form_only(page: Page, site: str) -> None:
    page.goto(f"{site}/link#lnk_7hVq")
    expect(page.locator("input[name=token]")).to_have_value("lnk_7hVq")
    expect(page.get_by_role("button", name="Sign in")).to_be_enabled()
    assert page.url == f"{site}/link"
    page.goto(f"{site}/link")
    expect(page.get_by_text("This page needs the whole link")).to_be_visible()
    expect(page.locator("form")).to_be_hidden()


@pytest.mark.browser(bypass_csp=True, permissions=["clipboard-read", "clipboard-write"])
def test_a_key_can_be_copied_and_its_snippets_are_tabs(page: Page, site: str) -> None:
    page.goto(f"{site}/key_new")
    expect(page.get_by_role("tabpanel")).to_contain_text("curl -s")
    page.get_by_role("tab", name="curl").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Python")).to_be_focused()
    expect(page.get_by_role("tabpanel")).to_contain_text("import json")
    page.keyboard.press("End")
    expect(page.get_by_role("tabpanel")).to_contain_text("mcpServers")
    key = page.locator(".secret code").inner_text()
    page.get_by_role("button", name="Copy the key").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == key


def test_a_question_is_a_dialog_that_gives_the_focus_back(page: Page, site: str) -> None:
    page.goto(f"{site}/keys")
    revoke = page.locator("summary", has_text="Revoke Claude on the laptop")
    revoke.click()
    dialog = page.get_by_role("dialog", name="Revoke “Claude on the laptop”?")
    expect(dialog.get_by_role("button", name="Revoke the key")).to_be_visible()
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(revoke).to_be_focused()


@pytest.mark.browser(java_script_enabled=False)
def test_without_javascript_a_question_opens_in_place_and_snippets_are_shown(
    page: Page, site: str
) -> None:
    page.goto(f"{site}/keys")
    page.locator("summary", has_text="Revoke Claude on the laptop").click()
    expect(page.get_by_role("button", name="Revoke the key").first).to_be_visible()
    page.goto(f"{site}/key_new")
    for text in ("curl -s", "import json", "claude mcp add", "mcpServers"):
        expect(page.get_by_text(text).first).to_be_visible()
    page.goto(f"{site}/sign_in")
    expect(page.get_by_text("Sign in with a passkey")).to_be_hidden()


def test_pages_that_need_javascript_say_so(album: Album) -> None:
    for name in ("sign_in", "sign_up", "reauthenticate", "account", "link"):
        shown = album[name].text
        sentences = " ".join(re.findall(r"<noscript>(.*?)</noscript>", shown, re.DOTALL))
        assert re.search("JavaScript|Scripts are off", sentences), name


@pytest.mark.browser(bypass_csp=True, may_complain=True)
def test_a_refused_passkey_is_explained(page: Page, site: str) -> None:
    page.route(
        "**/options", lambda route: route.fulfill(status=400, json={"error": "No passkeys."})
    )
    page.goto(f"{site}/sign_in")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("No passkeys.")).to_be_visible()
