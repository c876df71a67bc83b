"""What the scripts of the library ask for: suggestions, places, and changes without a page."""

from typing import Any

import pytest

from tests.support import writing
from tests.support.saving import stored
from tests.support.visiting import form_token
from tests.web.house import Reader

pytestmark = pytest.mark.anyio
AS_SCRIPT = {"Accept": "application/json"}


async def suggest(reader: Reader, text: str) -> tuple[list[str], list[str]]:
    """The names of labels, and the handles of authors."""
    answer = await reader.person.client.get("/library/suggest", params={"text": text})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return [each["name"] for each in found["labels"]], [each["handle"] for each in found["authors"]]


async def test_labels_and_authors_are_suggested_by_a_part_of_their_name(ann: Reader) -> None:
    await ann.member.save(author="Mara_L", name="Mara Lindqvist", tags=["Marsh birds"])
    await ann.member.save(author="zed", name="Marta Zed", tags=["Databases"])
    await ann.member.save(author="mara_l", name="Mara Lindqvist")
    await ann.member.save(author="ömer", name="Ömer", tags=["Äpfel"])

    assert await suggest(ann, "MAR") == (["Marsh birds"], ["mara_l", "zed"])
    assert await suggest(ann, "@mar") == ([], ["mara_l"])
    assert await suggest(ann, "#mar") == (["Marsh birds"], [])
    assert await suggest(ann, "ö") == ([], ["ömer"])
    assert await suggest(ann, "ÄP") == (["Äpfel"], [])


async def test_odd_texts_suggest_nothing(ann: Reader) -> None:
    await ann.member.save(author="ada", tags=["Birds"])

    for text in ("", " ", "@", "#", "%", "_", "x" * 101, "a\x00b", "\U0010ffff"):
        assert await suggest(ann, text) == ([], []), text


async def test_suggestions_are_few(ann: Reader) -> None:
    for number in range(9):
        await ann.member.save(author=f"ada{number}", tags=[f"adapted {number}"])

    labels, authors = await suggest(ann, "ada")

    assert len(labels) == 6
    assert authors == [f"ada{number}" for number in range(6)]


@pytest.mark.both
async def test_nobody_gets_suggestions_from_the_library_of_others(ann: Reader, bob: Reader) -> None:
    await ann.member.save(author="ada", tags=["Adapted"])
    await bob.member.save(author="bob", name="Bob")

    assert await suggest(bob, "ad") == ([], [])
    places = (await bob.person.client.get("/library/places")).json()
    assert (places["views"], places["labels"]) == ([], [])


async def test_a_free_account_gets_only_what_it_can_use(free: Reader) -> None:
    await free.member.save(author="ada", tags=["Adapted"])

    assert await suggest(free, "ad") == ([], ["ada"])


@pytest.mark.both
async def test_the_palette_gets_views_and_labels(ann: Reader) -> None:
    await ann.member.save(tags=["Birds & bees"])
    view = {"base_query": {"media_type": "article"}}
    for name in ("Long reads", "New"):
        await writing.send(ann.member, "POST", "/v1/views", {**view, "name": name})
    birds = await writing.label_id(ann.member, "Birds & bees")
    await writing.send(ann.member, "PATCH", f"/v1/labels/{birds}", {"color": "plum"})

    places = (await ann.person.client.get("/library/places")).json()

    assert places["views"] == [
        {"name": "Long reads", "url": "/views/long-reads"},
        # Without the end, it is the page that creates a view.
        {"name": "New", "url": "/views/new/posts"},
    ]
    [label] = places["labels"]
    assert label["name"] == "Birds & bees"
    assert (label["count"], label["colour"]) == (1, "plum")
    assert label["url"] == "/library?is_unread_only=false&hide_archived=false&tag=Birds+%26+bees"


@pytest.mark.both
async def test_a_script_changes_a_post_and_gets_a_short_answer(ann: Reader) -> None:
    post_id = (await ann.member.save())["post_id"]
    token = form_token(await ann.page("/library"))

    async def change(**fields: str) -> Any:
        return await ann.person.post("/library/change", headers=AS_SCRIPT, **fields)

    read = await change(csrf=token, read=post_id)
    assert read.json() == {"said": "Marked read.", "undo": "unread"}
    assert (await stored(ann.member, post_id))["is_read"] is True

    unknown = await change(csrf=token, read="42")
    assert unknown.status_code == 404
    assert "42" in unknown.json()["error"]
    forged = await change(csrf="a.b", archive=post_id)
    assert forged.status_code == 403
    assert "form is out of date" in forged.json()["error"]
    assert (await stored(ann.member, post_id))["is_archived"] is False
