"""The language of a post: that of its script, its letters and its function words."""
# ruff: noqa: RUF001 - words of many scripts

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.search.words.languages import (
    language_of,
    language_of_texts,
    likely_languages,
    sure_language,
)
from bowerbird.search.words.stems import possible_stems, stem
from tests.search.test_index_tokens import TEXTS

TEXTS_BY_LANGUAGE = [
    ("en", "The heron stood in the water and did not move for an hour."),
    ("en", "New release: faster search, smaller index"),
    ("en", "Birds"),
    ("en", "Café society in the 1920s, by my favourite historian"),
    ("de", "Die Bücher sind alt, aber das Haus ist neu."),
    ("de", "Wir suchen noch Leute für den Umzug nach Köln"),
    ("fr", "Les oiseaux sont dans le jardin avec les enfants"),
    ("fr", "Nous avons pris l'avion pour Lyon, c'est très bien"),
    ("es", "Los libros de la biblioteca son muy antiguos"),
    ("es", "¿Cuándo abre el museo?"),
    ("pt", "Não há nada melhor do que um livro e um café na praia"),
    ("it", "Questa è la città dove sono nato e non la cambio con nessuna"),
    ("nl", "De boeken liggen op de tafel en het huis is groot"),
    ("sv", "Det är en bra dag och jag ska inte arbeta"),
    ("da", "Det er ikke nemt at være den mindste, men hvad så"),
    ("no", "Jeg har ikke lest boka ennå, men hva synes du om den etter dette"),
    ("fi", "Tämä on hyvä kirja mutta se ei ole uusi"),
    ("hu", "Ez egy nagyon szép könyv, de nem az enyém"),
    ("tr", "Bu kitap çok güzel ve ben onu her gün okuyorum"),
    ("pl", "To jest bardzo dobra książka, ale nie dla mnie"),
    ("cs", "To je velmi dobrá kniha, ale není pro mě"),
    ("ro", "Aceasta este o carte foarte bună și nu este scumpă"),
    ("id", "Buku ini sangat bagus dan saya tidak bisa berhenti membaca"),
    ("vi", "Không có gì quý hơn độc lập tự do"),
    ("ca", "Aquest llibre és molt bo però no és per a mi, amb tots els errors"),
    ("ru", "Мы читали книги о людях"),
    ("uk", "Ми читали книги про людей і їхні міста"),
    ("bg", "Това е книгата, която ще прочета със сигурност"),
    ("el", "Οι άνθρωποι και τα βιβλία"),
    ("ar", "ذهبت إلى المدرسة اليوم"),
    ("fa", "من کتاب‌ها را خواندم و پسندیدم"),
    ("ur", "یہ کتاب بہت اچھی ہے"),
    ("he", "הספר על השולחן"),
    ("hi", "मुझे किताबें पसंद हैं"),
    ("ne", "यो किताब राम्रो छ"),
    ("ta", "நான் புத்தகங்கள் படிக்கிறேன்"),
    ("th", "ฉันชอบกินข้าวผัดมาก"),
    ("ko", "오늘 날씨가 좋습니다"),
    ("ja", "昨日は東京タワーへ行きました"),
    ("ja", "新しいiPhoneを買った"),
    ("zh", "我们昨天去了北京"),
    ("en", "My trip to 東京 was great, and I will be back"),
    # Short sentences.
    ("nl", "Boeken in de bibliotheek"),
    ("nl", "De vogel verzamelt blauwe doppen"),
    ("fi", "Kirjastossa on paljon kirjoja"),
    ("fi", "Lintu kerää sinisiä pullonkorkkeja"),
    ("it", "I libri della biblioteca dell'arte"),
    ("es", "El pájaro recoge tapas azules"),
    ("pt", "O pássaro coleciona tampas azuis"),
    ("pl", "Ptak zbiera niebieskie nakrętki"),
    ("hu", "Könyvtárban olvastam könyveket"),
    ("de", "Der Vogel sammelt blaue Flaschendeckel"),
]


@pytest.mark.parametrize(("language", "text"), TEXTS_BY_LANGUAGE)
def test_finds_the_language_of_a_text(language: str, text: str) -> None:
    assert likely_languages(language_of(text))[0] == language


@pytest.mark.parametrize("text", ["Mint tea", "Die Hard", "Modern values", "Good thread, link"])
def test_a_few_words_without_accents_may_be_english(text: str) -> None:
    assert "en" in likely_languages(language_of(text))


@pytest.mark.parametrize("sign", ["#", "@"])
def test_handles_and_hashtags_do_not_show_the_language(sign: str) -> None:
    assert language_of(f"{sign}ada {sign}dan herons") == "en"


@given(TEXTS)
def test_every_text_has_a_language(text: str) -> None:
    found = likely_languages(language_of(text))

    assert 1 <= len(found) == len(set(found)) <= 2
    assert all(2 <= len(language) <= 3 and language.islower() for language in found)


@given(TEXTS, st.sampled_from([language for language, _ in TEXTS_BY_LANGUAGE]))
def test_the_stem_of_a_text_is_among_the_stems_of_a_query(text: str, language: str) -> None:
    for word in text.split():
        found = stem(word, language)
        assert found is None or found in possible_stems(word)


WORDS = st.sampled_from(
    [
        *("the", "of", "running", "heron", "der", "und", "Häuser", "nicht", "les", "était"),
        *("l'eau", "не", "города", "книги", "東京タワー", "大学", "กรุงเทพ", "المدرسة", "הבית"),
        *("날씨가", "#heron", "@ada_b", "don't", "ß", "e\u0301", "İ", "ΟΔΌΣ", "👍", "…", "—", "x"),
        "1,250",
    ]
)
SAMPLES = st.builds(
    lambda words, times: " ".join(words * times), st.lists(WORDS), st.integers(1, 40)
)


@given(st.lists(SAMPLES | st.text(max_size=700), max_size=4))
def test_finds_the_same_language_as_from_all_words(texts: list[str]) -> None:
    assert language_of_texts(texts) == language_of(" ".join([text[:600] for text in texts]))


@given(st.lists(st.sampled_from("abcé не東ü .'"), max_size=400).map("".join), st.integers(0, 300))
def test_mixed_scripts_are_weighed_in_the_same_way(text: str, letters: int) -> None:
    sample = f"{text} {'not' * letters}"

    assert language_of_texts([sample]) == language_of(sample[:600])


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["the herons of the lake are not here, and they will be back " * 20], "en"),
        (["Die Häuser sind nicht alt, und die Bücher auch nicht"], "de"),
        (["книги и города не читал " * 20, "the herons of the lake"], "ru"),
        ([], "en"),
    ],
)
def test_finds_the_language_of_usual_texts(texts: list[str], language: str) -> None:
    assert language_of_texts(texts) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The heron stood in the water and did not move.", "en"),
        ("Die Bücher sind alt, aber das Haus ist neu.", "de"),
        ("新しいiPhoneを買った", "ja"),
        # Nothing but a name, an address or a word of several languages shows no language.
        ("Thread 1/9", ""),
        ("https://example.com/the/way/it/is/and/was", ""),
        ("So good", ""),
        ("Asante sana kwa kila mtu aliyekuja leo nyumbani kwetu kwa chakula cha jioni", ""),
        ("", ""),
    ],
)
def test_a_language_is_sure_only_if_words_or_script_show_it(text: str, language: str) -> None:
    assert sure_language(text) == language
