"""A device of an account in tests, and the pages that it captures. All posts are invented."""

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from bowerbird.library.accounts.tokens import Devices
from tests.sources.x import pages as shapes
from tests.support.service import Member, Service, SetClock, client_on

NOW = shapes.NOW
MINUTE = 60_000_000
DAY = 86_400_000_000
FIRST_ID = 2_094_000_000_000_000_000


@dataclass(frozen=True)
class Sender:
    """A device, or any other client of /ingest/v1."""

    client: httpx.AsyncClient
    member: Member

    @property
    def clock(self) -> SetClock:
        return self.member.clock

    async def post(self, path: str, body: Any = None, **options: Any) -> httpx.Response:
        return await self.client.post(f"/ingest/v1{path}", json=body, **options)

    async def get(self, path: str) -> httpx.Response:
        return await self.client.get(f"/ingest/v1{path}")

    async def start(self, kind: str = "full", **fields: Any) -> dict[str, Any]:
        self.member.clock.now += 1
        response = await self.post("/runs", {"source": "x", "kind": kind, **fields})
        assert response.status_code == 201, response.text
        started: dict[str, Any] = data(response)
        return started

    async def send(self, run_id: str, seq: int, body: dict[str, Any]) -> dict[str, Any]:
        response = await self.post(f"/runs/{run_id}/pages", {"seq": seq, **body})
        assert response.status_code == 200, response.text
        result: dict[str, Any] = data(response)
        return result

    async def read_list(
        self, kind: str, *numbered: list[int], reason: str = "end", **fields: Any
    ) -> dict[str, Any]:
        """A run over the whole list, one page for each list of numbers."""
        run_id = (await self.start(kind, **fields))["run_id"]
        for seq, numbers in enumerate(numbered):
            await self.send(run_id, seq, listed(numbers, seq, is_last=seq == len(numbered) - 1))
        return await self.finish(run_id, reason)

    async def finish(self, run_id: str, reason: str = "end", **fields: Any) -> dict[str, Any]:
        response = await self.post(f"/runs/{run_id}/finish", {"reason": reason, **fields})
        assert response.status_code == 200, response.text
        finished: dict[str, Any] = data(response)
        return finished

    async def removed(self) -> list[str]:
        """The posts that are recorded as removed at their source."""
        rows = await self.member.database.rows(
            "SELECT post_id FROM source_post WHERE account_id = :account_id"
            " AND removed_at IS NOT NULL ORDER BY post_id",
            {"account_id": self.member.account_id},
        )
        return [row[0] for row in rows]


async def device(service: Service, member: Member, name: str = "laptop") -> Sender:
    service.clock.now = NOW
    token = await Devices(service.database, service.clock).create(member.account_id, name)
    return sender(service, member, token)


def sender(service: Service, member: Member, token: str) -> Sender:
    client = client_on(service.app)
    client.headers["Authorization"] = f"Bearer {token}"
    return Sender(client, member)


def data(response: httpx.Response) -> Any:
    return response.json()["data"]


def post_id(number: int) -> str:
    return str(FIRST_ID + number)


def sort_index(number: int) -> int:
    """A higher number was saved later."""
    return (shapes.SAVED_AT_MS + number * 1000) << 20


def url(op: str = "Bookmarks", **variables: Any) -> str:
    return f"https://x.com/i/api/graphql/qid/{op}?variables={quote(json.dumps(variables))}"


def listed(numbers: list[int], seq: int = 0, *, is_last: bool = False) -> dict[str, Any]:
    """The page of the list after `seq` others, with these posts."""
    entries = [shapes.entry(shapes.tweet(post_id(n), f"Post {n}."), sort_index(n)) for n in numbers]
    if not is_last:
        entries.append(shapes.cursor(f"c{seq + 1}"))
    variables = {"cursor": f"c{seq}"} if seq else {}
    return captured(shapes.document(shapes.add_entries(*entries)), request_url=url(**variables))


def captured(payload: Any, **fields: Any) -> dict[str, Any]:
    return {"format": "x.graphql", "payload": payload, "request_url": url(), **fields}
