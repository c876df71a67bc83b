"""The service of the sign-in tests, for the pages of signed-in people."""

import re
from html import unescape
from pathlib import Path

import httpx
import pytest

from bowerbird.storage.database import Database
from tests.web.sign_in.conftest import House, build


@pytest.fixture
def house(database: Database, tmp_path: Path) -> House:
    return build(database, tmp_path)


def text_of(page: httpx.Response) -> str:
    """What a page says, without markup."""
    without_tags = re.sub(r"<[^>]+>", " ", page.text)
    return " ".join(unescape(without_tags).split())


def key_in(page: httpx.Response) -> str:
    found = re.search(r"bwr_[0-9A-Za-z]{47}", page.text)
    assert found, page.text
    return found[0]


def field_in(page: httpx.Response, name: str) -> list[str]:
    """The values of hidden fields."""
    return re.findall(rf'<input type="hidden" name="{name}" value="([^"]*)"', page.text)
