"""A tokenizer of some pieces finds what one of all pieces finds."""

import random
import tracemalloc
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from bowerbird.search.meaning.models import model_folder
from bowerbird.search.meaning.tokenizing import Tokenizing
from bowerbird.settings import Settings
from tests.search.test_index_tokens import TEXTS
from tests.search.test_second_embedding import CATS
from tests.support.models import MODEL_DIR

TEXT = "A post about the weather, kindergarten and Donaudampfschifffahrt."
ODD = (
    *("", " ", "\0", "a  b", "<s> </s> <unk> [SEP] extra_token_id_1", "ﬁ ½ \uff21\u0301 ｶﾞ"),
    *(
        "\u2581a",
        "😀😀🏳️‍🌈 x",
        "漢字かな" * 50,
        "ครับผม" * 40,
        "\x00\u200b a",
        "a" * 3_000,
        "word " * 200,
    ),
)


@cache
def _pair(pointer: str) -> tuple[Tokenizing, Tokenizer]:
    folder = model_folder(Settings(model_dir=MODEL_DIR))
    file = folder / (folder / pointer).read_text().strip() / "tokenizer.json"
    whole = Tokenizer.from_file(str(file))
    whole.no_truncation()
    whole.no_padding()
    return Tokenizing(file), whole


@pytest.mark.parametrize("pointer", ["current", "multilingual"])
@given(texts=st.lists(TEXTS | st.sampled_from([*ODD, *CATS, TEXT]), max_size=4))
def test_texts_have_the_tokens_of_the_whole_tokenizer(pointer: str, texts: list[str]) -> None:
    tokenizing, whole = _pair(pointer)

    together = tokenizing.tokens(texts)

    assert [tokenizing.first, tokenizing.last] == whole.encode("").ids
    for text, tokens in zip(texts, together, strict=True):
        expected = whole.encode(text, add_special_tokens=False)
        found = tokenizing.encode(text)
        assert list(tokens) == list(found.tokens) == expected.ids
        assert found.words == expected.word_ids
        assert found.offsets == expected.offsets


def test_a_long_text_without_spaces_takes_little_memory() -> None:
    tokenizing, _ = _pair("multilingual")
    chosen = random.Random("characters")  # noqa: S311 - no secret
    word = "".join(chr(chosen.randrange(0x4E00, 0x9FA6)) for _ in range(20_000))

    tracemalloc.start()
    tokenizing.tokens([word])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 5_000_000
