"""article is set if the saved post is or quotes a long-form article, whatever way it came."""

from typing import Any, Final

import pytest

from tests.support import make
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]

ARTICLE: Final = {"title": "How bowers are built", "plain_text": "Twigs first."}
QUOTED: Final = {"post_id": "77", "text": "My article", "article": ARTICLE}


async def _details(member: Member, post_id: str) -> dict[str, Any]:
    answer = (await member.get(f"/v1/bookmarks/{post_id}")).json()
    found: dict[str, Any] = answer["data"]["tweet_details"]
    return found


async def test_a_saved_post_that_quotes_an_article_has_it(alice: Member) -> None:
    post = {"post_id": "5", "tweet_details": {"text": "Read this", "quoted_tweet": QUOTED}}
    saved = await alice.client.post("/v1/bookmarks", json={"posts": [post]})
    assert saved.status_code == 200

    details = await _details(alice, "5")
    assert details["article"] == ARTICLE
    assert details["quoted_tweet"] == QUOTED
    assert await alice.ids(media_type="article") == ["5"]
    assert await alice.ids(media_type="text") == []


async def test_an_imported_post_that_quotes_an_article_has_it_and_gives_it_back(
    alice: Member, bob: Member
) -> None:
    await alice.save_all([make.post(post_id="5", quoted=QUOTED)])
    exported = (await alice.listed())["data"]

    assert exported[0]["tweet_details"]["article"] == ARTICLE
    await bob.save_all(exported)
    assert (await bob.listed())["data"] == exported
    assert (await alice.save_all(exported)).unchanged == 1


async def test_a_quote_that_comes_later_brings_its_article(alice: Member) -> None:
    post = {"post_id": "5", "tweet_details": {"text": "Read this"}}
    for details in (post["tweet_details"], {"text": "Read this", "quoted_tweet": QUOTED}):
        body = {"posts": [{**post, "tweet_details": details}]}
        assert (await alice.client.post("/v1/bookmarks", json=body)).status_code == 200

    assert (await _details(alice, "5"))["article"] == ARTICLE
    assert await alice.ids(media_type="article") == ["5"]


async def test_a_post_keeps_its_own_article(alice: Member) -> None:
    own = {"title": "Another"}
    await alice.save_all([make.post(post_id="5", article=own, quoted=QUOTED)])
    for n, quoted in enumerate(({"post_id": "7", "article": None}, {"post_id": "7"}, None)):
        await alice.save_all([make.post(post_id=f"{n + 6}", quoted=quoted)])
        assert (await _details(alice, f"{n + 6}"))["article"] is None

    assert (await _details(alice, "5"))["article"] == own
