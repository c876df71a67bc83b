"""The multilingual model: meaning across languages, and when it is needed."""

import pytest

from bowerbird.search.meaning.arrays import np
from bowerbird.search.meaning.embedding import Embedder
from bowerbird.search.meaning.models import Models, first_share, needs_second_model
from bowerbird.settings import Settings
from tests.support.models import MODEL_DIR, MODELS

pytestmark = pytest.mark.anyio

CATS = (
    *("The cat sleeps on the sofa.", "Die Katze schläft auf dem Sofa."),
    *("El gato duerme en el sofá.", "Le chat dort sur le canapé.", "القطة تنام على الأريكة"),
    *(
        "猫がソファで寝ている",
        "고양이가 소파에서 자고 있다",
        "Кошка спит на диване",
        "แมวนอนบนโซฟา",
    ),
)


@pytest.fixture
def second() -> Embedder:
    assert MODELS.second is not None
    return MODELS.second


async def test_a_sentence_is_near_its_translations(second: Embedder) -> None:
    rows = np.concatenate(await second.embed_posts([*CATS, "Interest rates rose again."]))

    similarity = rows[:-1] @ rows.T
    assert similarity[:, :-1].min() > 0.4
    assert similarity[:, -1].max() < 0.2


async def test_vectors_do_not_depend_on_the_other_texts_of_a_batch(second: Embedder) -> None:
    texts = [CATS[0], "word " * 100, "x"]
    together = np.concatenate(await second.embed_posts(texts))
    alone = np.concatenate([np.concatenate(await second.embed_posts([text])) for text in texts])

    assert (together * alone).sum(axis=1).min() > 0.99
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-3)


async def test_a_query_and_a_post_with_the_same_text_have_the_same_vector(second: Embedder) -> None:
    (rows,) = await second.embed_posts([CATS[1]])

    assert float(rows[0] @ await second.embed_query(CATS[1])) > 0.99


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud83d", "😀" * 50, "a" * 30_000, "\u202e"])
async def test_every_text_has_a_vector_or_no_rows(second: Embedder, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    (rows,) = await second.embed_posts([text])

    assert rows.shape[1] == 512
    assert len(rows) <= 8
    assert np.isfinite(rows).all()
    assert np.isfinite(await second.embed_query(text)).all()


def test_another_service_replaces_both_models() -> None:
    settings = Settings(model_dir=MODEL_DIR, embedding_url="http://localhost:9/v1")

    assert Models(settings).second is None


@pytest.mark.parametrize(
    ("text", "is_needed"),
    [
        ("The train was late, and it was raining.", False),
        ("Der Zug war zu spät, und es regnete.", True),
        ("El tren llegó tarde y la gente se fue a casa.", True),
        ("電車が遅れています", True),
        ("Поезд снова опоздал", True),
        ("https://example.org/ #python @someone", False),
        ("", False),
    ],
)
def test_posts_in_other_languages_need_the_second_model(text: str, *, is_needed: bool) -> None:
    assert needs_second_model(text) is is_needed


@pytest.mark.parametrize(
    ("query", "share"),
    [
        ("cats", 0.5),
        ("the birds that collect blue things", 0.5),
        ("der Vogel, der blaue Dinge sammelt", 0.5),
        ("Übergröße", 0.5),
        ("кошки", 0.3),
        ("node.js 教程", 0.5),
        ("教程", 0.3),
        ("2026", 0.5),
        ("", 0.5),
    ],
)
def test_the_script_of_a_query_decides_the_share_of_the_first_model(
    query: str, share: float
) -> None:
    assert first_share(query) == share
