"""Labels: list, change, delete, merge, and how many there may be."""

from typing import Any

import pytest

from bowerbird.requests import limits
from tests.support import make, writing
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio


COLOUR = {"colour": "#ff0000", "note": "later", "deep": {"list": [1, None, True]}}


async def _patch(member: Member, name: str, body: Any) -> Any:
    path = f"/v1/labels/{await writing.label_id(member, name)}"
    return await writing.send(member, "PATCH", path, body)


async def _merge(member: Member, name: str, into: Any) -> Any:
    path = f"/v1/labels/{await writing.label_id(member, name)}/merge"
    return await writing.send(member, "POST", path, {"into": into})


async def _listed(member: Member) -> Any:
    return (await member.get("/v1/labels")).json()["data"]


# Renaming, colour and metadata
@pytest.mark.both
async def test_a_label_is_renamed_on_all_its_posts(alice: Member) -> None:
    await alice.save(post_id="1", tags=["b", "m"])
    await alice.save(post_id="2", tags=["b"])

    label_id = await writing.label_id(alice, "b")

    response = await _patch(alice, "b", {"label_name": " Zebra  Z "})

    label = response.json()["data"]
    assert response.status_code == 200
    assert (label["label_name"], label["count"]) == ("Zebra Z", 2)
    assert await writing.tags(alice, "1") == ["m", "Zebra Z"]
    assert await writing.tags(alice, "2") == ["Zebra Z"]
    assert await alice.ids(tag="zebra z") == ["2", "1"]
    assert await alice.ids(tag="b") == []
    assert await writing.label_id(alice, "Zebra Z") == label_id
    assert await writing.recount(alice) == []


async def test_a_rename_can_change_only_the_case(alice: Member) -> None:
    await alice.save(post_id="1", tags=["b"])

    await _patch(alice, "b", {"label_name": "B"})

    assert await writing.labels(alice) == {"B": 1}
    assert await writing.tags(alice, "1") == ["B"]
    assert await writing.recount(alice) == []


async def test_a_label_gets_a_colour_and_loses_it_again(alice: Member) -> None:
    await alice.save(post_id="1", tags=["b", "m"])

    chosen = await _patch(alice, "b", {"color": "rust"})
    renamed = await _patch(alice, "b", {"label_name": "c"})
    listed = {each["label_name"]: each["color"] for each in await _listed(alice)}
    dropped = await _patch(alice, "c", {"color": None})

    assert [each.json()["data"]["color"] for each in (chosen, renamed, dropped)] == [
        "rust",
        "rust",
        None,
    ]
    assert listed == {"c": "rust", "m": None}
    assert {each["color"] for each in await _listed(alice)} == {None}


async def test_the_name_of_another_label_is_refused(alice: Member) -> None:
    await alice.save(post_id="1", tags=["Stra\u00dfe", "b"])

    response = await _patch(alice, "b", {"label_name": "STRASSE"})

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response).startswith("label_name: ")
    assert await writing.labels(alice) == {"b": 1, "Stra\u00dfe": 1}


@in_turn(
    ("body", "named"),
    [
        ({"label_name": ""}, "label_name: "),
        ({"label_name": None}, "label_name: "),
        ({"label_name": "a\x07"}, "label_name: "),
        ({"label_name": "", "metadata": COLOUR}, "label_name: "),
        ({"color": "#ff0000"}, "color: "),
        ({"color": "Blue"}, "color: "),
        ({"metadata": None}, "metadata: "),
        ({"metadata": {"x": "y" * 5_000}}, "metadata: "),
    ],
)
async def test_an_invalid_change_is_refused_by_field(alice: Member, body: Any, named: str) -> None:
    await alice.save(post_id="1", tags=["x"])
    before = (await alice.get("/v1/labels")).content

    response = await _patch(alice, "x", body)

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response).startswith(named)
    assert (await alice.get("/v1/labels")).content == before


