"""Which readings of Japanese words a text has in the index."""

import pytest

from bowerbird.model.words import READING
from bowerbird.search.words import word_forms
from bowerbird.search.words.readings import READINGS, Readings
from bowerbird.search.words.tokens import MAX_UNCOUNTED_TOKENS, index_text

READ = Readings()
READ.are_indexed = True


def read(text: str, language: str = "") -> list[str]:
    return [token.removeprefix(READING) for token in READ.tokens_of([text], language)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("図書館です", ["としょ", "ずしょ", "としょかん", "ずしょかん"]),
        ("お茶を飲んだ", ["おちゃ", "のむ"]),
        ("美味しい食べ物", ["おいしい", "たべもの"]),
        ("猫が好き", ["ねこ", "すき"]),
        ("東京タワーへ", ["とうきょう", "とうきょうたわー"]),
        ("日本で", ["にっぽん", "にほん"]),
        # Its dictionary form is irregular.
        ("明日来ます", ["あす", "あした", "みょうにち", "くる"]),
        # After a number, kanji are read in other ways.
        ("10月のこと", []),
        # One kana tells nothing.
        ("目が、手は", []),
        ("ひらがなとカタカナ", []),
    ],
)
def test_words_in_kanji_have_readings(text: str, found: list[str]) -> None:
    assert [one for one in read(text) if one in found or not found] == found


def test_the_middle_of_a_word_and_words_of_two_lines_are_no_reading() -> None:
    assert not {"かん", "しょかん", "ねことうきょう"} & set(read("図書館の猫\n東京で"))


@pytest.mark.parametrize("text", ["北京市人民政府图书馆", "鲜の每日 新鮮", "東京都庁", "Tokyo"])
def test_only_japanese_texts_have_readings(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("東京の図書館", "としょかん"),
        ("东京の图书馆 新鮮", None),
        ("鲜の每日 新鮮", None),
        # Nothing shows that this is Chinese.
        ("台北の夜市 新鮮", "しんせん"),
        ("北京市人民政府图书馆", None),
    ],
)
def test_chinese_posts_with_a_japanese_particle_rarely_have_readings(
    text: str, reading: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(READINGS, "are_indexed", True)

    indexed = index_text([text]).split()

    assert (READING in "".join(indexed)) is (reading is not None)
    assert reading is None or READING + reading in indexed


def test_a_field_without_kana_has_them_beside_japanese_texts() -> None:
    assert "やまだ" in read("山田太郎", "ja")


def test_the_readings_of_a_long_text_are_bounded() -> None:
    for hostile in ("東" * 50_000, "日本大谷" * 20_000, "生まれ変わる" * 20_000):
        assert len(read(hostile, "ja")) < MAX_UNCOUNTED_TOKENS


def test_texts_have_no_readings_unless_the_operator_turns_them_on() -> None:
    assert READING not in index_text(["東京の猫"])


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("とうきょう", "とうきょう"),
        ("トウキョウ", "とうきょう"),
        ("ﾄｳｷｮｳ", "とうきょう"),
        ("コーヒー", "こーひー"),
        ("の", None),
        ("東きょう", None),
        ("とうきょうtower", None),
        ("あ" * 41, None),
    ],
)
def test_words_in_kana_ask_for_readings(typed: str, asked: str | None) -> None:
    forms = [form.tokens for form in word_forms.others_of(typed)]

    assert forms == ([] if asked is None else [(READING + asked,)])
