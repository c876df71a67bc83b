"""SQLite and PostgreSQL return the same search results in the same order."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from bowerbird.settings import Settings
from bowerbird.storage.opening import open_database
from tests.support import make, service
from tests.support.service import Member

pytestmark = pytest.mark.anyio

TEXTS = (
    "A heron waits in the reeds",
    "Heron, heron, heron: three herons at the weir",
    "The weir was repaired; a heron watched, and so did we, for a long and quiet afternoon",
    "Caf\u00e9 cr\u00e8me at the OPERA, don\u2019t miss it",
    "昨日は東京タワーへ行きました。関東は晴れ",
    "京都のお寺と東京の夜",
    "ฉันชอบกินข้าวผัดมาก",
    "오늘 날씨가 좋습니다",
    "\u0645\u064f\u062d\u064e\u0645\u0651\u062f \u0623\u062d\u0645\u062f",
    "Die Stra\u00dfe ist gesperrt. \u00dcber M\u00fcnchen hinaus",
    "New #Python release: state-of-the-art, see https://example.com/a/b?c=1",
    "A python is a snake; #python is a language, python! python?",
    "We shipped it 🎉🎉 👍🏽 thanks @ada_l",
    "fast big cats are not big fast dogs",
    "L\u2019homme qu\u2019on aime; Apple\u2019s chip",
    "x" * 90 + " " + "y" * 90,
    "a b c d e f g",
)
QUERIES = (
    *("heron", "herons", "heron weir", "weir -heron", "!heron", '"heron watched"', "her*"),
    *("cafe", "CAFÉ creme", "dont", "東京", "東", "タワー", "京都 東京", "ข้าวผัด", "날씨가", "محمد"),
    *("strasse", "munchen", "#python", "python", "@ada_l", "ada_l", "🎉", "👍", "big fast"),
    *('"big fast"', '"fast big"', '"state of the art"', "state-of-the-art", "example.com"),
    *("homme", "apple", "python -#python", "py* -snake", "a", "a b", '"a b c"', "x*", "x" * 90),
    *('"', "-", "*", '""', "AND", "OR NOT NEAR", "heron AND", "(heron", "col:heron", "^heron"),
    *("heron NEAR/2 weir", "'; DROP TABLE bookmark", "\\", "%", "a:*", "!", "--heron", "&|!<->"),
    *("the the the the", "long and quiet", '"quiet afternoon" heron', "e\u0301", "ﬁ", "Ⅷ"),
)


LONG_QUESTIONS = (
    "which heron waits for a long and quiet afternoon in the reeds at the weir",
    "is python a snake or a language with a new release and state-of-the-art examples",
)


@pytest.fixture
async def both(
    tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[tuple[Member, Member]]:
    """Two accounts with the same posts, one on each database."""
    postgres = request.getfixturevalue("postgres")
    async with AsyncExitStack() as stack:
        url = stack.enter_context(postgres.fresh_database("migrated"))
        members = []
        for settings in (
            Settings(data_dir=tmp_path / "sqlite"),
            Settings(data_dir=tmp_path, database_url=url, postgres_connections=2),
        ):
            database = await open_database(settings)
            stack.push_async_callback(database.close)
            cast = await service.build(database)
            # Another account's posts must not affect the ranking.
            await cast.bob.save_all([make.post(text="heron python weir")] * 1)
            await cast.alice.save_all(posts())
            members.append(cast.alice)
        yield members[0], members[1]


def posts() -> list[dict[str, Any]]:
    made = [
        make.post(post_id=str(n + 1), text=text, sort_index=(n * 7) % 50, author="someone")
        for n, text in enumerate(TEXTS * 3)
    ]
    made[3]["is_read"] = True
    made[5]["is_archived"] = True
    made[7]["tweet_details"]["article"] = {"title": "Herons", "plain_text": "heron " * 400}
    made[9]["tweet_details"]["quoted_tweet"] = {"text": "quoted heron", "author_username": "weir"}
    return made


async def test_both_databases_return_the_same_results(both: tuple[Member, Member]) -> None:
    for q in QUERIES:
        asked = {"q": q, "limit": "100", "highlight": "true", "sort_by": "relevance"}
        answers = [await member.get("/v1/bookmarks", **asked) for member in both]
        shown = [
            [(post["post_id"], post.get("highlight")) for post in answer.json()["data"]]
            for answer in answers
        ]
        assert shown[0] == shown[1], q
        assert answers[0].json()["meta"]["total_count"] == answers[1].json()["meta"]["total_count"]


async def test_both_databases_order_long_questions_alike(both: tuple[Member, Member]) -> None:
    for question in LONG_QUESTIONS:
        shown = []
        for member in both:
            await member.embed()
            listed = await member.listed(q=question, vector_search_term=question, limit="100")
            by_words = await member.listed(q=question, sort_by="relevance", limit="100")
            shown.append(
                [[post["post_id"] for post in each["data"]] for each in (listed, by_words)]
            )
        assert shown[0] == shown[1], question
        assert min(map(len, shown[0])) > 1


async def test_the_best_match_comes_first(both: tuple[Member, Member]) -> None:
    for member in both:
        first, *_ = (await member.listed(q="heron", sort_by="relevance", is_unread_only="false"))[
            "data"
        ]
        assert first["tweet_details"]["text"].startswith("Heron, heron, heron")
