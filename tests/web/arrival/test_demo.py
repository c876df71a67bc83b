"""The demo on the website: filled in from the empty library, named, removed."""

import pytest

from tests.web.house import Reader, ids

pytestmark = pytest.mark.anyio
BANNER = "This is a demo"


async def test_the_demo_is_filled_in_named_and_removed(ann: Reader) -> None:
    empty = await ann.page("/library")
    assert "An empty bower" in empty
    assert BANNER not in empty

    filled = await ann.person.send("/library/demo", "/library")
    assert filled.headers["location"] == "/library?said=demo-filled"
    shown = await ann.page("/library?said=demo-filled")
    assert BANNER in shown
    assert "The demo is in." in shown
    # A page has 30 posts, and each of its threads is one row.
    assert len(ids(shown)) == 24
    assert "Long reads" in shown
    assert BANNER in await ann.page("/library?q=nothing-has-this")
    assert BANNER in await ann.page("/views/long-reads")

    removed = await ann.person.send("/library/demo/remove", "/library")
    assert removed.headers["location"] == "/library?said=demo-removed"
    assert "An empty bower" in await ann.page("/library?said=demo-removed")


async def test_own_posts_have_no_banner_and_no_demo(ann: Reader) -> None:
    await ann.member.save(post_id="7")
    assert BANNER not in await ann.page("/library")
    refused = await ann.person.send("/library/demo", "/library")
    assert refused.status_code == 400
    assert "for an empty library" in refused.text


async def test_the_demo_belongs_to_one_account(ann: Reader, bob: Reader) -> None:
    await ann.person.send("/library/demo", "/library")
    assert "An empty bower" in await bob.page("/library")
    await bob.person.send("/library/demo/remove", "/library")
    assert (await ann.member.account()).total == 42
