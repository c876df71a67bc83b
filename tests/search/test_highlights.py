"""A highlight marks the words of a post that another form of a query's word matched."""

import random
import re
import time
from collections.abc import Callable
from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.model.words import Term, WordQuery
from bowerbird.search.queries.highlights import Highlighter, highlight
from bowerbird.search.queries.matching_pieces import MatchingPieces
from bowerbird.search.queries.query_language import parse
from bowerbird.search.queries.term_spans import TermSpans
from bowerbird.search.words.token_positions import tokens_with_positions
from bowerbird.search.words.tokens import words
from bowerbird.search.words.word_forms import others_of, own_word
from tests.search.test_index_tokens import TEXTS


def query(text: str) -> WordQuery:
    terms = [
        Term(own_word(word) or tuple(words(word)), forms=others_of(word)) for word in text.split()
    ]
    return WordQuery(tuple(term for term in terms if term.tokens))


@pytest.mark.parametrize(
    ("text", "searched", "marked"),
    [
        ("We use Node.js here", "nodejs", ["Node.js"]),
        ("We use NodeJS here", "node.js", ["NodeJS"]),
        ("Send an e-mail", "emails", ["e-mail"]),
        ("It costs 1,250,000 dollars", "1250000", ["1,250,000"]),
        ("Prendre l'avion", "lavion", ["l'avion"]),
        ("İstanbul'da güzel bir gün", "istanbul", ["İstanbul'da"]),
        ("Two herons were running", "heron run", ["herons", "running"]),
        ("The colours of OpenAI", "color open", ["colours", "Open"]),
        ("Die Häuser sind nicht alt", "Haus", ["Häuser"]),
        ("Müller and Mueller", "müller", ["Müller", "Mueller"]),
        ("Learning C++ and C# in C", "C++ C#", ["C++", "C#"]),
        ("오늘 날씨가 좋습니다", "날씨", ["날씨"]),
        ("한국어를 공부합니다", "한국어", ["한국어"]),
        ("ذهبت إلى المدرسة", "مدرسة", ["المدرسة"]),
        ("by @ada_lovelace today", "lovelace", ["@ada_lovelace"]),
        ("long " * 400 + "two herons", "heron", ["herons"]),
    ],
)
def test_marks_the_form_that_matched(text: str, searched: str, marked: list[str]) -> None:
    found = highlight([("text", text)], query(searched))

    assert found
    assert re.findall("<mark>(.*?)</mark>", found.html) == marked


def test_a_prefix_marks_joined_words() -> None:
    prefix = WordQuery((Term(("nodej",), is_prefix=True, forms=others_of("nodej*")),))

    found = highlight([("text", "We use Node.js")], prefix)

    assert found
    assert found.html == "We use <mark>Node.js</mark>"


@pytest.mark.parametrize(
    ("searched", "marked"),
    [
        ("heron OR owl", ["herons", "owl"]),
        ("(heron OR crow) water", ["herons", "water"]),
        ("water OR (owl -moved)", ["owl", "water"]),
        ("heron -(owl OR water)", ["herons"]),
    ],
)
def test_marks_the_words_of_alternatives(searched: str, marked: list[str]) -> None:
    found = highlight([("text", "Two herons near an owl in the water")], parse(searched))

    assert found
    assert re.findall("<mark>(.*?)</mark>", found.html) == marked


# The longest time for a page is about 100 ms of work on other forms, and 1 ms for each long post.
PAGE_S = 1.0
LONG: dict[str, Callable[[int], str]] = {
    "words": lambda number: "".join(f"the quiet bird{number}{n} sleeps. " for n in range(4_000)),
    "names": lambda number: "".join(f"Quiet{number}Bird{n} " for n in range(6_000)),
    "compounds": lambda number: "".join(f"x{n}-bird.{number}/y{n} " for n in range(5_000)),
    "letters": lambda number: "".join(f"пти{number}цы{n} летят " for n in range(4_000)),
    "one piece": lambda number: f"東{number}京大学" * 6_000,
}


@pytest.mark.parametrize("searched", ["plat*", "openAI gpt4", '"the writer"'])
@pytest.mark.parametrize("kind", LONG)
def test_a_page_of_long_posts_takes_a_limited_time(kind: str, searched: str) -> None:
    texts = [LONG[kind](number) for number in range(20)] * 5
    page = Highlighter(parse(searched), len(texts))

    started = time.thread_time()
    for text in texts:
        page.highlight([("text", text), ("author_details.name", "Ada, a writer")])

    assert time.thread_time() - started < PAGE_S


def test_each_of_many_short_fields_counts_although_its_words_are_known() -> None:
    page = Highlighter(parse('"heron crow"'), 2)
    fields = [("attachments.alt_text", "heron éa çb ñdd") for _ in range(500)]

    page.highlight(fields)
    once = page.cost
    page.highlight(fields)

    assert page.cost > 1.5 * once > 500


