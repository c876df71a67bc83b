"""How many posts a label batch may change, and how many posts an answer repeats."""

from typing import Any

import pytest

from bowerbird.requests import limits
from tests.support import make, writing
from tests.support.service import Member
from tests.support.writing import operation

pytestmark = pytest.mark.anyio


async def _saved(member: Member, count: int, **fields: Any) -> list[str]:
    records = [make.post(post_id=str(number), **fields) for number in range(1, count + 1)]
    await member.save_all(records)
    return [str(record["post_id"]) for record in records]


async def test_a_batch_with_too_many_posts_in_all_changes_nothing(alice: Member) -> None:
    ids = await _saved(alice, 3)
    many = [str(number) for number in range(1, 1_001)]
    before = await writing.version(alice)

    response = await writing.batch(
        alice,
        *[operation("add", f"label {index}", *many) for index in range(5)],
        operation("add", "one more", ids[0]),
    )

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert response.json()["error"] == (
        "operations: must have at most 5,000 posts in all, got 5,001; split the batch."
    )
    assert await writing.version(alice) == before
    assert await writing.labels(alice) == {}


async def test_repeated_ids_and_invalid_operations_do_not_fill_a_batch(alice: Member) -> None:
    await _saved(alice, 1)
    many = [str(number) for number in range(1, 1_001)]

    response = await writing.batch(
        alice,
        *[operation("add", "x", *many) for _ in range(4)],
        operation("add", "x", *["1"] * 1_000),
        operation("toggle", "x", *many),
        operation("add", "x", *many[:999]),
    )

    assert response.status_code == 207
    assert response.json()["data"]["succeeded"] == 6


async def test_a_batch_repeats_a_thousand_posts_and_names_the_others(alice: Member) -> None:
    ids = await _saved(alice, 600)

    response = await writing.batch(
        alice,
        operation("add", "x", *ids),
        operation("add", "y", *ids, "4711"),
        operation("remove", "x", *ids[:2]),
    )

    first, second, third = response.json()["data"]["results"]
    assert (first["affected"], second["affected"], third["affected"]) == (600, 600, 2)
    assert [post["post_id"] for post in first["data"]] == ids
    assert "further_ids" not in first
    assert second["data"] == [{"post_id": post_id, "tags": ["x", "y"]} for post_id in ids[:400]]
    assert (second["further_ids"], second["not_found"]) == (ids[400:], ["4711"])
    assert (third["data"], third["further_ids"]) == ([], ids[:2])
    assert await writing.labels(alice) == {"x": 598, "y": 600}
    assert await writing.recount(alice) == []


async def test_an_answer_stops_repeating_posts_whose_label_names_are_long(alice: Member) -> None:
    names = sorted(f"{index:02d}{'n' * 98}" for index in range(60))
    ids = await _saved(alice, 400, tags=names)

    response = await writing.add(alice, "x", *ids)

    answer = response.json()
    repeated = [post["post_id"] for post in answer["data"]]
    assert answer["meta"]["affected"] == 400
    assert [*repeated, *answer["meta"]["further_ids"]] == ids
    assert len(repeated) == -(-limits.ECHOED_NAMES_MAX // 6_001)
    assert len(response.content) < 1.1 * limits.ECHOED_NAMES_MAX
    assert all(post["tags"] == [*names, "x"] for post in answer["data"])
    assert (await writing.labels(alice))["x"] == 400
