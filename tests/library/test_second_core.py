"""A large import finds words in a second process."""

import io
import json
import multiprocessing

import pytest

from bowerbird.library.bookmarks.writing.bookmark_row import SearchableTexts
from bowerbird.library.imports.file_imports import FileImports, ImportOptions
from bowerbird.library.imports.second_core import SecondCore
from bowerbird.search.words.tokens import index_text
from tests.support import make
from tests.support.service import Member

pytestmark = pytest.mark.anyio

POSTS = 650
WORDS = {0: "zebra", 450: "quokka", POSTS - 1: "marmot"}


async def test_posts_whose_words_come_from_a_second_process_are_found(alice: Member) -> None:
    core = SecondCore(posts_before_start=0)
    try:
        importing = FileImports(
            alice.database,
            alice.clock,
            await alice.account(),
            ImportOptions(),
            second_core=core,
        )
        posts = [make.post(text=WORDS.get(number, "alike")) for number in range(POSTS)]
        report = await importing.read(io.BytesIO(json.dumps(posts).encode()), "posts.json", "test")
        await importing.finish("end")
    finally:
        core.close()

    assert report.new == POSTS
    for word in WORDS.values():
        (found,) = (await alice.get("/v1/bookmarks", q=word)).json()["data"]
        assert found["tweet_details"]["text"] == word


def test_an_import_goes_on_without_its_second_process() -> None:
    texts = SearchableTexts(["Plain words"], ["@ada"])
    core = SecondCore(posts_before_start=0)
    try:
        core.add([texts])
        assert core.words(texts) == index_text(*texts)
        (process,) = multiprocessing.active_children()
        process.kill()
        core.add([texts])

        assert core.words(texts) == index_text(*texts)
        assert core.words(SearchableTexts(["Others"], [])) == index_text(["Others"])
    finally:
        core.close()
