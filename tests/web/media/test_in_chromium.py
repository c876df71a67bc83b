"""Kept images in a real browser: from our own origin, without a shift, with and without scripts."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Response, Route, expect

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.media.keeping import Keeping
from bowerbird.library.media.kept import MediaPreferences
from bowerbird.settings import Settings
from bowerbird.storage.files import Files
from bowerbird.web import templating
from tests.support import make, serving
from tests.support.hosts.image_hosts import X, image_hosts
from tests.support.posts import pictures
from tests.support.posts.keeping import image, no_report, video
from tests.support.serving import Server
from tests.web.accessibility import violations_in_each_look
from tests.web.chromium import Chromium, for_axe, is_too_wide, wait_until
from tests.web.sessions import address, signed_in_state

EMAIL = "me@example.com"
HOSTILE = '"><img src=x onerror=alert(1)>'
POSTS = [
    make.post(
        text=f"post {number} with a picture",
        attachments=[image(f"https://{X}/{number}", alt_text=f"Picture {number}")],
    )
    for number in range(20)
]
MORE = [
    make.post(
        text="one of each",
        attachments=[
            image(f"https://{X}/tall", alt_text=HOSTILE),
            video(f"https://{X}/film.mp4", f"https://{X}/still"),
            image("https://evil.example/x.png", alt_text="Elsewhere"),
        ],
    )
]
# Records a film of a canvas that changes, until its data have arrived in five parts.
FILM = """async () => {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  const stream = canvas.captureStream();
  const recorder = new MediaRecorder(stream, { mimeType: "video/mp4;codecs=avc1.42E01E" });
  const parts = [];
  const ended = new Promise((end) => recorder.addEventListener("stop", end));
  recorder.addEventListener("dataavailable", ({ data }) => { if (data.size) parts.push(data); });
  recorder.start(100);
  for (let frame = 0; parts.length < 5; frame++) {
    context.fillStyle = frame % 2 ? "teal" : "orange";
    context.fillRect(frame % 200, 0, 90, 150);
    await new Promise(requestAnimationFrame);
  }
  recorder.stop();
  await ended;
  return [...new Uint8Array(await new Blob(parts).arrayBuffer())];
}"""
# Collects the parts of the content that move.
SHIFTS = """
window.shifts = [];
window.watching = new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    for (const { node } of entry.sources) {
      if (node?.parentElement?.closest("main")) window.shifts.push(node.outerHTML?.slice(0, 80));
    }
  }
});
window.watching.observe({ type: "layout-shift", buffered: true });
"""
# Forgets what moved until the page was shown without its images: a busy browser may paint a page in
# pieces while it arrives.
SHOWN = """async () => {
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  await new Promise((done) => setTimeout(done));
  window.watching.takeRecords();
  window.shifts.length = 0;
}"""


async def keep(settings: Settings, folder: Path, film: bytes) -> None:
    """Before the server starts: its own worker would ask the real hosts."""
    async with image_hosts(folder) as hosts, opened_library(settings) as opened:
        for number in range(20):
            hosts.put(f"https://{X}/{number}", pictures.png(300 + number, 200, (number, 90, 160)))
        hosts.put(f"https://{X}/tall", pictures.png(200, 900, (160, 60, 40)))
        hosts.put(f"https://{X}/still", pictures.JPEG)
        hosts.put(f"https://{X}/film.mp4", film)
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        preferences = MediaPreferences(opened.database, system_clock, settings)
        await preferences.switch(account, is_keeping=True)
        keeping = Keeping(opened.database, Files(settings), system_clock, settings, hosts.fetcher)
        await keeping.run(account.account_id, no_report)
        state = await preferences.state(account)
        assert (state.kept, state.waiting) == (23, 0)


# Opening a post marks it read.
ALL = "/library?is_unread_only=false"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, chromium: Chromium) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("media")
    settings: dict[str, Any] = {"data_dir": folder / "data", "keep_media": "on", "keep_video": "on"}
    file = folder / "posts.json"
    file.write_text(json.dumps([*POSTS, *MORE]))
    environment = serving.environment_of(**settings)
    for command in (("account", "create", EMAIL), ("import", EMAIL, str(file))):
        serving.command(*command, environment=environment)
    film = bytes(chromium.run(lambda page: page.evaluate(FILM)))
    asyncio.run(keep(Settings(**settings), folder, film))
    with serving.serving(folder, **settings) as running:
        yield running


@pytest.fixture(scope="module")
def email(server: Server) -> str:
    assert server
    return EMAIL


@pytest.fixture
def page(page: Page, chromium: Chromium) -> Page:
    """A page of a browser that has shown the images once."""

    def show() -> None:
        page.goto(ALL)
        expect(page.locator(".posts img")).to_have_count(22)

    chromium.call(show)
    return page


PAGES = (ALL, f"/p/{MORE[0]['post_id']}", f"/p/{POSTS[3]['post_id']}", "/account")


@for_axe
def test_pages_with_images_are_accessible(page: Page) -> None:
    for path in PAGES:
        page.goto(path)
        assert violations_in_each_look(page) == []


@pytest.mark.parametrize("width", [360, 1280])
def test_images_come_from_here_and_nothing_moves(page: Page, width: int) -> None:
    held: list[Route] = []
    is_held = True

    def hold(route: Route) -> None:
        if is_held:
            held.append(route)
        else:
            route.continue_()

    page.set_viewport_size({"width": width, "height": 844})
    page.add_init_script(SHIFTS)
    page.route("**/media/*", hold)
    for path in PAGES[:3]:
        is_held = True
        page.goto(path, wait_until="domcontentloaded")
        page.evaluate(SHOWN)
        is_held = False
        while held:
            held.pop().continue_()
        page.wait_for_load_state("networkidle")
        for shown in page.locator("main img").all():
            shown.scroll_into_view_if_needed()
        for shown in page.locator("main img").all():
            expect(shown).to_have_js_property("complete", value=True)
        assert page.evaluate("window.shifts") == [], path
        assert not is_too_wide(page), path
    page.goto(ALL, wait_until="networkidle")
    sizes = page.eval_on_selector_all(".posts img", "all => all.map((i) => i.naturalWidth)")
    assert len(sizes) == 22


def test_an_image_opens_large_and_its_keys_work(page: Page) -> None:
    page.goto(f"/p/{POSTS[3]['post_id']}")
    link = page.locator("a[data-view]")
    link.focus()
    page.keyboard.press("Enter")
    viewer = page.get_by_role("dialog", name="Image")
    expect(viewer.get_by_role("img", name="Picture 3")).to_be_visible()
    expect(viewer.locator("figcaption")).to_have_text("Picture 3")
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(viewer).to_have_count(0)
    expect(link).to_be_focused()


def test_a_kept_video_plays_after_a_press_and_is_sent_in_parts(page: Page) -> None:
    statuses: list[int] = []

    def note(response: Response) -> None:
        if response.request.resource_type == "media":
            statuses.append(response.status)

    page.on("response", note)
    page.goto(f"/p/{MORE[0]['post_id']}", wait_until="networkidle")
    expect(page.locator("video")).to_have_count(0)
    assert statuses == []
    page.locator("a[data-view=Video]").click()
    player = page.get_by_role("dialog", name="Image").locator("video[controls][poster]")
    expect(player).to_have_attribute("aria-label", "Video without a description")
    wait_until(lambda: bool(player.evaluate("(video) => video.currentTime > 0")))
    assert player.evaluate("(video) => video.videoWidth") == 300
    assert set(statuses) == {206}


# Where the rows in view are, and how many images and buttons there are.
PLACES = """() => ({
  rows: [...document.querySelectorAll(".post")]
    .map((row) => row.getBoundingClientRect()).filter((box) => box.top < innerHeight)
    .map((box) => Math.round(box.top)),
  images: document.querySelectorAll(".posts .media img").length,
  offers: document.querySelectorAll(".absent button").length,
})"""


def test_images_appear_as_they_arrive_and_no_text_in_view_moves(
    tmp_path: Path, chromium: Chromium
) -> None:
    file = tmp_path / "posts.json"
    file.write_text(json.dumps(POSTS))
    mark = templating.paths()["mark.svg"]

    def arrived(route: Route) -> None:
        keys = route.request.url.partition("keys=")[2].split(",")
        images = {key: {"src": mark, "width": 300, "height": 200} for key in keys}
        route.fulfill(json={"images": images})

    def visit(page: Page) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        page.route("**/library/images/arrivals*", arrived)
        page.goto(address(running, "/library"))
        # This server downloads nothing, so its page does not ask by itself.
        before = page.evaluate(PLACES)
        page.evaluate("document.body.dataset.arrivals = '/library/images/arrivals'")
        page.add_script_tag(url=templating.paths()["arrivals.js"], type="module")
        expect(page.get_by_role("button", name="Show", exact=True).first).to_be_visible()
        after = page.evaluate(PLACES)
        line = page.locator(
            ".absent", has=page.get_by_role("button", name="Show", exact=True)
        ).first
        pressed = line.get_attribute("data-alt") or ""
        line.get_by_role("button").click()
        expect(page.get_by_role("img", name=pressed, exact=True)).to_be_visible()
        return before, after, page.evaluate(PLACES)

    with serving.serving(tmp_path) as running:
        running.run("account", "create", EMAIL)
        running.run("import", EMAIL, str(file))
        state = signed_in_state(running, EMAIL)
        before, after, shown = chromium.run(visit, storage_state=state, bypass_csp=True)
    assert before["images"] == 0
    assert after["rows"] == before["rows"]
    assert after["images"] + after["offers"] == len(POSTS)
    assert after["offers"] < len(before["rows"]) + 1
    # The row that was pressed stays where it was. Rows below it left the view, so their images came
    # too.
    assert shown["rows"][0] == before["rows"][0]
    assert len(shown["rows"]) < len(before["rows"])
    assert shown["images"] + shown["offers"] == len(POSTS)
    assert shown["images"] > after["images"]
