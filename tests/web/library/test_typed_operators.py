"""Every operator of a search, typed into the search box."""

from urllib.parse import urlencode

import pytest

from tests.support import writing
from tests.support.operators import QUERIES, fill
from tests.web.house import Reader, ids

pytestmark = pytest.mark.anyio


async def test_the_search_box_understands_every_operator(ann: Reader) -> None:
    names = await fill(ann.member)
    await ann.member.embed()
    wrong = {}
    for query, expected in QUERIES:
        asked = {"search": query, "by": "words", "is_unread_only": "false", "limit": "100"}
        address = f"/library?{urlencode({**asked, 'hide_archived': 'false'})}"
        found = {names[one] for one in ids(await ann.page(address))}
        if found != expected:
            wrong[query] = sorted(found ^ expected)
    assert wrong == {}


async def test_a_search_in_the_trash_leads_to_it(ann: Reader) -> None:
    kept = await ann.member.save(text="a red pen")
    for text in ("a blue pen", "a blue cap", "a red cap"):
        gone = await ann.member.save(text=text)
        await writing.send(ann.member, "DELETE", f"/v1/bookmarks/{gone['post_id']}")

    for by in ("words", "meaning", "both"):
        page = await ann.page(f"/library?{urlencode({'search': 'blue in:trash', 'by': by})}")
        assert ("a blue pen" in page, "a blue cap" in page) == (True, True)
        assert "a red" not in page
        all_of_it = await ann.page(f"/library?{urlencode({'search': 'in:trash', 'by': by})}")
        assert "a red cap" in all_of_it
        assert kept["post_id"] not in all_of_it
    # The trash understands it too, and a search that excludes it stays in the library.
    assert "a red cap" in await ann.page("/trash?q=in%3Atrash+red")
    assert ids(await ann.page("/library?search=red+-in%3Atrash&by=words")) == [kept["post_id"]]
