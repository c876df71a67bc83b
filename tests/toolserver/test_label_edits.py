"""The tools that rename, colour, merge and delete labels."""

from typing import Any

import pytest

from tests.support import make, writing
from tests.support.in_turn import in_turn
from tests.support.service import Member
from tests.support.toolcalls import call, refusal
from tests.support.wishes import Wish

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


@in_turn(
    ("tool", "arguments", "sentence"),
    [
        (
            "merge_labels",
            {"from": "AI stuf", "into": "ai"},
            "NOT_FOUND: No label 'AI stuf' on this account. Did you mean 'AI stuff'?",
        ),
        ("merge_labels", {"from": "ai", "into": "AI"}, "INVALID_REQUEST: into: must be a diff"),
        ("merge_labels", {"from": "ai"}, "INVALID_REQUEST: into: is required"),
        ("delete_label", {"label": "cookery"}, "NOT_FOUND: No label 'cookery' on this account. D"),
        ("update_label", {"label": "ai"}, "INVALID_REQUEST: new_name: is required, unless color"),
        (
            "update_label",
            {"label": "ai", "new_name": "AI Stuff"},
            "INVALID_REQUEST: new_name: a label named 'AI Stuff' already exists. merge",
        ),
        ("update_label", {"label": "ai", "color": "red"}, "INVALID_REQUEST: color: must be one"),
    ],
)
async def test_the_error_says_what_to_change(
    alice: Member, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    await fill(alice)

    said = await refusal(alice, tool, **arguments)

    assert said.startswith(sentence), said
    assert await writing.labels(alice) == {"AI stuff": 4, "ai": 3}


@pytest.mark.parametrize("tool", ["update_label", "merge_labels", "delete_label"])
async def test_labels_need_a_paid_plan(free: Member, tool: str) -> None:
    assert (await refusal(free, tool, label=5)).startswith("SUBSCRIPTION_REQUIRED: ")
