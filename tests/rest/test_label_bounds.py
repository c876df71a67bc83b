"""How many labels an account and a post can have."""

import pytest

from bowerbird.requests import limits
from tests.support import make, writing
from tests.support.service import Member
from tests.support.toolcalls import refusal

pytestmark = pytest.mark.anyio

FULL = [f"label {number:03}" for number in range(limits.POST_LABELS_MAX)]
POST_IS_FULL = "Post 1 already has 100 labels, which is the maximum."
ACCOUNT_IS_FULL = (
    "The account already has 10,000 labels, which is the maximum. Use one of them, or delete or "
    "merge some."
)


# Per post


async def test_a_post_can_have_100_labels(alice: Member) -> None:
    await alice.save(post_id="1", tags=FULL[:-1])

    added = await writing.add(alice, FULL[-1], "1")
    refused = await writing.add(alice, "one more", "1")

    assert added.status_code == 200
    assert writing.refused(refused) == (400, "INVALID_REQUEST")
    assert writing.sentence(refused) == POST_IS_FULL
    assert await writing.tags(alice, "1") == FULL
    assert "one more" not in await writing.labels(alice)


async def test_a_refused_label_is_added_to_no_other_post(alice: Member) -> None:
    await alice.save(post_id="1", tags=FULL)
    await alice.save(post_id="2")
    before = await writing.version(alice)

    response = await writing.add(alice, "one more", "2", "1")

    assert response.status_code == 400
    assert await writing.tags(alice, "2") is None
    assert await writing.version(alice) == before


async def test_a_label_that_a_full_post_has_is_no_addition(alice: Member) -> None:
    await alice.save(post_id="1", tags=FULL)

    response = await writing.add(alice, FULL[0].upper(), "1")

    assert response.status_code == 200
    assert response.json()["meta"]["affected"] == 0


async def test_an_operation_beyond_the_bound_fails_alone(alice: Member) -> None:
    await alice.save(post_id="1", tags=FULL)

    response = await writing.batch(
        alice,
        writing.operation("add", "one more", "1"),
        writing.operation("remove", FULL[0], "1"),
        writing.operation("add", "one more", "1"),
    )

    results = response.json()["data"]["results"]
    assert response.status_code == 207
    assert [one["ok"] for one in results] == [False, True, True]
    assert results[0]["error"]["message"] == f"operations[0]: {POST_IS_FULL}"
    assert await writing.recount(alice) == []


async def test_a_post_with_more_labels_keeps_them(alice: Member) -> None:
    names = [*FULL, "x", "y", "z"]
    await writing.save_unbounded(alice, "1", names)

    assert (await writing.add(alice, "one more", "1")).status_code == 400
    assert (await writing.add(alice, "x", "1")).status_code == 200
    assert (await writing.remove(alice, "x", "1")).status_code == 200
    path = f"/v1/labels/{await writing.label_id(alice, 'y')}"
    assert (await writing.send(alice, "PATCH", path, {"label_name": "yy"})).status_code == 200
    await writing.send(alice, "DELETE", "/v1/bookmarks/1")
    await writing.send(alice, "POST", "/v1/bookmarks/1/restore")

    assert await writing.tags(alice, "1") == [*FULL, "yy", "z"]
    assert await writing.recount(alice) == []


async def test_the_tool_refuses_another_label_too(alice: Member) -> None:
    await alice.save(post_id="1", tags=FULL)

    said = await refusal(alice, "add_label", post_ids=["1"], label_name="one more")

    assert POST_IS_FULL in said


# Per account


async def test_an_account_can_have_10000_labels(alice: Member, bob: Member) -> None:
    for member in (alice, bob):
        await member.save(post_id="1")
    await writing.create_labels(alice, limits.LABELS_MAX - 1)

    added = await writing.add(alice, "the last", "1")
    refused = await writing.add(alice, "one more", "1")
    existing = await writing.add(alice, "made 000007", "1")

    assert (added.status_code, existing.status_code) == (200, 200)
    assert writing.refused(refused) == (400, "INVALID_REQUEST")
    assert writing.sentence(refused) == ACCOUNT_IS_FULL
    assert await writing.tags(alice, "1") == ["made 000007", "the last"]
    assert (await writing.add(bob, "one more", "1")).status_code == 200


async def test_a_batch_creates_labels_up_to_the_bound(alice: Member) -> None:
    await alice.save(post_id="1")
    await writing.create_labels(alice, limits.LABELS_MAX - 2)

    response = await writing.batch(
        alice, *(writing.operation("add", name, "1") for name in ("a", "b", "c", "A"))
    )

    results = response.json()["data"]["results"]
    assert [one["ok"] for one in results] == [True, True, False, True]
    assert results[2]["error"]["message"] == f"operations[2]: {ACCOUNT_IS_FULL}"
    assert await writing.tags(alice, "1") == ["a", "b"]


# Imports


async def test_an_import_reports_labels_beyond_a_posts_bound(alice: Member) -> None:
    record = make.post(post_id="1", tags=[*FULL, "x", "y"])

    first = await alice.save_all([record])
    again = await alice.save_all([record])

    (left_out,) = first.left_out
    assert (left_out.post_id, left_out.names) == ("1", ["x", "y"])
    assert (first.new, again.unchanged, again.changed) == (1, 1, 0)
    assert again.left_out == first.left_out
    assert await writing.tags(alice, "1") == FULL
    assert "x" not in await writing.labels(alice)
    assert await writing.recount(alice) == []


async def test_an_import_keeps_the_labels_that_a_post_has(alice: Member) -> None:
    names = [*FULL, "x", "y"]
    await writing.save_unbounded(alice, "1", names)

    outcome = await alice.save_all([make.post(post_id="1", tags=[*names, "z"])])

    assert [(one.post_id, one.names) for one in outcome.left_out] == [("1", ["z"])]
    assert await writing.tags(alice, "1") == names


async def test_an_import_leaves_out_labels_beyond_the_accounts_bound(alice: Member) -> None:
    await writing.create_labels(alice, limits.LABELS_MAX - 1)

    outcome = await alice.save_all(
        [
            make.post(post_id="1", tags=["a", "b"]),
            make.post(post_id="2", tags=["a", "c", "made 000000"]),
        ]
    )

    assert [(one.post_id, one.names) for one in outcome.left_out] == [("1", ["b"]), ("2", ["c"])]
    assert await writing.tags(alice, "1") == ["a"]
    assert await writing.tags(alice, "2") == ["a", "made 000000"]
    assert await writing.recount(alice) == []
