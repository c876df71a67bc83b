"""Every template with example values in a real browser: accessibility, policy, width, scripts."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page, Route, ViewportSize, expect

from bowerbird.web import templating
from tests.web import rendered
from tests.web.accessibility import (
    CONTRAST,
    TARGETS,
    TARGETS_WITHOUT_CONTRAST,
    prepare,
    violations,
)
from tests.web.chromium import Chromium
from tests.web.example_values import KEY
from tests.web.template_examples import EXAMPLES

NAMES = rendered.names()
# Not pages: what pages are made of, and pages that other tests open.
PARTS = {"skeleton", "base", "door", "app", "macros", "icons", "code", "upgrade"} | {
    "digest_settings",
    "library_frame",
    "library_meant",
    "library_search",
    "library_rows",
    "library_selection",
    "demo_banner",
    "account_images",
    "images_switch",
    "pictures",
}
SMALL_PHONE: ViewportSize = {"width": 360, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
DESKTOP: ViewportSize = {"width": 1280, "height": 860}
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
}
CHALLENGE = "AAAAAAAAAAAAAAAAAAAAAA"
REGISTERING = {
    "challenge": CHALLENGE,
    "rp": {"name": "Bowerbird", "id": "localhost"},
    "user": {"id": "AAAA", "name": "nora", "displayName": "Nora"},
    "pubKeyCredParams": [{"type": "public-key", "alg": -7}],
    "authenticatorSelection": {"residentKey": "required"},
}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with rendered.served_examples() as url:
        yield url


def test_every_template_of_a_page_has_an_example() -> None:
    folder = Path(templating.__file__).parent / "templates"
    pages = {path.stem for path in folder.glob("*.html")} - PARTS

    assert pages
    assert {name.partition("-")[0] for name in NAMES} == pages


# In parts, so that several test processes share the work.
@pytest.mark.timeout(300)
@pytest.mark.parametrize("names", [NAMES[part::6] for part in range(6)])
def test_axe_finds_no_problem_nothing_is_blocked_and_no_page_is_wider_than_a_phone(
    site: str, chromium: Chromium, names: list[str]
) -> None:
    def problems(page: Page, name: str) -> list[str]:
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(DESKTOP)
        found = violations(page, options=TARGETS)
        if "-" in name:
            # Another example of a template differs from the first in its content only.
            return found
        page.emulate_media(color_scheme="dark")
        found += violations(page, options=CONTRAST)
        page.set_viewport_size(PHONE)
        # The tests of each page check its contrast on a phone.
        return found + violations(page, options=TARGETS_WITHOUT_CONTRAST)

    def visit(page: Page) -> tuple[list[str], dict[str, int], dict[str, list[str]]]:
        messages: list[str] = []
        page.on("console", lambda message: messages.append(f"{page.url} {message.text}"))
        page.on("pageerror", lambda error: messages.append(f"{page.url} {error}"))
        page.on(
            "requestfailed", lambda request: messages.append(f"{request.url} {request.failure}")
        )
        prepare(page)
        widths, found = {}, {}
        for name in names:
            page.set_viewport_size(SMALL_PHONE)
            page.goto(f"{site}/{name}#token")
            widths[name] = page.evaluate("document.documentElement.scrollWidth")
            found[name] = problems(page, name)
        return messages, widths, found

    messages, widths, found = chromium.run(visit, reduced_motion="reduce")

    # The browser cancels open requests when the next page is loaded.
    assert [message for message in messages if not message.endswith("net::ERR_ABORTED")] == []
    assert widths == dict.fromkeys(names, 360)
    assert found == {name: [] for name in names}


_ALONE = (".aside .tag a", ".aside .edit > summary", ".side h2 > a")


@pytest.mark.parametrize(("size", "least"), [(DESKTOP, 24), (PHONE, 44)])
def test_links_that_stand_alone_are_as_high_as_a_target(
    site: str, chromium: Chromium, size: ViewportSize, least: int
) -> None:
    def visit(page: Page) -> dict[str, list[float]]:
        page.set_viewport_size(size)
        page.goto(f"{site}/post-noted")
        if size is PHONE:
            page.locator("#side").evaluate("(side) => side.showPopover()")
        measure = "(links) => links.map((link) => link.getBoundingClientRect().height)"
        return {each: page.locator(each).evaluate_all(measure) for each in _ALONE}

    heights = chromium.run(visit, bypass_csp=True)

    assert all(heights.values())
    assert {each: found for each, found in heights.items() if min(found) < least} == {}


@pytest.mark.parametrize(("size", "least"), [(DESKTOP, 24), (PHONE, 44)])
def test_a_highlight_is_a_target_that_a_finger_can_hit(
    site: str, chromium: Chromium, size: ViewportSize, least: int
) -> None:
    def visit(page: Page) -> tuple[list[float], list[str]]:
        page.set_viewport_size(size)
        page.goto(f"{site}/post-noted")
        heights = page.locator(".passages blockquote a").evaluate_all(
            "(links) => links.map((link) => link.getBoundingClientRect().height)"
        )
        page.locator("details").evaluate_all("(all) => { for (const one of all) one.open = true }")
        return heights, violations(page, options=TARGETS_WITHOUT_CONTRAST)

    heights, found = chromium.run(visit, bypass_csp=True)

    assert heights
    assert min(heights) >= least
    assert found == []


def test_every_form_carries_the_csrf_token() -> None:
    pages = rendered.examples()
    for name in EXAMPLES:
        html = pages[name]
        tokens = html.count('<input type="hidden" name="csrf" value="c5rf">')
        # A search changes nothing, and its token would be in the URL.
        searches = html.count('<form method="get"')
        assert tokens + searches == html.count("<form")


def test_values_are_escaped() -> None:
    hostile = '"><script>alert(1)</script>'
    template, values = EXAMPLES["keys"]
    templates = templating.Templates(rendered.SETTINGS, has_sandbox=True)

    key = values["keys"][0] | {"name": hostile}
    html = templates.render(template, **values | {"keys": [key], "problem": hostile})

    assert "&lt;script&gt;" in html
    assert "<script>" not in html


def test_the_theme_is_remembered_and_set_before_the_page_is_painted(
    site: str, chromium: Chromium
) -> None:
    def visit(page: Page) -> None:
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

    chromium.run(visit, color_scheme="light", bypass_csp=True)


def test_a_link_gives_its_token_to_the_form_only(site: str, chromium: Chromium) -> None:
    def visit(page: Page) -> None:
        page.goto(f"{site}/link#lnk_7hVq")
        expect(page.locator("input[name=token]")).to_have_value("lnk_7hVq")
        expect(page.get_by_role("button", name="Sign in")).to_be_enabled()
        assert page.url == f"{site}/link"
        page.goto(f"{site}/link-owner")
        expect(page.get_by_text("This page needs the whole link")).to_be_visible()
        expect(page.locator("form")).to_be_hidden()

    chromium.run(visit)


def test_a_key_can_be_copied_and_its_snippets_are_tabs(site: str, chromium: Chromium) -> None:
    def visit(page: Page) -> str:
        page.goto(f"{site}/key_new")
        expect(page.get_by_role("tabpanel")).to_contain_text("curl -s")
        page.get_by_role("tab", name="curl").focus()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("tab", name="Python")).to_be_focused()
        expect(page.get_by_role("tabpanel")).to_contain_text("import json")
        page.keyboard.press("End")
        expect(page.get_by_role("tabpanel")).to_contain_text("mcpServers")
        page.get_by_role("button", name="Copy the key").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied: str = page.evaluate("navigator.clipboard.readText()")
        return copied

    permissions = ["clipboard-read", "clipboard-write"]
    assert chromium.run(visit, bypass_csp=True, permissions=permissions) == KEY


def test_a_question_is_a_dialog_that_gives_the_focus_back(site: str, chromium: Chromium) -> None:
    def visit(page: Page) -> None:
        page.goto(f"{site}/keys")
        revoke = page.locator("summary", has_text="Revoke Claude on the laptop")
        revoke.click()
        dialog = page.get_by_role("dialog", name="Revoke “Claude on the laptop”?")
        expect(dialog.get_by_role("button", name="Revoke the key")).to_be_visible()
        expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        page.keyboard.press("Escape")
        expect(revoke).to_be_focused()

    chromium.run(visit)


def test_without_javascript_a_question_opens_in_place_and_snippets_are_shown(
    site: str, chromium: Chromium
) -> None:
    def visit(page: Page) -> None:
        page.goto(f"{site}/keys")
        page.locator("summary", has_text="Revoke Claude on the laptop").click()
        expect(page.get_by_role("button", name="Revoke the key").first).to_be_visible()
        page.goto(f"{site}/key_new")
        for text in ("curl -s", "import json", "claude mcp add", "mcpServers"):
            expect(page.get_by_text(text).first).to_be_visible()
        page.goto(f"{site}/sign_in")
        expect(page.get_by_text("Sign in with a passkey")).to_be_hidden()

    chromium.run(visit, java_script_enabled=False)


def test_pages_that_need_javascript_say_so() -> None:
    pages = rendered.examples()
    for name in ("sign_in", "sign_up", "reauthenticate", "account", "link", "link-owner"):
        [sentence] = re.findall(r"<noscript>(.*?)</noscript>", pages[name], re.DOTALL)
        assert "JavaScript" in sentence, name


def test_a_passkey_is_registered_and_then_used_to_sign_in(site: str, chromium: Chromium) -> None:
    sent: dict[str, dict[str, str]] = {}

    def record(route: Route) -> None:
        body = route.request.post_data or ""
        sent[urlsplit(route.request.url).path] = dict(parse_qsl(body))
        route.fulfill(body="received")

    def visit(page: Page) -> None:
        devtools = page.context.new_cdp_session(page)
        devtools.send("WebAuthn.enable")
        devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        for path in ("/account/passkeys", "/sign-in/passkey"):
            page.route(f"{site}{path}", record)
        page.route(
            f"{site}/account/passkeys/options",
            lambda route: route.fulfill(json={"publicKey": REGISTERING}),
        )
        page.route(
            f"{site}/sign-in/passkey/options",
            lambda route: route.fulfill(json={"challenge": CHALLENGE, "rpId": "localhost"}),
        )
        page.goto(f"{site}/account")
        page.get_by_label("Name of the new passkey").fill("Laptop")
        page.get_by_role("button", name="Add a passkey").click()
        expect(page.get_by_text("received")).to_be_visible()
        page.goto(f"{site}/sign_in")
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page.get_by_text("received")).to_be_visible()

    chromium.run(visit, bypass_csp=True)

    registered, signed_in = sent["/account/passkeys"], sent["/sign-in/passkey"]
    created, used = json.loads(registered["credential"]), json.loads(signed_in["credential"])
    assert (registered["csrf"], registered["name"]) == ("c5rf", "Laptop")
    assert (signed_in["csrf"], signed_in["next"]) == ("c5rf", "/keys")
    assert created["response"]["attestationObject"]
    assert used["response"]["signature"]
    assert used["id"] == created["id"]


def test_a_refused_passkey_is_explained(site: str, chromium: Chromium) -> None:
    def visit(page: Page) -> None:
        page.route(
            "**/options", lambda route: route.fulfill(status=400, json={"error": "No passkeys."})
        )
        page.goto(f"{site}/sign_in")
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page.get_by_text("No passkeys.")).to_be_visible()

    chromium.run(visit, bypass_csp=True)
