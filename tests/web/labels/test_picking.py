"""What the label picker asks the server."""

from typing import Any

import httpx
import pytest

from tests.support import writing
from tests.support.saving import stored
from tests.support.visiting import form_token
from tests.web.house import Reader

pytestmark = pytest.mark.anyio


async def apply(reader: Reader, **fields: Any) -> httpx.Response:
    return await reader.person.send("/labels/apply", "/library", **fields)


async def undo(reader: Reader, change: str | None) -> httpx.Response:
    """As the script of the picker does, which shows the result itself."""
    token = form_token(await reader.page("/library"))
    headers = {"Accept": "application/json"}
    return await reader.person.post(
        "/library/many/undo", headers=headers, csrf=token, change=change
    )


async def tags(reader: Reader, *ids: str) -> list[list[str] | None]:
    return [(await stored(reader.member, each))["tags"] for each in ids]


async def test_labels_are_found_with_their_colours(ann: Reader) -> None:
    await ann.member.save(tags=["Field notes", "notes", "birds"])
    path = f"/v1/labels/{await writing.label_id(ann.member, 'notes')}"
    await writing.send(ann.member, "PATCH", path, {"color": "rust"})

    found = (await ann.person.open("/labels/matching?q=NOTES")).json()

    assert [(each["name"], each["count"]) for each in found["labels"]] == [
        ("notes", 1),
        ("Field notes", 1),
    ]
    assert found["labels"][0]["colour"] == "rust"
    assert found["new"] is None
    other = (await ann.person.open("/labels/matching?q=%20a%20%20b")).json()
    assert (other["labels"], other["new"]) == ([], "a b")
    assert (await ann.person.open("/labels/matching")).json()["new"] is None


async def test_a_label_is_given_to_many_posts_and_taken_back_as_a_whole(ann: Reader) -> None:
    ids = [(await ann.member.save(tags=["old"]))["post_id"] for _ in range(2)]
    ids.append((await ann.member.save(tags=["Birds", "old"]))["post_id"])
    before = await tags(ann, *ids)

    added = (await apply(ann, op="add", label=" birds", posts=" ".join(ids))).json()

    assert (added["changed"], added["said"]) == (2, "Added the label “Birds” to 2 posts.")
    assert added["label"]["name"] == "Birds"
    assert await tags(ann, *ids) == [["Birds", "old"]] * 3
    undone = (await undo(ann, added["change"])).json()
    assert undone == {"said": "Undone: 2 posts changed back."}
    assert await tags(ann, *ids) == before


async def test_posts_that_are_gone_leave_no_new_label(ann: Reader) -> None:
    answer = (await apply(ann, op="add", label="New", posts="42 43")).json()

    assert (answer["said"], answer["change"]) == (
        "Nothing changed: the posts were so already.",
        None,
    )
    assert await writing.labels(ann.member) == {}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"op": "add", "label": " ", "posts": "1"}, 400),
        ({"op": "add", "label": "x" * 101, "posts": "1"}, 400),
        ({"op": "add", "label": "x", "posts": ""}, 400),
        ({"op": "add", "label": "x", "posts": "a;b ../ 1e5"}, 400),
        ({"op": "add", "label": "x", "posts": " ".join(map(str, range(1_001)))}, 400),
        ({"op": "explode", "label": "x", "posts": "1"}, 400),
        ({"op": "remove", "label": "unknown", "posts": "1"}, 404),
        ({}, 400),
    ],
)
async def test_invalid_requests_are_refused_in_a_sentence(
    ann: Reader, fields: dict[str, str], status: int
) -> None:
    refused = await apply(ann, **fields)

    assert refused.status_code == status
    assert refused.json()["error"].endswith(".")
    assert "label_name" not in refused.json()["error"]


async def test_nobody_labels_the_posts_of_others(ann: Reader, bob: Reader) -> None:
    post_id = (await ann.member.save(tags=["mine"]))["post_id"]

    assert (await apply(bob, op="add", label="x", posts=post_id)).json()["changed"] == 0
    assert (await bob.person.open("/labels/matching")).json()["labels"] == []
    assert await tags(ann, post_id) == [["mine"]]
