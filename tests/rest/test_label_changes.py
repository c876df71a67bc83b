"""PATCH and DELETE /v1/labels/{label_id}, POST /v1/labels/{label_id}/merge."""

from typing import Any

import pytest

from tests.support import writing
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


@pytest.mark.both
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


async def test_omitted_fields_are_not_changed(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])

    await _patch(alice, "x", {"metadata": COLOUR})
    renamed = (await _patch(alice, "x", {"label_name": "y"})).json()["data"]
    noted = (await _patch(alice, "y", {"metadata": {"a": 1}})).json()["data"]

    assert renamed["metadata"] == COLOUR
    assert noted["label_name"] == "y"


async def test_sending_the_current_values_changes_nothing(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])
    before = (await alice.get("/v1/labels")).headers["etag"]
    bodies: list[Any] = [{}, {"label_name": "x"}, {"label_name": " x "}, {"metadata": {}}]

    for body in bodies:
        assert (await _patch(alice, "x", body)).status_code == 200

    assert (await alice.get("/v1/labels")).headers["etag"] == before


@in_turn(
    ("body", "named"),
    [
        ({"label_name": ""}, "label_name: "),
        ({"label_name": None}, "label_name: "),
        ({"label_name": 7}, "label_name: "),
        ({"label_name": "a\x07"}, "label_name: "),
        ({"label_name": "x" * 101}, "label_name: "),
        ({"label_name": "", "metadata": COLOUR}, "label_name: "),
        ({"color": "#ff0000"}, "color: "),
        ({"color": "Blue"}, "color: "),
        ({"color": ["blue"]}, "color: "),
        ({"metadata": None}, "metadata: "),
        ({"metadata": []}, "metadata: "),
        ({"metadata": "red"}, "metadata: "),
        ({"metadata": {"x": "y" * 5_000}}, "metadata: "),
        ({"name": "y"}, "Unknown field 'name'. "),
        ([], "body: "),
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


@pytest.mark.both
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


# All endpoints


async def test_the_free_plan_is_refused(free: Member) -> None:
    await free.save(post_id="1", tags=["a", "b"])
    path = f"/v1/labels/{await writing.label_id(free, 'a')}"
    into = await writing.label_id(free, "b")

    for response in (
        await writing.send(free, "PATCH", path, {"label_name": "c"}),
        await writing.send(free, "PATCH", path, {"label_name": 7}),
        await writing.send(free, "DELETE", path),
        await writing.send(free, "DELETE", "/v1/labels/4711"),
        await writing.send(free, "POST", f"{path}/merge", {"into": into}),
        await writing.add(free, "c", "1"),
        await writing.remove(free, "a", "1"),
        await writing.batch(free, writing.operation("add", "c", "1")),
    ):
        assert writing.refused(response) == (402, "SUBSCRIPTION_REQUIRED")
    assert await writing.labels(free) == {"a": 1, "b": 1}
