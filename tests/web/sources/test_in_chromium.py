"""Sources in a real browser: connecting one and ending it, without scripts too."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support import serving
from tests.support.networks import ALICE_TOKEN, APP_PASSWORD, Networks, playing, status
from tests.support.serving import Server
from tests.support.waiting import PATIENCE_S, wait_until
from tests.web.accessibility import in_each_look, violations_in_each_look
from tests.web.chromium import FOR_AXE


@contextmanager
def networks_on_a_thread() -> Iterator[Networks]:
    """The server is another process, and the browser blocks this thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    served = playing()
    try:
        yield asyncio.run_coroutine_threadsafe(served.__aenter__(), loop).result(PATIENCE_S)
        asyncio.run_coroutine_threadsafe(served.__aexit__(None, None, None), loop).result(
            PATIENCE_S
        )
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE_S)
        loop.close()


@pytest.fixture(scope="module")
def networks() -> Iterator[Networks]:
    with networks_on_a_thread() as served:
        served.statuses = [status(number) for number in range(3, 0, -1)]
        yield served


@pytest.fixture(scope="module")
def server(networks: Networks, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("sources"), **networks.settings) as running:
        yield running


def start_mastodon(page: Page, networks: Networks) -> Locator:
    """Connects a source; returns its part of the page."""
    page.goto("/sources")
    form = page.get_by_role("region", name="Connect Mastodon")
    form.get_by_label("Address of your server").fill(networks.address)
    form.get_by_label("Access token").fill(ALICE_TOKEN)
    form.get_by_role("button", name="Connect Mastodon").click()
    expect(page.get_by_role("status").first).to_contain_text("connected")
    return page.get_by_role("region", name="Mastodon alice@")


def connect_mastodon(page: Page, networks: Networks, *, has_scripts: bool = True) -> Locator:
    """Connects a source; returns its part of the page, once it is read."""
    source = start_mastodon(page, networks)

    def is_read() -> bool:
        page.reload()
        return source.get_by_text("up to date").count() > 0

    # The script opens the page again itself, which a reload at the same time would interrupt.
    if not has_scripts:
        wait_until(is_read)
    expect(source.get_by_text("up to date")).to_be_visible()
    return source


def disconnect(page: Page, source: Locator) -> None:
    source.locator("summary").filter(has_text="Disconnect").click()
    page.get_by_role("button", name="Disconnect the source").click()
    expect(source).to_have_count(0)


WITHOUT_SCRIPTS = pytest.param(False, marks=pytest.mark.browser(java_script_enabled=False))


@pytest.mark.parametrize("has_scripts", [True, WITHOUT_SCRIPTS])
def test_a_source_is_connected_read_paused_and_disconnected(
    page: Page, networks: Networks, *, has_scripts: bool
) -> None:
    source = connect_mastodon(page, networks, has_scripts=has_scripts)
    source.get_by_role("button", name="Pause").click()
    expect(source).to_contain_text("paused")
    source.get_by_role("button", name="Resume").click()
    expect(source.get_by_role("button", name="Pause")).to_be_visible()
    disconnect(page, source)


@pytest.mark.browser(**FOR_AXE, may_complain=True)
def test_axe_finds_no_problem_and_no_date_is_broken(page: Page, networks: Networks) -> None:
    page.goto("/sources")
    assert violations_in_each_look(page) == []
    source = connect_mastodon(page, networks)
    page.locator("summary").filter(has_text="How often").click()
    assert violations_in_each_look(page) == []
    for look in in_each_look(page):
        dates = source.locator("dd.when time")
        lines = dates.evaluate_all("dates => dates.map((one) => one.getClientRects().length)")
        assert lines == [1, 1], look
    form = page.get_by_role("region", name="Connect Bluesky")
    form.locator("summary").click()
    form.get_by_label("Handle").fill("alice.test")
    form.get_by_label("App password").fill(APP_PASSWORD + "-wrong")
    form.get_by_label("Address of your server").fill(networks.address)
    form.get_by_role("button", name="Connect Bluesky").click()
    expect(page.get_by_text("did not accept the handle and password")).to_be_visible()
    assert violations_in_each_look(page) == []
    page.goto("/sources")
    disconnect(page, source)


def test_the_page_follows_a_run_and_keeps_what_is_typed(
    page: Page, networks: Networks, request: pytest.FixtureRequest
) -> None:
    networks.dripping["/bookmarks"] = 0.01
    request.addfinalizer(networks.dripping.clear)
    source = start_mastodon(page, networks)
    expect(source).to_contain_text("running")
    form = page.get_by_role("region", name="Connect Bluesky")
    form.locator("summary").click()
    handle = form.get_by_label("Handle")
    handle.fill("alice.test")
    networks.dripping.clear()

    def has_ended() -> bool:
        with page.expect_response("**/sources/state") as answer:
            return bool(answer.value.json()["mark"] == "")

    wait_until(has_ended)
    has_ended()
    assert source.get_by_text("running").count() > 0
    assert handle.input_value() == "alice.test"
    handle.fill("")
    expect(source).to_contain_text("up to date")
    disconnect(page, source)
