"""Imports and exports in a real browser: a real file, the check, the import, the undo."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support import make


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


def choose(page: Page, file: Path) -> None:
    page.goto("/import")
    page.get_by_label("Drop a file here, or choose it").set_input_files(file)
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_role("heading", name="Check before it is kept")).to_be_visible()


def undo(page: Page) -> None:
    page.locator("summary", has_text="Undo this import").click()
    page.get_by_role("button", name="Undo the import").click()
    page.wait_for_url("**/import?undone=*")


def test_a_file_is_checked_imported_and_undone(page: Page, sample: Path) -> None:
    choose(page, sample)
    expect(page.get_by_text("Nothing has been written yet.")).to_be_visible()
    expect(page.get_by_text(sample.name, exact=True)).to_be_visible()
    expect(page.get_by_role("row", name="Invalid")).to_be_visible()
    page.get_by_text("The row that is left out").click()
    expect(page.get_by_text("post_id: must be a string")).to_be_visible()
    page.get_by_role("button", name="Bring in 2 posts").click()
    expect(page.get_by_role("heading", name="2 posts are in")).to_be_visible()
    undo(page)
    expect(page.get_by_role("status")).to_contain_text("The import is undone: 2 posts removed.")


def test_links_are_pasted_and_an_export_is_followed(page: Page) -> None:
    page.goto("/import")
    page.get_by_label("Links, up to 100").fill("https://x.com/ada/status/20\nnonsense")
    page.get_by_role("button", name="Save the links").click()
    expect(page.get_by_text("1 post saved, 1 is not a link to a post.")).to_be_visible()
    expect(page.get_by_label("Links, up to 100")).to_have_value("nonsense")

    page.goto("/exports")
    page.get_by_label("JSON").check()
    page.get_by_role("button", name="Make the file").click()
    # The script opens the page again once the file is there.
    expect(page.get_by_role("link", name="Download The whole library, JSON")).to_be_visible()
