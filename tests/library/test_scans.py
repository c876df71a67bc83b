"""Remembered scans follow changes of the stored vectors."""

import pytest

from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.search.meaning.arrays import np
from bowerbird.search.meaning.vectors import Matrix, Numbers
from bowerbird.storage.vectors import VectorStore
from tests.support import make
from tests.support.models import MODELS
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]

QUERY = "cats and other pets"


async def _near(meaning: SemanticSearch, member: Member) -> list[int]:
    account = await member.account()
    store = await meaning.serving(account)
    assert store is not None
    everything = Numbers(np.arange(1, 100))
    found = await meaning.nearness(account, store, QUERY, everything, is_cut=True)
    numbers: list[int] = found.numbers[found.scores >= found.floor].tolist()
    return numbers


async def _number(member: Member, post_id: str) -> int:
    number = await VectorStore(member.database).number_of(member.account_id, post_id)
    assert number is not None
    return number


@pytest.mark.parametrize("language", ["en", "de"])
async def test_a_post_embedded_after_a_query_is_found_by_the_same_query(
    alice: Member, language: str
) -> None:
    """In German, by both models."""
    other = {"en": "Interest rates rise again.", "de": "Die Zinsen steigen wieder und wieder."}
    kitten = {"en": "Our kitten sleeps.", "de": "Unsere kleine Katze schläft auf dem Sofa."}
    meaning = SemanticSearch(alice.database, MODELS)
    await alice.save_all([make.post(text=other[language])])
    await alice.embed()
    assert await _near(meaning, alice) == []
    post = make.post(text=kitten[language])
    await alice.save_all([post])
    await alice.embed()

    assert await _near(meaning, alice) == [await _number(alice, post["post_id"])]


@pytest.mark.parametrize("text", ["Interest rates rise.", "Die Zinsen steigen wieder und wieder."])
async def test_a_query_without_results_is_scanned_once(
    alice: Member, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its list asks again for hidden posts."""
    meaning = SemanticSearch(alice.database, MODELS)
    await alice.save_all([make.post(text=text)])
    await alice.embed()
    assert await _near(meaning, alice) == []

    def refuse(*_: object) -> None:
        raise AssertionError("scanned again")

    monkeypatch.setattr(Matrix, "map_blocks", refuse)

    assert await _near(meaning, alice) == []
