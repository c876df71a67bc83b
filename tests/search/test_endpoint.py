"""Embedding with a service that speaks OpenAI's protocol, working and failing."""

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import pytest

from bowerbird.errors import Code, Refusal
from bowerbird.search.meaning import remote_embedding
from bowerbird.search.meaning.arrays import np
from bowerbird.search.meaning.embedding import Problem
from bowerbird.search.meaning.remote_embedding import RemoteEmbedder
from tests.support.hosts.embedding_service import WIDTH, EmbeddingService, embedding_service
from tests.support.waiting import until

pytestmark = pytest.mark.anyio


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    with embedding_service() as running:
        yield running


@pytest.fixture
async def model(service: EmbeddingService) -> AsyncIterator[RemoteEmbedder]:
    embedder = RemoteEmbedder(
        service.url, service.key, "tiny", retry_delays_s=(0.01, 0.01), cooldown_s=0
    )
    yield embedder
    await embedder.close()


async def test_embeds_posts_in_order(model: RemoteEmbedder, service: EmbeddingService) -> None:
    rows = await model.embed_posts(["red bird", "", "blue bird " * 300, "engine"])

    assert [len(matrix) for matrix in rows] == [1, 0, 4, 1]
    assert rows[0].shape == (1, WIDTH)
    assert np.allclose(np.linalg.norm(rows[2], axis=1), 1, atol=1e-5)
    assert service.asked[0]["model"] == "tiny"
    query = await model.embed_query("red bird")
    assert query @ rows[0][0] > 0.999 > query @ rows[3][0]


async def test_many_texts_go_in_batches(model: RemoteEmbedder, service: EmbeddingService) -> None:
    await model.embed_posts([f"text {n}" for n in range(70)])

    assert [len(request["input"]) for request in service.asked] == [32, 32, 6]


@pytest.mark.parametrize(
    "behaviour", ["down", "limited", "garbage", "empty", "zeroes", "words", "short"]
)
async def test_a_failing_service_is_retried_and_reported(
    model: RemoteEmbedder, service: EmbeddingService, behaviour: str
) -> None:
    service.behave = behaviour

    with pytest.raises(Refusal, match="embedding service is not usable") as refused:
        await model.embed_query("birds")

    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert refused.value.headers["Retry-After"] == "30"
    assert len(service.asked) == 3
    assert "embedding service" in str(model.problem)
    service.behave = "well"
    await model.embed_query("birds")
    assert model.problem is None


async def test_a_retry_hides_a_failure(model: RemoteEmbedder, service: EmbeddingService) -> None:
    service.behave = "down"
    original = service.answer

    def recovering(body: dict[str, object], authorization: str | None) -> tuple[int, bytes]:
        answer = original(body, authorization)
        service.behave = "well"
        return answer

    service.answer = recovering  # type: ignore[method-assign] # it recovers after one answer

    assert len(await model.embed_query("birds")) == WIDTH


async def test_a_slow_service_is_reported_after_the_time_limit(
    model: RemoteEmbedder, service: EmbeddingService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_embedding, "_QUERY_S", 0.1)
    service.behave = "slow"

    with pytest.raises(Refusal, match="it did not answer within"):
        await model.embed_query("birds")


async def test_an_unreachable_service_is_reported(service: EmbeddingService) -> None:
    model = RemoteEmbedder("http://127.0.0.1:9/v1", "", "tiny", retry_delays_s=(0.01,))

    with pytest.raises(Refusal, match="cannot be reached"):
        await model.embed_posts(["birds"])
    await model.close()
    assert service.asked == []


async def test_a_wrong_key_is_not_retried(service: EmbeddingService) -> None:
    model = RemoteEmbedder(service.url, "wrong", "tiny", retry_delays_s=(0.01, 0.01))

    with pytest.raises(Refusal, match="401; check its address, key and model"):
        await model.embed_query("birds")
    assert len(service.asked) == 1
    await model.close()


async def test_only_a_text_that_is_too_long_is_shortened(
    model: RemoteEmbedder, service: EmbeddingService
) -> None:
    service.longest = 300
    rows = await model.embed_posts(["short one", "word " * 190, "short two"])
    assert [len(matrix) for matrix in rows] == [1, 1, 1]
    assert len(await model.embed_query("word " * 190)) == WIDTH

    service.longest = 0
    with pytest.raises(Refusal, match="it returned status 400"):
        await model.embed_posts(["a text"])


async def test_a_rejected_text_does_not_affect_the_others(
    model: RemoteEmbedder, service: EmbeddingService
) -> None:
    service.refused = "poison"

    rows = await model.embed_posts([*(f"fine {n}" for n in range(20)), "a poison " * 30, "last"])

    assert [len(matrix) for matrix in rows] == [*[1] * 20, 0, 1]
    assert model.problem is None


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_rejected_query_is_reported(
    model: RemoteEmbedder, service: EmbeddingService, status: int
) -> None:
    service.refused, service.status = "poison", status

    with pytest.raises(Refusal, match="it rejected this text") as refused:
        await model.embed_query("poison")

    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert model.problem is None
    service.longest = 0
    with pytest.raises(Refusal, match=f"it returned status {status}"):
        await model.embed_query("birds")
    assert model.problem is not None


async def test_queries_right_after_a_failure_fail_at_once(service: EmbeddingService) -> None:
    model = RemoteEmbedder(service.url, service.key, "tiny", retry_delays_s=(0.01,), cooldown_s=0.3)
    service.behave = "down"
    for _ in range(3):
        with pytest.raises(Refusal, match="it returned status 503"):
            await model.embed_query("birds")
    assert len(service.asked) == 2

    service.behave = "well"

    async def is_asked_again() -> bool:
        with suppress(Refusal):
            return len(await model.embed_query("birds")) == WIDTH
        return False

    await until(is_asked_again)
    assert len(service.asked) == 3
    await model.close()


async def test_vectors_of_different_lengths_are_reported(
    model: RemoteEmbedder, service: EmbeddingService
) -> None:
    original = service.answer

    def changing(body: dict[str, Any], authorization: str | None) -> tuple[int, bytes]:
        status, raw = original(body, authorization)
        return status, raw.replace(b"[0.01, ", b"[") if len(service.asked) > 1 else raw

    service.answer = changing  # type: ignore[method-assign] # as if it switched models

    with pytest.raises(Refusal, match="its vectors have different lengths"):
        await model.embed_posts([f"red {n}" for n in range(40)])


async def test_a_problem_expires_after_a_while() -> None:
    problem = Problem(lifetime_s=0.05)
    problem.note("it is down")
    assert problem.text == "it is down"

    async def is_forgotten() -> bool:
        return problem.text is None

    assert await until(is_forgotten)


def test_the_address_may_end_with_v1_or_with_embeddings() -> None:
    one = RemoteEmbedder("http://localhost/v1/", "", "tiny")
    other = RemoteEmbedder("http://localhost/v1/embeddings", "", "tiny")

    assert one._url == other._url  # noqa: SLF001 - the address they would call
    assert (
        one.identity
        == other.identity
        != RemoteEmbedder("http://localhost/v1", "", "large").identity
    )
