"""Somebody who has Smart Views."""

import re
from html import unescape
from typing import Any

from tests.support import writing
from tests.web.house import Reader


async def made(reader: Reader, name: str, **fields: Any) -> str:
    """The slug of a new view."""
    created = await writing.send(reader.member, "POST", "/v1/views", {"name": name, **fields})
    assert created.status_code == 201, created.text
    return str(created.json()["data"]["slug"])


async def views(reader: Reader) -> list[dict[str, Any]]:
    """The views as the API lists them."""
    return list((await reader.member.get("/v1/views")).json()["data"])


async def slugs(reader: Reader) -> list[str]:
    return [view["slug"] for view in await views(reader)]


def sidebar(page: str) -> list[tuple[str, str]]:
    """The names and counts of the views in the sidebar."""
    nav = page.partition('<nav class="side"')[2].partition("</nav>")[0]
    part = nav.partition("Smart Views</a>")[2].partition("<h2>")[0]
    found = re.findall(r'<bdi>([^<]+)</bdi></span>(?:<span class="count">([^<]*))?', part)
    return [(unescape(name), count) for name, count in found]
