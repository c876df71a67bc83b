"""The service works behind PgBouncer, as docs/scaling.md describes it."""

import asyncio
from pathlib import Path

import httpx
import pytest

from bowerbird.storage.postgres import schema
from tests.support import serving
from tests.support.engines import pooler
from tests.support.postgres import ThrowawayPostgres
from tests.support.waiting import until

pytestmark = pytest.mark.slow

CLIENTS = 12


@pytest.mark.parametrize(("mode", "named"), [("session", "on"), ("transaction", "off")])
def test_clients_share_the_connections_of_pgbouncer(tmp_path: Path, mode: str, named: str) -> None:
    with ThrowawayPostgres() as server:
        server.create_database(pooler.DATABASE)
        asyncio.run(schema.migrate(server.url(pooler.DATABASE)))
        with (
            pooler.pooler(server, mode) as url,
            serving.serving(tmp_path, database_url=url, postgres_named_statements=named) as node,
        ):
            asyncio.run(_save_and_find(f"http://127.0.0.1:{node.port}", node.new_key()))


async def _save_and_find(url: str, key: str) -> None:
    """At the same time, each client saves a post with a key and finds it by its word and label."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:

        async def work(number: int) -> None:
            text, link = f"heron number{number}", f"https://x.com/a/status/{number}"
            details = {"text": text, "link": link}
            post = {"post_id": str(9_000 + number), "tweet_details": details, "tags": ["birds"]}
            body, once = {"posts": [post]}, {"Idempotency-Key": f"key-{number}"}

            async def saved() -> list[httpx.Response]:
                """Nothing on a busy machine, where a write waits too long for those before it."""
                answer = await client.post("/v1/bookmarks", json=body, headers=once)
                return [] if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE else [answer]

            [first] = await until(saved)
            again = await client.post("/v1/bookmarks", json=body, headers=once)
            found = await client.get("/v1/bookmarks", params={"q": f"number{number}"})

            assert (first.status_code, again.content) == (200, first.content), first.text
            assert [one["post_id"] for one in found.json()["data"]] == [post["post_id"]]

        await asyncio.gather(*(work(number) for number in range(CLIENTS)))
        labelled = await client.get("/v1/bookmarks/count", params={"tag": "birds"})
        assert labelled.json()["data"]["count"] == CLIENTS
