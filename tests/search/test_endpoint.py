"""Embeddings by a service that speaks OpenAI's protocol, on its good and its bad days."""

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import pytest

from bowerbird.errors import Code, Refusal
from bowerbird.search import endpoint
from bowerbird.search.arrays import np
from bowerbird.search.endpoint import Endpoint
from bowerbird.search.problems import Problem
from tests.support.embedding_service import WIDTH, EmbeddingService, embedding_service
from tests.support.waiting import until

pytestmark = pytest.mark.anyio


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    with embedding_service() as running:
        yield running


@pytest.fixture
async def model(service: EmbeddingService) -> AsyncIterator[Endpoint]:
    made = Endpoint(service.url, service.key, "tiny", pauses_s=(0.01, 0.01), fresh_s=0)
    yield made
    await made.close()


async def test_embeds_posts_in_their_order(model: Endpoint, service: EmbeddingService) -> None:
    rows = await model.posts(["red bird", "", "blue bird " * 300, "engine"])

    assert [len(matrix) for matrix in rows] == [1, 0, 4, 1]
    assert rows[0].shape == (1, WIDTH)
    assert np.allclose(np.linalg.norm(rows[2], axis=1), 1, atol=1e-5)
    assert service.asked[0]["model"] == "tiny"
    question = await model.question("red bird")
    assert question @ rows[0][0] > 0.999 > question @ rows[3][0]


async def test_many_texts_go_in_batches(model: Endpoint, service: EmbeddingService) -> None:
    await model.posts([f"text {n}" for n in range(70)])

    assert [len(asked["input"]) for asked in service.asked] == [32, 32, 6]


@pytest.mark.parametrize(
    "behaviour", ["down", "limited", "garbage", "empty", "zeroes", "words", "short"]
)
async def test_a_bad_day_is_told_and_tried_again(
    model: Endpoint, service: EmbeddingService, behaviour: str
) -> None:
    service.behave = behaviour

    with pytest.raises(Refusal, match="embedding service is not usable") as refused:
        await model.question("birds")

    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert refused.value.headers["Retry-After"] == "30"
    assert len(service.asked) == 3
    assert "embedding service" in str(model.problem)
    service.behave = "well"
    await model.question("birds")
    assert model.problem is None


async def test_a_short_absence_is_not_noticed(model: Endpoint, service: EmbeddingService) -> None:
    service.behave = "down"
    original = service.answer

    def recovering(body: dict[str, object], authorization: str | None) -> tuple[int, bytes]:
        answer = original(body, authorization)
        service.behave = "well"
        return answer

    service.answer = recovering  # type: ignore[method-assign] # the service's own mood

    assert len(await model.question("birds")) == WIDTH


async def test_slowness_ends(
    model: Endpoint, service: EmbeddingService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "_QUESTION_S", 0.1)
    service.behave = "slow"

    with pytest.raises(Refusal, match="no answer within"):
        await model.question("birds")


async def test_nobody_there_is_told(service: EmbeddingService) -> None:
    model = Endpoint("http://127.0.0.1:9/v1", "", "tiny", pauses_s=(0.01,))

    with pytest.raises(Refusal, match="cannot be reached"):
        await model.posts(["birds"])
    await model.close()
    assert service.asked == []


async def test_a_wrong_key_is_tried_once(service: EmbeddingService) -> None:
    model = Endpoint(service.url, "wrong", "tiny", pauses_s=(0.01, 0.01))

    with pytest.raises(Refusal, match="401; check its address, key and model"):
        await model.question("birds")
    assert len(service.asked) == 1
    await model.close()


async def test_a_text_that_is_too_long_is_shortened_alone(
    model: Endpoint, service: EmbeddingService
) -> None:
    service.longest = 300
    rows = await model.posts(["short one", "word " * 190, "short two"])

    assert [len(matrix) for matrix in rows] == [1, 1, 1]


async def test_what_is_refused_however_short_is_told(
    model: Endpoint, service: EmbeddingService
) -> None:
    service.longest = 0

    with pytest.raises(Refusal, match="it answers 400"):
        await model.posts(["a text"])


async def test_a_text_that_is_refused_holds_no_other_up(
    model: Endpoint, service: EmbeddingService
) -> None:
    service.refused = "poison"

    rows = await model.posts([*(f"fine {n}" for n in range(20)), "a poison " * 30, "last"])

    assert [len(matrix) for matrix in rows] == [*[1] * 20, 0, 1]
    assert model.problem is None


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_question_that_is_refused_is_told(
    model: Endpoint, service: EmbeddingService, status: int
) -> None:
    service.refused, service.status = "poison", status

    with pytest.raises(Refusal, match="does not take this text") as refused:
        await model.question("poison")

    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert model.problem is None
    service.longest = 0
    with pytest.raises(Refusal, match=f"it answers {status}"):
        await model.question("birds")
    assert model.problem is not None


async def test_a_question_that_is_too_long_is_shortened(
    model: Endpoint, service: EmbeddingService
) -> None:
    service.longest = 300

    assert len(await model.question("word " * 190)) == WIDTH


async def test_who_asks_right_after_a_failure_does_not_wait(service: EmbeddingService) -> None:
    model = Endpoint(service.url, service.key, "tiny", pauses_s=(0.01,), fresh_s=0.3)
    service.behave = "down"
    for _ in range(3):
        with pytest.raises(Refusal, match="it answers 503"):
            await model.question("birds")
    assert len(service.asked) == 2

    service.behave = "well"

    async def is_asked_again() -> bool:
        with suppress(Refusal):
            return len(await model.question("birds")) == WIDTH
        return False

    await until(is_asked_again)
    assert len(service.asked) == 3
    await model.close()


async def test_vectors_of_several_lengths_are_told(
    model: Endpoint, service: EmbeddingService
) -> None:
    original = service.answer

    def changing(body: dict[str, Any], authorization: str | None) -> tuple[int, bytes]:
        status, raw = original(body, authorization)
        return status, raw.replace(b"[0.01, ", b"[") if len(service.asked) > 1 else raw

    service.answer = changing  # type: ignore[method-assign] # another model behind it

    with pytest.raises(Refusal, match="not of one length"):
        await model.posts([f"red {n}" for n in range(40)])


async def test_a_problem_is_forgotten_after_a_while() -> None:
    problem = Problem(kept_s=0.05)
    problem.note("it is down")
    assert problem.text == "it is down"

    async def is_forgotten() -> bool:
        return problem.text is None

    assert await until(is_forgotten)


def test_the_address_may_be_written_either_way() -> None:
    one = Endpoint("http://localhost/v1/", "", "tiny")
    other = Endpoint("http://localhost/v1/embeddings", "", "tiny")

    assert one._url == other._url  # noqa: SLF001 - what they would ask
    assert one.identity == other.identity != Endpoint("http://localhost/v1", "", "large").identity
