"""The tools that rename, colour, merge and delete labels, also those with hidden characters."""

import pytest

from bowerbird.library.labels import label_list
from tests.support import make, writing
from tests.support.programs.wishes import Wish
from tests.support.service import Member
from tests.support.toolcalls import call, refusal

pytestmark = pytest.mark.anyio


async def fill(member: Member) -> None:
    await member.save_all(
        [make.post(post_id=str(n), tags=["AI stuff"] if n <= 4 else ["ai"]) for n in range(1, 8)]
    )


async def test_merge_ai_stuff_into_ai(alice: Member) -> None:
    await fill(alice)
    wish = Wish(alice)

    done = await wish.call("merge_labels", **{"from": "AI stuff", "into": "AI"})

    assert (done["affected"], done["state"]) == (4, "done")
    assert await writing.labels(alice) == {"ai": 7}
    wish.require_cheap()
    undone = await call(alice, "undo_change", change_id=done["change_id"])
    assert undone["affected"] == 4
    assert await writing.labels(alice) == {"AI stuff": 4, "ai": 3}


async def test_rename_and_colour_a_label(alice: Member) -> None:
    await fill(alice)

    renamed = await call(
        alice, "update_label", label="ai STUFF", new_name="Machine learning", color="moss"
    )
    noted = await call(alice, "update_label", label="ai", metadata={"why": "short"})

    for name in ("change_id", "undo_until"):
        assert renamed.pop(name)
        assert noted.pop(name)
    assert renamed == {"label": "Machine learning", "count": 4, "color": "moss"}
    assert noted == {"label": "ai", "count": 3}
    assert await writing.tags(alice, "1") == ["Machine learning"]


async def test_delete_a_label_and_keep_its_posts(alice: Member) -> None:
    await fill(alice)

    done = await call(alice, "delete_label", label="AI stuff")

    assert done["affected"] == 4
    assert await writing.labels(alice) == {"ai": 3}
    assert len(await alice.ids()) == 7
    await call(alice, "undo_change", change_id=done["change_id"])
    assert (await writing.labels(alice))["AI stuff"] == 4


HIDDEN = "lab\U000e0069\U000e006eel"
SHOWN = r"lab\u{e0069}\u{e006e}el"


async def fill_hidden(member: Member) -> list[str]:
    posts = [make.post(tags=[HIDDEN], author="ada") for _ in range(3)]
    await member.save_all([*posts, make.post(tags=["label"])])
    return [post["post_id"] for post in posts]


async def test_two_labels_that_look_alike_are_told_apart(alice: Member) -> None:
    await fill_hidden(alice)

    listed = await call(alice, "list_labels")
    assert listed["labels"] == [{"label": "label", "count": 1}, {"label": SHOWN, "count": 3}]
    found = await call(alice, "list_bookmarks", label=SHOWN)
    assert (found["total_count"], found["bookmarks"][0]["labels"]) == (3, [SHOWN])
    facets = await call(alice, "facet_bookmarks", by="label")
    assert facets["facets"][0]["value"] == SHOWN
    assert (await call(alice, "count_bookmarks", label="label"))["count"] == 1


async def test_the_label_that_is_shown_can_be_changed(alice: Member) -> None:
    post_ids = await fill_hidden(alice)

    added = await call(alice, "add_label", label=SHOWN, post_ids=post_ids)
    assert added["affected"] == 0, "the posts have this label already"
    dry = await call(alice, "update_bookmarks", filter={"label": SHOWN}, is_read=True, dry_run=True)
    assert dry["count"] == 3
    merged = await call(alice, "merge_labels", **{"from": SHOWN, "into": "label"})
    assert merged["affected"] == 3
    assert (await call(alice, "list_labels"))["labels"] == [{"label": "label", "count": 4}]


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


@pytest.mark.both
async def test_of_many_labels_the_most_used_ones_are_listed(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_list, "_FEW", 2)
    await alice.save(post_id="1", tags=["often", "sometimes"])
    await alice.save(post_id="2", tags=["often"])
    await writing.create_labels(alice, 3)

    listed = await call(alice, "list_labels")

    assert (listed["truncated"], listed["total_count"]) == (True, 5)
    assert listed["labels"] == [{"label": "often", "count": 2}, {"label": "sometimes", "count": 1}]
