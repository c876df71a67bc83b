"""POST /v1/labels/batch."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import writing
from tests.support.service import Member
from tests.support.watched_writes import WatchedWrites
from tests.support.writing import operation

pytestmark = pytest.mark.anyio


async def test_a_batch_that_succeeds_completely_is_200(alice: Member) -> None:
    await alice.save(post_id="1", tags=["old"])
    await alice.save(post_id="2")

    response = await writing.batch(
        alice, operation("add", "x", "1", "2"), operation("remove", "old", "1")
    )

    assert response.status_code == 200
    assert writing.without_change(response) == {
        "status": True,
        "data": {
            "results": [
                {
                    "index": 0,
                    "op": "add",
                    "ok": True,
                    "affected": 2,
                    "data": [
                        {"post_id": "1", "tags": ["old", "x"]},
                        {"post_id": "2", "tags": ["x"]},
                    ],
                },
                {
                    "index": 1,
                    "op": "remove",
                    "ok": True,
                    "affected": 1,
                    "data": [{"post_id": "1", "tags": ["x"]}],
                },
            ],
            "succeeded": 2,
            "failed": 0,
        },
        "meta": {"message": "All 2 operations succeeded."},
    }
    assert await writing.labels(alice) == {"old": 0, "x": 2}


async def test_a_partly_failed_batch_is_207_and_counts_the_failures(alice: Member) -> None:
    await alice.save(post_id="1")

    response = await writing.batch(
        alice,
        {"op": "add", "tweet_ids": ["1"]},
        operation("add", "x", "1"),
        operation("remove", "nothing", "1"),
    )

    body = response.json()
    assert response.status_code == 207
    assert body["status"] is True
    assert body["meta"]["message"] == "2 of 3 operations failed."
    assert (body["data"]["succeeded"], body["data"]["failed"]) == (1, 2)
    assert [result["index"] for result in body["data"]["results"]] == [0, 1, 2]
    assert [result["ok"] for result in body["data"]["results"]] == [False, True, False]
    assert body["data"]["results"][0] == {
        "index": 0,
        "op": "add",
        "ok": False,
        "error": {"code": "INVALID_REQUEST", "message": "operations[0].label_name: is required."},
    }
    assert body["data"]["results"][2]["error"] == {
        "code": "NOT_FOUND",
        "message": "operations[2]: No label 'nothing' on this account.",
    }
    assert await writing.labels(alice) == {"x": 1}


MALFORMED: list[tuple[Any, str, str]] = [
    (None, "unknown", "operations[0]: "),
    ("add", "unknown", "operations[0]: "),
    (7, "unknown", "operations[0]: "),
    ([], "unknown", "operations[0]: "),
    ({}, "unknown", "operations[0].op: "),
    ({"op": None}, "unknown", "operations[0].op: "),
    ({"op": 7, "tweet_ids": ["1"], "label_name": "x"}, "unknown", "operations[0].op: "),
    (operation("toggle", "x", "1"), "toggle", "operations[0].op: "),
    (operation("ADD", "x", "1"), "ADD", "operations[0].op: "),
    ({"op": "add"}, "add", "operations[0].tweet_ids: "),
    (operation("add", "x"), "add", "operations[0].tweet_ids: "),
    (operation("add", "x", *["1"] * 1_001), "add", "operations[0].tweet_ids: "),
    (operation("remove", "x", "1", 1), "remove", "operations[0].tweet_ids[1]: "),
    (operation("add", "x", ""), "add", "operations[0].tweet_ids[0]: "),
    (operation("add", 7, "1"), "add", "operations[0].label_name: "),
    (operation("add", "x" * 101, "1"), "add", "operations[0].label_name: "),
    (operation("remove", " ", "1"), "remove", "operations[0].label_name: "),
]


async def test_a_malformed_operation_fails_alone(alice: Member) -> None:
    await alice.save(post_id="1")

    for wrong, op, named in MALFORMED:
        response = await writing.batch(alice, wrong, operation("add", "good", "1"))
        failed, good = response.json()["data"]["results"]
        assert response.status_code == 207
        assert good["ok"] is True
        assert failed.keys() == {"index", "op", "ok", "error"}
        assert (failed["index"], failed["op"], failed["ok"]) == (0, op, False)
        assert failed["error"]["code"] == "INVALID_REQUEST"
        assert failed["error"]["message"].startswith(named), failed["error"]["message"]
    assert await writing.labels(alice) == {"good": 1}


async def test_operations_must_be_an_array_of_1_to_50(alice: Member) -> None:
    await alice.save(post_id="1")
    wrong: list[Any] = [None, [], {}, [operation("add", "x", "1")] * 51]

    for operations in wrong:
        body = {"operations": operations}
        response = await writing.send(alice, "POST", "/v1/labels/batch", body)
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert writing.sentence(response).startswith("operations: ")
    assert await writing.labels(alice) == {}


async def a_thousand_changes(member: Member) -> list[dict[str, Any]]:
    post_ids = [str(number) for number in range(1, 101)]
    await member.save_all([{"post_id": one, "tweet_details": {}} for one in post_ids])
    return [
        operation("remove" if n % 2 else "add", f"label {n // 2}", *post_ids[n : n + 20])
        for n in range(50)
    ]


@pytest.mark.both
async def test_a_thousand_changes_take_one_transaction(alice: Member) -> None:
    operations = await a_thousand_changes(alice)
    watched = WatchedWrites(alice.database)

    response = await writing.batch(alice, *operations)

    assert response.json()["data"]["succeeded"] == 50
    assert len(watched.rows) == 1
    assert await writing.labels(alice) == {f"label {n}": 1 for n in sorted(range(25), key=str)}
    assert await writing.recount(alice) == []


NAMES = ("a", "A", "b", "c")
OPERATIONS = st.lists(
    st.builds(
        lambda op, name, ids: operation(op, name, *ids),
        st.sampled_from(["add", "remove", "nothing"]),
        st.sampled_from([*NAMES, ""]),
        st.lists(st.sampled_from(["1", "2", "3", "9"]), max_size=4),
    ),
    min_size=1,
    max_size=12,
)


def _expected(tags: dict[str, set[str]], known: set[str], asked: dict[str, Any]) -> bool:
    """Apply the operation to `tags`; return False if the service must refuse it."""
    name = asked["label_name"].lower()
    ids = {post_id for post_id in asked["tweet_ids"] if post_id in tags}
    if asked["op"] not in ("add", "remove") or not name or not ids:
        return False
    if asked["op"] == "remove" and name not in known:
        return False
    known.add(name)
    for post_id in ids:
        tags[post_id] = tags[post_id] | {name} if asked["op"] == "add" else tags[post_id] - {name}
    return True


@pytest.mark.both
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(OPERATIONS, min_size=1, max_size=3))
async def test_a_batch_has_the_same_effect_as_single_operations(
    alice: Member, batches: list[list[dict[str, Any]]]
) -> None:
    tags: dict[str, set[str]] = {"1": set(), "2": set(), "3": set()}
    await alice.save_all([{"post_id": p, "tweet_details": {}, "tags": []} for p in tags])
    known = {name.lower() for name in await writing.labels(alice)}

    for operations in batches:
        response = await writing.batch(alice, *operations)
        expected = [_expected(tags, known, asked) for asked in operations]
        assert [result["ok"] for result in response.json()["data"]["results"]] == expected

    for post_id, names in tags.items():
        shown = await writing.tags(alice, post_id)
        assert {name.lower() for name in shown or ()} == names
    assert await writing.recount(alice) == []
