"""Posts that an earlier release imported, nested more deeply than an import accepts today."""

from collections.abc import Sequence

import httpx
import msgspec
import pytest

from bowerbird.library.bookmarks.writing.upsert import Upsert
from bowerbird.library.labels.new_labels import NewLabels
from bowerbird.library.upkeep.checks import Checks
from bowerbird.model.posts.bookmarks import content_hash
from bowerbird.sources import own_json
from tests.support import exporting, make, toolcalls
from tests.support.imports import found, run
from tests.support.in_turn import in_turn
from tests.support.service import Service
from tests.test_introductions import completion, endpoint

pytestmark = pytest.mark.anyio

# An earlier release accepted as many levels as Python's stack allowed.
DEPTHS = (100, 900)
# Where little else is on the stack.
DEEPEST = 980


@pytest.fixture
def client(cast: Service) -> httpx.AsyncClient:
    """Without the check of answers, which would have to read the nested values."""
    headers = {"Authorization": f"Bearer {cast.alice.key}"}
    transport = httpx.ASGITransport(cast.app.asgi)
    return httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers)


@pytest.fixture
async def deep(cast: Service) -> list[str]:
    """The ids of posts that were stored without the bound."""
    return await _stored(cast, DEPTHS)


async def _stored(cast: Service, depths: Sequence[int]) -> list[str]:
    incoming = []
    for number, depth in enumerate(depths, 1):
        post = make.post(post_id=str(number), text=f"nest {depth}", article={"blocks": "DEEP"})
        read = own_json.read(make.raw(post))
        body = read.incoming.post_json.replace(b'"DEEP"', b"[" * depth + b"]" * depth)
        changed = {"post_json": body, "content_hash": content_hash(body)}
        incoming.append(msgspec.structs.replace(read.incoming, **changed))
    await Upsert(cast.database, cast.clock).take(await cast.alice.account(), incoming)
    return [each.post_id for each in incoming]


@in_turn(
    "query",
    ["", "q=nest", "q=nest&highlight=true", "q=nest&sort_by=relevance", "sort_by=posted_at"],
)
async def test_lists_answer(client: httpx.AsyncClient, deep: list[str], query: str) -> None:
    response = await client.get(f"/v1/bookmarks?{query}")

    assert response.status_code == 200
    assert response.text.count('"post_id"') == len(deep)


async def test_single_posts_answer(client: httpx.AsyncClient, deep: list[str]) -> None:
    for post_id in deep:
        assert (await client.get(f"/v1/bookmarks/{post_id}")).status_code == 200


@in_turn(
    ("tool", "arguments"),
    [
        ("list_bookmarks", {}),
        ("list_bookmarks", {"response_format": "detailed"}),
        ("search_bookmarks", {"query": "nest"}),
        ("get_bookmarks", {}),
    ],
)
async def test_tools_answer(
    client: httpx.AsyncClient, deep: list[str], tool: str, arguments: dict[str, str]
) -> None:
    ids = {"post_ids": deep} if tool == "get_bookmarks" else {}
    sent = toolcalls.message("tools/call", {"name": tool, "arguments": {**arguments, **ids}})

    response = await toolcalls.post(client, sent)

    assert response.status_code == 200
    assert "Internal error" not in response.text
    assert "nest 100" in response.text


async def test_a_post_can_be_read_as_a_resource(client: httpx.AsyncClient, deep: list[str]) -> None:
    for post_id in deep:
        sent = toolcalls.message("resources/read", {"uri": f"bookmark://{post_id}"})

        response = await toolcalls.post(client, sent)

        assert "result" in response.json(), response.text[:300]


@in_turn("format", ["json", "csv", "pdf"])
async def test_exports_complete(cast: Service, deep: list[str], format: str) -> None:
    job = await exporting.export(cast, cast.alice, format)

    assert job["progress"]["total"] == len(deep)


async def test_deleted_posts_can_be_restored(client: httpx.AsyncClient, deep: list[str]) -> None:
    for post_id in deep:
        deleted = await client.delete(f"/v1/bookmarks/{post_id}")
        restored = await client.post(f"/v1/bookmarks/{post_id}/restore")

        assert (deleted.status_code, restored.status_code) == (200, 200)


async def test_labels_are_suggested(cast: Service, client: httpx.AsyncClient) -> None:
    deep = await _stored(cast, (100, DEEPEST))
    await cast.alice.save(text="other", tags=["nest"])
    async with endpoint(completion('["new"]')) as chat:
        ideas = NewLabels(cast.database, chat.introductions(), cast.clock)
        for post_id in deep:
            suggested = await client.get(f"/v1/bookmarks/{post_id}/suggested_labels")
            assert suggested.status_code == 200
            assert await ideas.of_post(await cast.alice.account(), post_id) == ["new"]


async def test_labels_of_an_import_are_suggested(cast: Service, client: httpx.AsyncClient) -> None:
    run_id = await run(cast.alice, *[found(post_id=str(n + 1)) for n in range(2)])
    deep = await _stored(cast, (100, DEEPEST))
    await cast.alice.save(text="other", tags=["nest"])

    response = await client.get(f"/v1/imports/{run_id}/suggested_labels")

    assert response.status_code == 200
    assert response.json()["data"]["count"] == len(deep)


async def test_posts_get_vectors(cast: Service, deep: list[str]) -> None:
    assert await cast.alice.embed() == len(deep)


async def test_a_check_finds_no_problem_with_them(cast: Service, deep: list[str]) -> None:
    assert deep
    account = await cast.alice.account()

    found = await Checks(cast.database, fixes=False, is_deep=True).account(account, lambda _: None)

    assert found == []
