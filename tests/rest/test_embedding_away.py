"""Responses while embedding is impossible: the model is missing or the service is down."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from bowerbird import app
from bowerbird.app import App
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.settings import Settings
from tests.support.embedding_service import EmbeddingService, embedding_service
from tests.support.models import ignore
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    with embedding_service() as running:
        yield running


@pytest.fixture
async def remote(
    cast: Service, service: EmbeddingService, tmp_path: Path
) -> AsyncIterator[tuple[App, Member]]:
    """An instance that uses the embedding service, and alice as its client."""
    settings = Settings(
        data_dir=tmp_path,
        embedding_url=service.url,
        embedding_key=service.key,
        embedding_model="tiny",
    )
    built = app.build(settings, cast.database, cast.clock)
    alice = cast.alice.on(built)
    yield built, alice
    await alice.client.aclose()
    await built.models.close()


async def _embed(built: App, member: Member) -> None:
    builds = VectorBuilds(member.database, built.models, member.clock)
    await builds.build(member.account_id, ignore)


async def _vectors(member: Member) -> dict[str, Any]:
    shown: dict[str, Any] = (await member.get("/v1/account")).json()["data"]["vector_store"]
    return shown


async def test_an_embedding_service_replaces_the_local_model(
    remote: tuple[App, Member], service: EmbeddingService
) -> None:
    built, alice = remote
    red = await alice.save(text="red bird", author="", name="")
    await alice.save(text="green frog", author="", name="")
    await _embed(built, alice)

    assert (await alice.ids(vector_search_term="red"))[0] == red["post_id"]
    assert (await _vectors(alice))["model"] == "tiny"
    assert service.asked


async def test_search_by_meaning_returns_503_while_the_service_is_down_and_the_rest_works(
    remote: tuple[App, Member], service: EmbeddingService
) -> None:
    built, alice = remote
    await alice.save(text="red bird")
    await _embed(built, alice)
    known = await alice.ids(vector_search_term="bird")
    service.key = "changed"

    response = await alice.get("/v1/bookmarks", vector_search_term="red")

    assert response.status_code == 503
    assert response.json()["code"] == "SERVICE_UNAVAILABLE"
    assert "the embedding service is not usable" in response.json()["error"]
    assert response.headers["retry-after"] == "30"
    assert (await _vectors(alice))["state"] == "unavailable"
    assert "embedding service" in (await _vectors(alice))["problem"]
    # Requests that need no new embedding still work.
    assert await alice.ids(vector_search_term="bird") == known
    count = await alice.get("/v1/bookmarks/count", vector_search_term="bird")
    assert count.json()["data"]["count"] == len(known)
    assert (await alice.get("/v1/bookmarks/count", vector_search_term="x")).status_code == 503
    assert len(await alice.ids(q="bird")) == 1
    service.key = "sesame"
    assert len(await alice.ids(vector_search_term="red")) == 1
    assert (await _vectors(alice))["state"] == "ready"


async def test_a_search_the_service_rejects_returns_503_and_does_not_affect_others(
    remote: tuple[App, Member], service: EmbeddingService
) -> None:
    built, alice = remote
    await alice.save(text="red bird")
    await _embed(built, alice)
    service.refused = "poison"

    response = await alice.get("/v1/bookmarks", vector_search_term="poison")

    assert response.status_code == 503
    assert "it rejected this text" in response.json()["error"]
    assert (await _vectors(alice))["state"] == "ready"


async def test_a_change_in_the_vector_length_of_the_service_is_reported(
    remote: tuple[App, Member], service: EmbeddingService
) -> None:
    built, alice = remote
    await alice.save(text="red bird")
    await _embed(built, alice)
    original = service.answer

    def shorter(body: dict[str, Any], authorization: str | None) -> tuple[int, bytes]:
        status, raw = original(body, authorization)
        return status, raw.replace(b"[0.01, ", b"[")

    service.answer = shorter  # type: ignore[method-assign] # simulates a different model

    response = await alice.get("/v1/bookmarks", vector_search_term="zebra")

    assert response.status_code == 503
    assert "vectors of 23 numbers, but 24 are stored." in response.json()["error"]


async def test_a_build_without_a_model_says_why_it_is_stuck(cast: Service, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, model_dir=str(tmp_path / "none"))
    alice = cast.alice.on(app.build(settings, cast.database, cast.clock))
    await alice.save(text="red bird")

    response = await alice.get("/v1/bookmarks", vector_search_term="red")

    assert response.status_code == 402
    assert "0 of 1 posts (the embedding model is not installed" in response.json()["error"]
    assert (await _vectors(alice))["state"] == "unavailable"
    await cast.alice.embed()
    built = await alice.get("/v1/bookmarks", vector_search_term="red")
    assert built.status_code == 503
    assert "bowerbird model" in built.json()["error"]
    await alice.client.aclose()
