"""A search by meaning reads the state of the vector store once per request."""

from collections.abc import Sequence

import pytest

from bowerbird.storage.database import Row, Values
from tests.support import make
from tests.support.service import Member

pytestmark = pytest.mark.anyio


@pytest.fixture
async def reads(alice: Member, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The executed statements that read the state of alice's vector store."""
    await alice.save_all([make.post(text="a kitten"), make.post(text="a rocket")])
    await alice.embed()
    found: list[str] = []
    rows, sql = alice.database.rows, alice.database.queries("vectors")["stores"]

    async def recorded(statement: str, values: Values) -> Sequence[Row]:
        if statement == sql:
            found.append(statement)
        return await rows(statement, values)

    monkeypatch.setattr(alice.database, "rows", recorded)
    return found


@pytest.mark.parametrize("path", ["/v1/bookmarks", "/v1/bookmarks/count"])
async def test_a_request_reads_the_state_once(alice: Member, reads: list[str], path: str) -> None:
    response = await alice.client.get(path, params={"vector_search_term": "pets"})

    assert response.status_code == 200
    assert len(reads) == 1


async def test_listing_all_views_reads_the_state_once(alice: Member, reads: list[str]) -> None:
    for name in ("Cats", "Space"):
        body = {"name": name, "base_query": {"vector_search_term": name}}
        assert (await alice.client.post("/v1/views", json=body)).status_code == 201
    reads.clear()

    response = await alice.client.get("/v1/views")

    assert all(view["count"] for view in response.json()["data"])
    assert len(reads) == 1


async def test_a_keyword_search_does_not_read_the_state(alice: Member, reads: list[str]) -> None:
    assert len(await alice.ids(q="kitten")) == 1

    assert reads == []


async def test_a_question_by_words_reads_the_state_once_for_its_hint(
    alice: Member, reads: list[str]
) -> None:
    hint = (await alice.listed(q="which herons nest beside rivers"))["meta"]["hint"]

    assert "vector_search_term" in hint
    assert len(reads) == 1
