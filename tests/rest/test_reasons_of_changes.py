"""Changes by words: why each example of a dry run matches, and what `text_only` leaves out."""

from typing import Any

import pytest

from tests.support import make, writing
from tests.support.service import Member
from tests.support.toolcalls import call

pytestmark = pytest.mark.anyio
LINK = {"type": "link", "url": "https://example.com/a", "title": "Barn owls for beginners"}
IMAGE = {"type": "image", "url": "https://example.com/a.png", "alt_text": "An owl on a post"}
HEARD = "a barn owl was heard"


async def fill(member: Member) -> None:
    await member.save_all(
        [
            make.post(post_id="1", text=f"{'Long before the end, ' * 20}{HEARD} there."),
            make.post(post_id="2", text="Good morning", author="owl"),
            make.post(post_id="3", text="Read this", attachments=[LINK]),
            make.post(post_id="4", text="Look", attachments=[IMAGE]),
            make.post(post_id="5", text="Owls!"),
            make.post(post_id="6", text="Bread"),
            make.post(post_id="7", text="Nothing in it"),
        ]
    )
    label = {"tweet_ids": ["7"], "label_name": "Owls of mine"}
    assert (await writing.send(member, "POST", "/v1/labels/add", label)).status_code == 200


async def dry_run(member: Member, **filters: Any) -> dict[str, Any]:
    body = {"filter": filters, "dry_run": True}
    response = await writing.send(member, "POST", "/v1/bookmarks/delete", body)
    assert response.status_code == 200, response.text
    data: dict[str, Any] = response.json()["data"]
    return data


@pytest.mark.both
async def test_a_change_by_words_looks_at_the_texts_only(alice: Member) -> None:
    await fill(alice)

    dry = await dry_run(alice, q="owl")
    every = await dry_run(alice, q="owl", text_only=False)
    excluding = await dry_run(alice, q="owl -barn")
    either = await dry_run(alice, q="(bread OR owl) -morning")

    assert (dry["count"], dry["left_out"]) == (3, 3)
    assert (every["count"], every["left_out"]) == (6, 0)
    assert {one["tweet_id"] for one in excluding["examples"]} == {"5", "7"}
    assert either["count"] == 4
    body = {"filter": {"q": "owl"}, "expected_count": 6}
    refused = await writing.send(alice, "POST", "/v1/bookmarks/delete", body)
    assert refused.status_code == 409
    assert "3 more have the words only in names" in writing.sentence(refused)
    done = await writing.send(alice, "POST", "/v1/bookmarks/delete", {**body, "expected_count": 3})
    assert done.json()["data"]["changed"] == 3
    assert sorted(await alice.ids()) == ["2", "3", "4", "6"]


async def test_each_example_says_why_it_matches(alice: Member) -> None:
    await fill(alice)

    dry = await dry_run(alice, q="owl", text_only=False, hide_archived=False)
    why = {one["tweet_id"]: one["why"] for one in dry["examples"]}

    assert set(why) <= {"1", "2", "3", "4", "5", "7"}
    whys = await dry_run(alice, q="owl author:owl", text_only=False)
    assert whys["examples"][0]["why"] == "by name of the author"
    long = await dry_run(alice, q="heard")
    assert HEARD in long["examples"][0]["why"]
    title = await dry_run(alice, q="beginners", text_only=False)
    assert title["examples"][0]["why"] == "in the title of a link: Barn owls for beginners"
    image = await dry_run(alice, q='"on a post"', text_only=False)
    assert image["examples"][0]["why"] == "in the description of an image: An owl on a post"
    assert (await dry_run(alice, author="owl"))["examples"][0]["why"] is None


async def test_an_agent_sees_the_words_around_the_hit(alice: Member) -> None:
    await fill(alice)

    dry = await call(alice, "delete_bookmarks", filter={"query": "owl"}, dry_run=True)

    [first] = [one for one in dry["examples"] if one["post_id"] == "1"]
    assert HEARD in first["why"]
    assert "text" not in first
    assert "3 more have the words only in names" in dry["advice"]
