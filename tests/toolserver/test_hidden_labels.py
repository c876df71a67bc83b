"""Labels with hidden characters: a model sees them, and can change exactly the one it sees."""

import pytest

from tests.support import make
from tests.support.service import Member
from tests.support.toolcalls import call, refusal

pytestmark = pytest.mark.anyio

HIDDEN = "lab\U000e0069\U000e006eel"
SHOWN = r"lab\u{e0069}\u{e006e}el"


async def fill(member: Member) -> list[str]:
    posts = [make.post(tags=[HIDDEN], author="ada") for _ in range(3)]
    await member.save_all([*posts, make.post(tags=["label"])])
    return [post["post_id"] for post in posts]


async def test_two_labels_that_look_alike_are_told_apart(alice: Member) -> None:
    await fill(alice)

    listed = await call(alice, "list_labels")
    assert listed["labels"] == [{"label": "label", "count": 1}, {"label": SHOWN, "count": 3}]
    found = await call(alice, "list_bookmarks", label=SHOWN)
    assert (found["total_count"], found["bookmarks"][0]["labels"]) == (3, [SHOWN])
    facets = await call(alice, "facet_bookmarks", by="label")
    assert facets["facets"][0]["value"] == SHOWN
    assert (await call(alice, "count_bookmarks", label="label"))["count"] == 1


async def test_the_label_that_is_shown_can_be_changed(alice: Member) -> None:
    post_ids = await fill(alice)

    added = await call(alice, "add_label", label=SHOWN, post_ids=post_ids)
    assert added["affected"] == 0, "the posts have this label already"
    dry = await call(alice, "update_bookmarks", filter={"label": SHOWN}, is_read=True, dry_run=True)
    assert dry["count"] == 3
    merged = await call(alice, "merge_labels", **{"from": SHOWN, "into": "label"})
    assert merged["affected"] == 3
    assert (await call(alice, "list_labels"))["labels"] == [{"label": "label", "count": 4}]


async def test_a_hidden_label_can_be_renamed_or_deleted(alice: Member) -> None:
    await fill(alice)

    renamed = await call(alice, "update_label", label=SHOWN, new_name="clean")
    assert renamed == {"label": "clean", "count": 3}
    assert (await call(alice, "delete_label", label="clean"))["affected"] == 3


async def test_no_tool_creates_a_label_with_hidden_characters(alice: Member) -> None:
    post_ids = [(await alice.save())["post_id"]]

    assert "NOT_FOUND" in await refusal(alice, "add_label", label=HIDDEN, post_ids=post_ids)
    assert "hidden characters" in await refusal(
        alice, "save_bookmarks", links=["https://x.com/a/status/1"], labels=[HIDDEN]
    )
    operation = {"op": "add", "label": HIDDEN, "post_ids": post_ids}
    batch = await call(alice, "batch_label", operations=[operation])
    assert "hidden characters" in batch["results"][0]["error"]
    await call(alice, "add_label", label="label", post_ids=post_ids)
    assert "hidden characters" in await refusal(
        alice, "update_label", label="label", new_name=HIDDEN
    )