# Deleting
@pytest.mark.both
async def test_deleting_a_label_keeps_its_posts(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x", "y"])
    await alice.save(post_id="2", tags=["x"])
    path = f"/v1/labels/{await writing.label_id(alice, 'x')}"

    response = await writing.send(alice, "DELETE", path)

    assert response.status_code == 200
    assert response.json()["data"]["label_name"] == "x"
    assert response.json()["data"]["count"] == 2
    assert await writing.labels(alice) == {"y": 1}
    assert await writing.tags(alice, "1") == ["y"]
    assert await writing.tags(alice, "2") is None
    assert await alice.ids() == ["2", "1"]
    assert await writing.recount(alice) == []
    assert (await writing.send(alice, "DELETE", path)).status_code == 404


# Merging
async def test_merging_moves_the_posts_to_the_other_label(alice: Member) -> None:
    await alice.save(post_id="1", tags=["a", "b"])
    await alice.save(post_id="2", tags=["a"])
    await alice.save(post_id="3", tags=["b"])
    await _patch(alice, "b", {"metadata": COLOUR})

    response = await _merge(alice, "a", await writing.label_id(alice, "b"))

    label = response.json()["data"]
    assert response.status_code == 200
    assert (label["label_name"], label["count"], label["metadata"]) == ("b", 3, COLOUR)
    assert await writing.labels(alice) == {"b": 3}
    for post_id in ("1", "2", "3"):
        assert await writing.tags(alice, post_id) == ["b"]
    assert await writing.recount(alice) == []


async def test_a_label_cannot_be_merged_into_itself(alice: Member) -> None:
    await alice.save(post_id="1", tags=["a"])

    response = await _merge(alice, "a", await writing.label_id(alice, "a"))

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response).startswith("into: ")
    assert await writing.labels(alice) == {"a": 1}


async def test_merging_into_an_invalid_or_unknown_label_is_refused(alice: Member) -> None:
    await alice.save(post_id="1", tags=["a", "b"])
    wrong: list[Any] = [None, 7, [], "x" * 200]

    for into in wrong:
        response = await _merge(alice, "a", into)
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert writing.sentence(response).startswith("into: ")
    assert writing.refused(await _merge(alice, "a", "4711")) == (404, "NOT_FOUND")
    assert await writing.labels(alice) == {"a": 1, "b": 1}


async def test_a_label_has_id_name_metadata_and_count(alice: Member) -> None:
    await alice.save(post_id="1")
    await writing.add(alice, "To Read", "1")

    (label,) = (await alice.get("/v1/labels")).json()["data"]

    assert isinstance(label["id"], str)
    assert label == {
        "id": label["id"],
        "label_name": "To Read",
        "metadata": {},
        "count": 1,
        "color": None,
    }


async def test_labels_are_listed_by_their_names_in_any_case(free: Member) -> None:
    await free.save(tags=["b", "C", "a", "\u00c9", "Z", "_"])

    assert list(await writing.labels(free)) == ["_", "a", "b", "C", "Z", "\u00c9"]


async def test_a_new_label_does_not_disturb_paging(alice: Member) -> None:
    await alice.save(post_id="1", tags=["a", "c", "e"])
    first = (await alice.get("/v1/labels", limit=2)).json()
    await writing.add(alice, "b", "1")
    await writing.add(alice, "d", "1")

    rest = (await alice.get("/v1/labels", cursor=first["meta"]["next_cursor"])).json()

    assert [label["label_name"] for label in rest["data"]] == ["d", "e"]
    assert rest["meta"]["next_cursor"] is None


async def test_an_account_beyond_the_bound_lists_all_its_labels(alice: Member) -> None:
    await writing.create_labels(alice, limits.LABELS_MAX + 5)

    whole = (await alice.get("/v1/labels")).json()
    page = (await alice.get("/v1/labels", limit=1)).json()

    names = [label["label_name"] for label in whole["data"]]
    assert len(set(names)) == limits.LABELS_MAX + 5
    assert names == sorted(names)
    assert page["meta"]["total_count"] == limits.LABELS_MAX + 5


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


async def test_an_import_keeps_the_labels_that_a_post_has(alice: Member) -> None:
    names = [*FULL, "x", "y"]
    await writing.save_unbounded(alice, "1", names)

    outcome = await alice.save_all([make.post(post_id="1", tags=[*names, "z"])])

    assert [(one.post_id, one.names) for one in outcome.labels_left_out] == [("1", ["z"])]
    assert await writing.tags(alice, "1") == names


async def test_an_import_leaves_out_labels_beyond_the_accounts_bound(alice: Member) -> None:
    await writing.create_labels(alice, limits.LABELS_MAX - 1)

    outcome = await alice.save_all(
        [
            make.post(post_id="1", tags=["a", "b"]),
            make.post(post_id="2", tags=["a", "c", "made 000000"]),
        ]
    )

    assert [(one.post_id, one.names) for one in outcome.labels_left_out] == [
        ("1", ["b"]),
        ("2", ["c"]),
    ]
    assert await writing.tags(alice, "1") == ["a"]
    assert await writing.tags(alice, "2") == ["a", "made 000000"]
    assert await writing.recount(alice) == []
