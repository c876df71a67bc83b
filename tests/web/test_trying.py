"""The "Try it" forms of the API reference send real requests to the sandbox."""

import json
import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from bowerbird.openapi.sandbox_routes import SIMULATED
from bowerbird.web.page_examples import FIRST_RESPONSE
from bowerbird.web.templating import SANDBOX_ERRORS
from tests.support.serving import Server
from tests.web.conftest import OpenSite


@pytest.fixture(scope="module")
def options() -> dict[str, Any]:
    """A stranger, who has no cookies."""
    return {}


def open_form(page: Page, server: Server, section: str, operation: str) -> None:
    # Not the origin of the API, so the browser has to send a CORS preflight.
    page.goto(f"http://127.0.0.1:{server.port}/docs/{section}#{operation}")
    page.locator(f"#{operation} .try > summary").click()


def send(page: Page, operation: str) -> None:
    page.locator(f"#{operation}").get_by_role("button", name="Send").click()
    expect(page.locator(f"#{operation} .outcome")).to_be_visible()


def test_a_form_sends_a_list_request_and_shows_the_response(page: Page, served: Server) -> None:
    open_form(page, served, "bookmarks", "listBookmarks")
    page.get_by_label("limit", exact=True).first.fill("2")
    page.locator("#listBookmarks-media_type").select_option("image")
    expect(page.locator("#listBookmarks .request-line")).to_have_text(
        "GET /v1/sandbox/bookmarks?media_type=image&limit=2"
    )
    send(page, "listBookmarks")
    form = page.locator("#listBookmarks form")
    body = form.locator(".result pre").inner_text()
    response = served.get("/v1/sandbox/bookmarks", limit=2, media_type="image")
    assert form.locator(".outcome").inner_text().startswith("200")
    headers = form.locator(".result dl").inner_text()
    assert re.search(r"x-service-environment\s+sandbox", headers)
    assert json.loads(body) == response.json()
    # A JavaScript number would lose the last digits.
    assert f'"sort_index": {response.json()["data"][0]["sort_index"]}' in body


@pytest.mark.browser(may_complain=True)
def test_a_form_can_simulate_every_error(page: Page, served: Server) -> None:
    open_form(page, served, "labels", "addLabel")
    seen = {}
    for value in SANDBOX_ERRORS:
        page.locator("#addLabel-error").select_option(value)
        with page.expect_response(re.compile("/v1/sandbox/labels/add")):
            page.locator("#addLabel").get_by_role("button", name="Send").click()
        expect(page.locator("#addLabel .result pre")).to_contain_text(SIMULATED[value])
        seen[value] = page.locator("#addLabel .outcome").inner_text().split()[0]
        expect(page.locator("#addLabel .outcome.bad")).to_be_visible()
        if value == "rate_limited":
            expect(page.locator("#addLabel .result dl")).to_contain_text("retry-after")
    assert seen == {
        "unauthorized": "401",
        "subscription_required": "402",
        "filter_not_allowed": "402",
        "pagination_not_allowed": "402",
        "invalid_request": "400",
        "not_found": "404",
        "rate_limited": "429",
        "server_error": "500",
    }


def test_a_form_can_be_sent_with_the_keyboard(page: Page, served: Server) -> None:
    page.goto(f"http://localhost:{served.port}/docs/labels#listLabels")
    page.locator("#listLabels .try > summary").focus()
    page.keyboard.press("Enter")
    send = page.locator("#listLabels").get_by_role("button", name="Send")
    # Once for each field of the form, and once more.
    fields = page.locator("#listLabels form").locator("input, select, textarea").count()
    for _ in range(fields + 1):
        page.keyboard.press("Tab")
    expect(send).to_be_focused()
    page.keyboard.press("Enter")
    outcome = page.locator("#listLabels .outcome")
    expect(outcome).to_be_visible()
    expect(send).to_be_focused()
    assert outcome.inner_text().startswith("200")


def test_the_pages_list_every_error_that_can_be_simulated() -> None:
    assert tuple(SIMULATED) == SANDBOX_ERRORS


def test_the_home_page_shows_the_response_that_the_sandbox_returns(served: Server) -> None:
    shown = json.loads(FIRST_RESPONSE)
    actual = served.get("/v1/sandbox/bookmarks", limit=1).json()

    [bookmark], [real] = shown["data"], actual["data"]
    details = bookmark.pop("tweet_details")
    assert real["tweet_details"]["text"].startswith(details.pop("text").removesuffix("…"))
    assert details.items() <= real["tweet_details"].items()
    assert bookmark == {name: real[name] for name in bookmark}
    assert shown["meta"].pop("next_cursor") == "…"
    assert shown["meta"].items() <= actual["meta"].items()


@pytest.mark.anyio
async def test_every_form_succeeds_when_it_is_sent_unchanged(open_site: OpenSite) -> None:
    site = await open_site()
    forms = 0
    for section in ("bookmarks", "labels", "views", "exports"):
        page = (await site.get(f"/docs/{section}")).text
        for form in re.findall(r"<form data-method.*?</form>", page, re.DOTALL):
            if "{job_id}" in form:
                # This form needs the id of an export that exists.
                continue
            response = await send_unchanged(site, form)
            assert response.status_code < 300, (form[:120], response.text)
            assert response.headers["x-service-environment"] == "sandbox"
            forms += 1
    assert forms >= 9


async def send_unchanged(site: httpx.AsyncClient, form: str) -> httpx.Response:
    found = re.search(r'data-method="(\w+)" data-base="([^"]+)" data-path="([^"]+)"', form)
    assert found
    method, base, path = found.groups()
    values = dict(re.findall(r'name="(\w+)" data-location="path" value="([^"]*)"', form))
    body = re.search(r"<textarea[^>]*>(.*?)</textarea>", form, re.DOTALL)
    return await site.request(
        method,
        base.removeprefix("http://localhost:8080") + path.format(**values),
        content=body[1].replace("&#34;", '"') if body else None,
    )
