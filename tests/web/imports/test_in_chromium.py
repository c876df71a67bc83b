"""Imports and exports in a real browser: a real file, the check, the import, the undo."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support import make, serving
from tests.support.serving import Server
from tests.web.accessibility import in_each_look, violations
from tests.web.account.test_in_chromium import address, signed_in
from tests.web.chromium import Chromium

EMAIL = "me@example.com"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("imports")) as running:
        running.run("account", "create", EMAIL)
        yield running


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """Two posts, one of them with hostile text, and a record that cannot be read."""
    file = tmp_path / "<img src=x onerror=alert(1)>.json"
    posts = [
        make.post(post_id="1"),
        make.post(post_id="2", text="<script>alert(1)</script>"),
    ]
    broken = {"post_id": "<svg onload=alert(2)>"}
    file.write_text(json.dumps([*posts, broken]), encoding="utf-8")
    return file


def choose(page: Page, server: Server, file: Path) -> None:
    page.goto(address(server, "/import"))
    page.get_by_label("Drop a file here, or choose it").set_input_files(file)
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_role("heading", name="Check before it is kept")).to_be_visible()


def undo(page: Page) -> None:
    page.locator("summary", has_text="Undo this import").click()
    page.get_by_role("button", name="Undo the import").click()
    page.wait_for_url("**/import?undone=*")


def test_a_file_is_checked_imported_and_undone(
    server: Server, chromium: Chromium, sample: Path
) -> None:
    def visit(page: Page) -> None:
        choose(page, server, sample)
        expect(page.get_by_text("Nothing has been written yet.")).to_be_visible()
        expect(page.get_by_text(sample.name, exact=True)).to_be_visible()
        expect(page.get_by_text("Not readable")).to_be_visible()
        page.get_by_text("The row that is left out").click()
        expect(page.get_by_text("post_id: must be a string")).to_be_visible()
        page.get_by_role("button", name="Bring in 2 posts").click()
        expect(page.get_by_role("heading", name="2 posts are in")).to_be_visible()
        undo(page)
        expect(page.get_by_role("status")).to_contain_text("The import is undone: 2 posts removed.")

    assert signed_in(server, chromium, visit) == (None, [])


def test_everything_works_without_javascript(
    server: Server, chromium: Chromium, sample: Path, tmp_path: Path
) -> None:
    def visit(page: Page) -> None:
        choose(page, server, sample)
        page.get_by_role("button", name="Bring in 2 posts").click()
        expect(page.get_by_role("heading", name="2 posts are in")).to_be_visible()

        page.goto(address(server, "/exports"))
        page.get_by_label("CSV").check()
        page.get_by_role("button", name="Make the file").click()
        with page.expect_download() as started:
            page.get_by_role("link", name="Download").click()
        started.value.save_as(tmp_path / "posts.csv")
        assert "<script>alert(1)</script>" in (tmp_path / "posts.csv").read_text(encoding="utf-8")

        page.goto(address(server, "/import"))
        row = page.get_by_role("row").filter(has_text=sample.name).first
        row.get_by_text("Undo", exact=False).first.click()
        row.get_by_role("button", name="Undo the import").click()
        page.wait_for_url("**/import?undone=*")

    signed_in(server, chromium, visit, java_script_enabled=False, accept_downloads=True)


def test_links_are_pasted_and_an_export_is_followed(server: Server, chromium: Chromium) -> None:
    def visit(page: Page) -> None:
        page.goto(address(server, "/import"))
        page.get_by_label("Links, up to 100").fill("https://x.com/ada/status/20\nnonsense")
        page.get_by_role("button", name="Save the links").click()
        expect(page.get_by_text("1 post saved, 1 is not a link to a post.")).to_be_visible()
        expect(page.get_by_label("Links, up to 100")).to_have_value("nonsense")

        page.goto(address(server, "/exports"))
        page.get_by_label("JSON").check()
        page.get_by_role("button", name="Make the file").click()
        # The script opens the page again once the file is there.
        expect(page.get_by_role("link", name="Download The whole library, JSON")).to_be_visible()

    assert signed_in(server, chromium, visit) == (None, [])


def test_a_file_of_60_mb_gets_a_page(server: Server, chromium: Chromium, tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(60_000_000)

    def visit(page: Page) -> None:
        page.goto(address(server, "/import"))
        page.get_by_label("Drop a file here, or choose it").set_input_files(large)
        page.get_by_role("button", name="Check the file").click()
        expect(page.get_by_text("The file is larger than 50 MB.")).to_be_visible()

    signed_in(server, chromium, visit)


def test_axe_finds_no_problem_and_the_browser_has_nothing_to_say(
    server: Server, chromium: Chromium, sample: Path
) -> None:
    def look(page: Page) -> list[str]:
        found = []
        for name in in_each_look(page):
            found += [f"{page.url} {name} {violation}" for violation in violations(page)]
            wide = page.evaluate("document.documentElement.scrollWidth")
            found += [f"{page.url} is {wide} wide"] if wide > page.evaluate("innerWidth") else []
        return found

    def visit(page: Page) -> list[str]:
        choose(page, server, sample)
        page.get_by_text("The row that is left out").click()
        found = look(page)
        page.get_by_role("button", name="Bring in 2 posts").click()
        expect(page.get_by_role("heading", name="2 posts are in")).to_be_visible()
        found += look(page)
        undo(page)
        found += look(page)
        page.goto(address(server, "/exports?author=ada&q=%3Cb%3E"))
        found += look(page)
        return found

    found = signed_in(server, chromium, visit, bypass_csp=True, reduced_motion="reduce")

    assert found == ([], [])
