"""Somebody with a library, who uses the website and the API."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest

from bowerbird.library.accounts.keys import Keys
from bowerbird.storage.database import Database
from tests.support import service, serving
from tests.support.service import Member
from tests.support.serving import Server
from tests.support.visiting import Visitor
from tests.web.library.browsing import MORE, older_post
from tests.web.library_posts import POSTS
from tests.web.sessions import signed_in_state
from tests.web.sign_in.conftest import House, build


@dataclass
class Reader:
    """A person who is signed in, with the key of the same account."""

    person: Visitor
    member: Member
    house: House

    async def page(self, path: str) -> str:
        shown = await self.person.open(path)
        assert shown.status_code == 200, shown.text
        return shown.text

    async def change(self, page: str, **fields: Any) -> httpx.Response:
        """Presses a button on a post of a page."""
        return await self.person.send("/library/change", page, back=page, **fields)


class _Ids(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        value = dict(attrs).get("id") or ""
        if tag == "li" and value.startswith("p-"):
            self.found.append(value.removeprefix("p-"))


def ids(page: str) -> list[str]:
    """The ids of the posts that a page lists."""
    parser = _Ids()
    parser.feed(page)
    return parser.found


@pytest.fixture
def house(database: Database, tmp_path: Path) -> House:
    return build(database, tmp_path)


async def signed_in(house: House, email: str, plan: str = "pro") -> Reader:
    account_id = await house.accounts.create(email, plan)
    person = house.somebody()
    await house.enter(person, await house.links.create_for(account_id))
    key = (await Keys(house.database, house.clock).create(account_id, "tests")).text
    client = service.client_on(house.service)
    client.headers["Authorization"] = f"Bearer {key}"
    return Reader(person, Member(house.database, account_id, key, client, house.clock), house)


@pytest.fixture
async def ann(house: House) -> AsyncIterator[Reader]:
    reader = await signed_in(house, "ann@example.com")
    yield reader
    await reader.member.client.aclose()


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the posts of the design and several hundred older ones."""
    folder = tmp_path_factory.mktemp("keys")
    file = folder / "posts.json"
    file.write_text(json.dumps([*POSTS, *(older_post(number) for number in range(MORE))]))
    with serving.serving(folder) as running:
        running.run("account", "create", "me@example.com")
        running.run("import", "me@example.com", str(file))
        yield running


@pytest.fixture(scope="session")
def many_state(many: Server) -> Any:
    return signed_in_state(many)
