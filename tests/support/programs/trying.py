"""A client of the sandbox, and the sample posts that it expects."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

import bowerbird
from bowerbird import app
from bowerbird.app import App
from bowerbird.images import hosts
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.web import templating
from tests.support.service import CheckedTransport, SetClock

FOLDER = Path(bowerbird.__file__).parent / "fixtures"
EVERYTHING = {"is_unread_only": "false", "hide_archived": "false"}


def posts() -> list[dict[str, Any]]:
    """As the sandbox of a service with the default settings has them, with its own pictures."""
    text = (FOLDER / "posts.json").read_text(encoding="utf-8")
    for address, drawing in hosts.drawings_by_url().items():
        place = Settings().site_origin + templating.paths()[drawing.file]
        text = text.replace(f'"{address}"', f'"{place}"')
    read: list[dict[str, Any]] = json.loads(text)
    return read


def labels() -> dict[str, Any]:
    """Label name -> metadata."""
    read: dict[str, Any] = _read("labels")
    return read


def views() -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = _read("views")
    return read


def _read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Visitor:
    app: App
    client: httpx.AsyncClient
    clock: SetClock

    async def get(self, path: str, **params: Any) -> httpx.Response:
        return await self.client.get(f"/v1/sandbox{path}", params=params or None)

    async def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return await self.client.post(f"/v1/sandbox{path}", json=body, headers=headers)

    async def read(self, path: str, **params: Any) -> dict[str, Any]:
        response = await self.get(path, **params)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    async def ids(self, path: str = "/bookmarks", **params: Any) -> list[str]:
        return [bookmark["post_id"] for bookmark in (await self.read(path, **params))["data"]]

    async def crawl(self, path: str = "/bookmarks", **params: Any) -> list[str]:
        """The post ids on all pages of a list."""
        seen: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            answer = await self.read(path, **params, cursor=cursor)
            seen += [bookmark["post_id"] for bookmark in answer["data"]]
            cursor = answer["meta"]["next_cursor"]
        return seen

    async def everything(self) -> list[bytes]:
        """All lists of the sandbox, to check that nothing has changed."""
        paths = (
            "/bookmarks?is_unread_only=false&hide_archived=false&limit=100",
            "/labels",
            "/views",
        )
        return [(await self.get(path)).content for path in paths]


def visitor(database: Database, **settings: Any) -> Visitor:
    clock = SetClock()
    built = app.build(Settings(**settings), database, clock)
    client = httpx.AsyncClient(transport=CheckedTransport(built.asgi), base_url="http://test")
    return Visitor(built, client, clock)
