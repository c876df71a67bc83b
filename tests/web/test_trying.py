"""The reference's forms against the real sandbox, in a real browser and one by one."""

import json
import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from bowerbird.openapi.sandbox_routes import SIMULATED
from bowerbird.web.page_examples import FIRST_ANSWER
from bowerbird.web.templating import SANDBOX_ERRORS
from tests.support.serving import Server
from tests.web.chromium import Chromium
from tests.web.conftest import Opened


def open_form(page: Page, server: Server, section: str, operation: str) -> None:
    # By another origin than the API's own, so that the browser asks the API for leave.
    page.goto(f"http://127.0.0.1:{server.port}/docs/{section}#{operation}")
    page.locator(f"#{operation} .try > summary").click()


def send(page: Page, operation: str) -> None:
    page.locator(f"#{operation}").get_by_role("button", name="Send").click()
    expect(page.locator(f"#{operation} .outcome")).to_be_visible()


def test_a_list_can_be_tried_from_the_page(served: Server, chromium: Chromium) -> None:
    def see(page: Page) -> tuple[str, str, str]:
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        open_form(page, served, "bookmarks", "listBookmarks")
        page.get_by_label("limit", exact=True).first.fill("2")
        page.locator("#listBookmarks-media_type").select_option("image")
        expect(page.locator("#listBookmarks .line")).to_have_text(
            "GET /v1/sandbox/bookmarks?media_type=image&limit=2"
        )
        send(page, "listBookmarks")
        assert said == []
        form = page.locator("#listBookmarks form")
        return (
            form.locator(".outcome").inner_text(),
            form.locator(".came dl").inner_text(),
            form.locator(".came pre").inner_text(),
        )

    outcome, headers, body = chromium.look(see)

    answer = served.get("/v1/sandbox/bookmarks", limit=2, media_type="image")
    assert outcome.startswith("200")
    assert re.search(r"x-service-environment\s+sandbox", headers)
    assert json.loads(body) == answer.json()
    # A JavaScript number would have lost the last digits.
    assert f'"sort_index": {answer.json()["data"][0]["sort_index"]}' in body


def test_a_refusal_can_be_asked_for(served: Server, chromium: Chromium) -> None:
    def see(page: Page) -> dict[str, str]:
        open_form(page, served, "labels", "addLabel")
        seen = {}
        for value in SANDBOX_ERRORS:
            page.locator("#addLabel-error").select_option(value)
            with page.expect_response(re.compile("/v1/sandbox/labels/add")):
                page.locator("#addLabel").get_by_role("button", name="Send").click()
            expect(page.locator("#addLabel .came pre")).to_contain_text(SIMULATED[value])
            seen[value] = page.locator("#addLabel .outcome").inner_text().split()[0]
            expect(page.locator("#addLabel .outcome.bad")).to_be_visible()
            if value == "rate_limited":
                expect(page.locator("#addLabel .came dl")).to_contain_text("retry-after")
        return seen

    assert chromium.look(see) == {
        "unauthorized": "401",
        "subscription_required": "402",
        "filter_not_allowed": "402",
        "pagination_not_allowed": "402",
        "invalid_request": "400",
        "not_found": "404",
        "rate_limited": "429",
        "server_error": "500",
    }


def test_a_form_is_sent_with_the_keyboard_alone(served: Server, chromium: Chromium) -> None:
    def see(page: Page) -> str:
        page.goto(f"http://localhost:{served.port}/docs/labels#listLabels")
        page.locator("#listLabels .try > summary").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        outcome = page.locator("#listLabels .outcome")
        expect(outcome).to_be_visible()
        expect(page.locator("#listLabels").get_by_role("button", name="Send")).to_be_focused()
        return outcome.inner_text()

    assert chromium.look(see).startswith("200")


def test_the_pages_name_every_failure_that_can_be_simulated() -> None:
    assert tuple(SIMULATED) == SANDBOX_ERRORS


def test_the_first_page_shows_the_answer_that_the_sandbox_gives(served: Server) -> None:
    shown = json.loads(FIRST_ANSWER)
    given = served.get("/v1/sandbox/bookmarks", limit=1).json()

    [bookmark], [real] = shown["data"], given["data"]
    details = bookmark.pop("tweet_details")
    assert real["tweet_details"]["text"].startswith(details.pop("text").removesuffix("…"))
    assert details.items() <= real["tweet_details"].items()
    assert bookmark == {name: real[name] for name in bookmark}
    assert shown["meta"].pop("next_cursor") == "…"
    assert shown["meta"].items() <= given["meta"].items()


@pytest.mark.anyio
async def test_every_form_as_it_stands_is_served_by_the_sandbox(opened: Opened) -> None:
    site = await opened()
    forms = 0
    for section in ("bookmarks", "labels", "views", "exports"):
        page = (await site.get(f"/docs/{section}")).text
        for form in re.findall(r"<form data-method.*?</form>", page, re.DOTALL):
            if "{job_id}" in form:
                # Only a job that was just made has an id.
                continue
            response = await sent(site, form)
            assert response.status_code < 300, (form[:120], response.text)
            assert response.headers["x-service-environment"] == "sandbox"
            forms += 1
    assert forms >= 9


async def sent(site: httpx.AsyncClient, form: str) -> httpx.Response:
    found = re.search(r'data-method="(\w+)" data-base="([^"]+)" data-path="([^"]+)"', form)
    assert found
    method, base, path = found.groups()
    values = dict(re.findall(r'name="(\w+)" data-place="path" value="([^"]*)"', form))
    body = re.search(r"<textarea[^>]*>(.*?)</textarea>", form, re.DOTALL)
    return await site.request(
        method,
        base.removeprefix("http://localhost:8080") + path.format(**values),
        content=body[1].replace("&#34;", '"') if body else None,
    )
