"""Suggested labels on the page of a post and in what the label picker asks for."""

import re

import pytest

from tests.support.saving import stored
from tests.web.house import Reader

pytestmark = pytest.mark.anyio


async def filled(reader: Reader, author: str = "ines") -> str:
    """The id of a post whose author has written four about databases."""
    for n in range(4):
        await reader.member.save(text=f"note {n}", author=author, tags=["databases"])
    return str((await reader.member.save(text="new", author=author))["post_id"])


def buttons(page: str) -> list[tuple[str, str]]:
    """The name and the reason of each suggested label."""
    return re.findall(r'class="sug" name="add" value="([^"]*)" title="([^"]*)"', page)


async def test_the_page_of_a_post_offers_labels_that_fit_it(ann: Reader) -> None:
    post_id = await filled(ann)

    page = await ann.page(f"/p/{post_id}")

    assert buttons(page) == [("databases", "like 4 by this author")]
    assert (await stored(ann.member, post_id))["tags"] is None


async def test_a_suggested_label_is_added_with_one_press_and_not_offered_again(ann: Reader) -> None:
    post_id = await filled(ann)

    await ann.person.send(
        "/library/label", f"/p/{post_id}", add="databases", post=post_id, back=f"/p/{post_id}"
    )

    assert (await stored(ann.member, post_id))["tags"] == ["databases"]
    assert buttons(await ann.page(f"/p/{post_id}")) == []


async def test_the_picker_gets_labels_for_a_post_while_nothing_is_typed(ann: Reader) -> None:
    post_id = await filled(ann)

    [label] = (await ann.person.open(f"/labels/matching?post={post_id}")).json()["suggested"]

    assert (label["name"], label["reason"]) == ("databases", "like 4 by this author")
    for query in (f"?post={post_id}&q=d", "?post=404", "?post=x", ""):
        assert (await ann.person.open(f"/labels/matching{query}")).json()["suggested"] == []


async def test_posts_of_others_and_hostile_names_are_harmless(ann: Reader, bob: Reader) -> None:
    theirs = await filled(bob, author="tomasz")
    await ann.member.save(text="mine", author="tomasz", tags=["cooking"])
    assert (await ann.person.open(f"/labels/matching?post={theirs}")).json()["suggested"] == []

    for n in range(4):
        await ann.member.save(text=f"note {n}", author="eve", tags=['"><script>'])
    page = await ann.page(f"/p/{(await ann.member.save(author='eve'))['post_id']}")
    assert 'class="sug"' in page
    assert '"><script>' not in page


async def test_a_free_account_gets_no_suggestion(ann: Reader) -> None:
    post_id = await filled(ann)
    await ann.member.set_plan("free")

    assert buttons(await ann.page(f"/p/{post_id}")) == []
    assert (await ann.person.open(f"/labels/matching?post={post_id}")).json()["suggested"] == []


async def test_a_suggested_label_is_refused_with_one_press(ann: Reader) -> None:
    post_id = await filled(ann)

    done = await ann.person.send(
        "/library/label", f"/p/{post_id}", refuse="databases", post=post_id, back=f"/p/{post_id}"
    )

    assert "said=label-refused" in done.headers["location"]
    assert buttons(await ann.page(f"/p/{post_id}")) == []
    assert (await ann.person.open(f"/labels/matching?post={post_id}")).json()["suggested"] == []
    assert (await stored(ann.member, post_id))["tags"] is None