@pytest.mark.parametrize("letters", ["abcdefghijklmnop", "абвгдежзиклмноп"])
def test_a_page_of_short_posts_is_searched_for_every_form(letters: str) -> None:
    choose = random.Random(1).choices  # noqa: S311
    words = [" ".join("".join(choose(letters, k=6)) for _ in range(40)) for _ in range(100)]
    page = Highlighter(parse("heron birds"), len(words))

    found = [page.highlight([("text", f"Two herons, {text}, @BirdHouse")]) for text in words]

    assert all(found)


@pytest.mark.parametrize(
    ("posts", "length", "space"), [(20, 8_000, " "), (100, 2_000, " "), (20, 8_000, " é ")]
)
def test_a_page_of_long_posts_is_searched_for_a_word_without_other_forms(
    posts: int, length: int, space: str
) -> None:
    new_words = map("".join, product("abcdefghij", repeat=6))
    page = Highlighter(parse('"cafe"'), posts)

    texts = [space.join(islice(new_words, length)) for _ in range(posts)]
    found = [page.highlight([("text", f"{text} Café")]) for text in texts]

    assert all(one and "<mark>Café</mark>" in one.html for one in found)


@pytest.mark.parametrize(
    ("searched", "marked"),
    [
        ("heron", "heron"),
        ("hero*", "herons"),
        ('"a heron"', "a heron"),
        ("крачка", "КРАЧКА"),
        ("東京", "東京"),
        ("東京タワー", "東京タワー"),
        ("weir", None),
    ],
)
def test_a_page_without_time_left_marks_words_as_written(searched: str, marked: str | None) -> None:
    page = Highlighter(parse(searched), posts=1)
    for number in range(5):
        page.highlight([("text", LONG["names"](number))])

    text = f"weirs and herons {LONG['names'](9)} a heron, КРАЧКА 昨日は東京タワー"
    found = page.highlight([("text", text)])

    assert re.findall("<mark>(.*?)</mark>", found.html if found else "") == (
        [marked] if marked else []
    )


PIECES = st.sampled_from(
    [
        *("herons", "Heron's", "l'heron", "heron.", "(heron)", "#heron", "@heron_bird"),
        *("HERON-bird", "Node.js", "nodejs", "colours", "running", "Run!", "rock'n'roll"),
        *("separate", "the", "C++", "'heron'", "heron/crow", "x1y2", "heron,crow", "hérons"),
        *("날씨가", "東京", "\u00a0", "\n\n", "heron\u2026", "\u201cHeron\u201d", "(herons),"),
        *("Goethe.", ".NET", "L\u2019h\u00e9ron"),
        # Letters that become one letter only next to each other.
        *("\u1112\u1161", "\u09a4\u09c7\u09be", "\uff8a\uff9f\uff9d", "\u1025\u102e"),
    ]
)
LONG_TEXTS = st.lists(PIECES | TEXTS, min_size=1, max_size=60).map(" ".join)
QUERIES = st.sampled_from(
    [
        *("heron", "her*", "heron crow", '"the heron"', "#heron", "nodejs", "node.js color"),
        *("run", "rat", "C++", "날씨", "京", "heron OR running", "@heron*", "l'heron", "roll"),
        *("g\u00f6the", ".net", "\u1112*", "\u09a4\u09c7*", "\u30cf* heron", "\u1025 heron"),
    ]
)


@given(st.lists(LONG_TEXTS, min_size=1, max_size=4), QUERIES)
def test_pieces_looked_at_together_give_the_same_highlights_as_one_by_one(
    texts: list[str], searched: str
) -> None:
    together = Highlighter(parse(searched), len(texts))
    found = [together.highlight([("text", text * 4), ("note", text)]) for text in texts]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bowerbird.search.queries.matching_pieces._TOGETHER", 1)
        # Finds the positions of all words, as for a phrase.
        patch.setattr(TermSpans, "_can_search_by_piece", lambda *_: False)
        patch.setattr(TermSpans, "_positions", lambda _, text, __: tokens_with_positions(text))
        one_by_one = Highlighter(parse(searched), len(texts))
        expected = [one_by_one.highlight([("text", text * 4), ("note", text)]) for text in texts]

    assert found == expected


SPACED = st.text("ab \n\u00a0\u3000\x1c", max_size=60)


@given(SPACED, st.sets(st.integers(0, 30)))
def test_locates_every_piece_between_spaces(text: str, chosen: set[int]) -> None:
    pieces = {piece for number, piece in enumerate(text.split()) if number in chosen}

    found = MatchingPieces([], []).locate(pieces, text)

    expected = [(match.start(), match[0]) for match in re.finditer(r"\S+", text)]
    assert found == [(start, piece) for start, piece in expected if piece in pieces]
