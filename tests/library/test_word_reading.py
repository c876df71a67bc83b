"""What a library has of the words of a query."""

import msgspec
import pytest

from bowerbird.library.bookmarks.searching.label_words import LabelWords
from bowerbird.library.bookmarks.searching.word_reading import WordReading, words_of
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.search.queries import query_language
from bowerbird.search.queries.query_language import parse
from tests.support.programs.loop_time import least_loop_time
from tests.support.service import Member

pytestmark = pytest.mark.anyio

# Twelve letters of an alphabet with many of them: 900 words are one letter away from each.
NONSENSE = " ".join(
    "\u0431\u0432\u0433\u0434\u0436\u0437\u043a\u043b\u043c\u043d\u043f"[n:] * 2 for n in range(7)
)


async def test_misspelled_words_do_not_occupy_the_event_loop(alice: Member) -> None:
    await alice.save(text="heron")
    account, reading = await alice.account(), WordReading(alice.database)
    words = query_language.parse(NONSENSE)
    read = await reading.read(account, words)
    assert len(read.unknown) == 7

    assert await least_loop_time(lambda: reading.read(account, words)) < 0.02


@pytest.mark.parametrize("q", ["hero* weir* rive* lake*", "heron weir river lake"])
async def test_few_words_are_read_if_too_many_posts_may_have_them(alice: Member, q: str) -> None:
    """The counts do not say how many posts have a prefix, or a word in posts of an old form."""
    await alice.save(text="heron weir river lake")
    account, reading = await alice.account(), WordReading(alice.database)
    words = query_language.parse(q)
    assert len((await reading.read(account, words)).scores.words) == 4

    large = msgspec.structs.replace(account, total=10_000_000)
    assert len((await reading.read(large, words)).scores.words) == 1
    middle = msgspec.structs.replace(account, total=1_000_000)
    assert len((await reading.read(middle, words)).scores.words) == 4


async def test_the_words_as_typed_are_read_before_their_other_forms(alice: Member) -> None:
    await alice.save(text="colours harbours neighbours favourites")
    account, reading = await alice.account(), WordReading(alice.database)
    words = query_language.parse("colours harbours neighbours favourites")

    large = msgspec.structs.replace(account, total=1_000_000)
    read = await reading.read(large, words)

    assert len(read.scores.words) == 4
    assert read.unknown == ()


@pytest.mark.parametrize(
    ("q", "count"),
    [
        ("heron weir", 2),
        ("(heron OR weir) lake", 2),
        ("\u6771\u4eac\u30bf\u30ef\u30fc", 4),
        ("weir weir OR lake", 2),
    ],
)
async def test_alternatives_are_one_word(alice: Member, q: str, count: int) -> None:
    await alice.save(text="heron weir lake \u6771\u4eac\u30bf\u30ef\u30fc")

    read = await WordReading(alice.database).read(await alice.account(), query_language.parse(q))

    assert len(read.scores.words) == count


@pytest.mark.parametrize(
    ("q", "is_absent"),
    [
        ("heron weir", False),
        ("heron lake", True),
        ("herons -weir lake", True),
        ("heron weir river", True),
        # Other forms count, and a word that is only misspelled is in no post.
        ("herons weirs", False),
        ("heron wier", True),
        # Nothing is said of alternatives and of what is no word.
        ("heron (weir OR lake)", False),
        ("heron (lake OR heron)", False),
        ("heron is:read", False),
        ("pond heron", False),
        ("pond lake weir", True),
        # A run of a script without spaces goes on in the beginning of a word.
        ("\u65e5\u672c\u8a9ehero*", False),
        ("\u65e5\u672c\u8a9ehel*", True),
    ],
)
async def test_words_that_no_post_has_together_are_known(
    alice: Member, q: str, *, is_absent: bool
) -> None:
    await alice.save(text="heron weir")
    await alice.save(text="lake reed", tags=["pond"])
    await alice.save(text="\u65e5\u672c\u8a9eheron")
    account, words = await alice.account(), query_language.parse(q)
    labels = LabelWords(alice.database)
    resolved = await labels.resolved(account, BookmarkFilter(words=words))
    assert resolved.words is not None

    read = await WordReading(alice.database).read(account, resolved.words)

    assert read.is_absent is is_absent


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("How do I read the WHO report", ["read", "who", "report"]),
        ("the economy of the US", ["economy", "us"]),
        ("what is it", ["what", "is", "it"]),
        ('"what is" art', ["what is", "art"]),
        ("la* art", ["la", "art"]),
    ],
)
def test_stop_words_are_left_out_but_not_abbreviations(text: str, words: list[str]) -> None:
    assert [word.text for word in words_of(parse(text))] == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "Welche Versicherung zahlt, wenn das Dach undicht ist",
            ["versicherung", "zahlt", "dach", "undicht"],
        ),
        ("Πότε καταλήφθηκε το Μόντρεαλ;", ["καταληφθηκε", "μοντρεαλ"]),
        ("क्या सचिव हार्वर्ड गए", ["सचिव", "हार्वर्ड"]),
        # The language is taken for Nepali.
        ("बैठक कहाँ हो सकती है", ["बैठक", "सकती"]),
        ("肯尼亚以什么而闻名", ["肯尼", "尼亚", "亚以", "以什", "么而", "而闻", "闻名"]),
        # Their accents and their stop words show the language.
        ("Hangi rapor doğru tarihi içeriyordu?", ["rapor", "dogru", "tarihi", "iceriyordu"]),
        ("Wo lebten die britischen Siedler?", ["lebten", "britischen", "siedler"]),
        ("Ce studii arată localizarea", ["studii", "arata", "localizarea"]),
        # Romanian for "which".
        ("health care costs", ["health", "care", "costs"]),
        ("γιατί", ["γιατι"]),
    ],
)
def test_words_that_only_ask_do_not_rank_in_their_language(text: str, words: list[str]) -> None:
    assert [word.text for word in words_of(parse(text))] == words
