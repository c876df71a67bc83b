"""The slugs of Smart Views, their order, and which of them are pinned."""

import unicodedata
from typing import Any
from urllib.parse import quote

import pytest

from tests.support import writing
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def _create(member: Member, **fields: Any) -> Any:
    return await writing.send(member, "POST", "/v1/views", fields)


@pytest.mark.both
async def test_the_slug_is_made_from_the_name(alice: Member) -> None:
    slugs = {
        "My View": "my-view",
        "  a & b  ": "a-b",
        "\u00c9tudes d'\u00e9t\u00e9": "etudes-d-ete",
        "Smørrebrød & Straße": "smørrebrød-straße",
        "İstanbul": "istanbul",
        "\u732b": "\u732b",
        "Λίστα Στίχος": "λίστα-στίχος",
        "日本語 の ノート": "日本語-の-ノート",
        "हिन्दी पुस्तक": "हिन्दी-पुस्तक",
        "\u0645\u06cc\u200c\u062f\u0648": "\u0645\u06cc\u062f\u0648",
        "🐦🌿": "bird-herb",
        "🇩🇪": "d-e",
        "a\u202eb": "ab",
        "---": "view",
        "\u3164\u0301": "view-2",
        "../../etc": "etc",
        "x" * 100: "x" * 60,
    }

    for name, slug in slugs.items():
        response = await _create(alice, name=name)
        assert response.json()["data"]["slug"] == slug
        assert response.headers["location"] == f"/v1/views/{quote(slug)}"
        shown = await alice.get(response.headers["location"])
        assert shown.json()["data"]["name"] == response.json()["data"]["name"]


async def test_a_slug_is_found_with_separate_accents(alice: Member) -> None:
    await _create(alice, name="Λίστα")
    apart = quote(unicodedata.normalize("NFD", "λίστα"))
    assert apart != quote("λίστα")

    assert (await alice.get(f"/v1/views/{apart}")).status_code == 200
    changed = await writing.send(alice, "PATCH", f"/v1/views/{apart}", {"name": "Other"})
    assert changed.json()["data"]["slug"] == "λίστα"


@pytest.mark.both
async def test_views_with_the_same_name_get_different_slugs(alice: Member) -> None:
    slugs = [(await _create(alice, name="Cats")).json()["data"]["slug"] for _ in range(3)]

    assert slugs == ["cats", "cats-2", "cats-3"]


async def _slugs(member: Member) -> list[str]:
    views = (await member.get("/v1/views")).json()["data"]
    assert [view["position"] for view in views] == list(range(1, len(views) + 1))
    return [view["slug"] for view in views]


@pytest.mark.both
async def test_a_view_can_be_moved(alice: Member) -> None:
    for name in "abcd":
        await _create(alice, name=name)

    for slug, position, expected in (
        ("d", 1, "dabc"),
        ("d", 3, "abdc"),
        ("a", 4, "bdca"),
        ("b", 200, "dcab"),
        ("c", 2, "dcab"),
    ):
        change = {"position": position}
        moved = await writing.send(alice, "PATCH", f"/v1/views/{slug}", change)
        assert moved.json()["data"]["position"] == expected.index(slug) + 1
        assert await _slugs(alice) == list(expected)

    await writing.send(alice, "DELETE", "/v1/views/c")
    assert await _slugs(alice) == list("dab")


@pytest.mark.both
async def test_a_view_is_pinned_unless_it_says_otherwise(alice: Member) -> None:
    pinned = (await _create(alice, name="a")).json()["data"]
    other = (await _create(alice, name="b", is_pinned=False)).json()["data"]
    assert (pinned["is_pinned"], other["is_pinned"]) == (True, False)

    changed = await writing.send(alice, "PATCH", "/v1/views/b", {"is_pinned": True})

    assert changed.json()["data"]["is_pinned"] is True
    assert (await alice.get("/v1/views/b")).json()["data"]["is_pinned"] is True


async def test_a_position_is_a_place_in_the_list(alice: Member) -> None:
    await _create(alice, name="x")
    wrong: list[Any] = [0, 201, 1.5, "1", None, True]

    for position in wrong:
        response = await writing.send(alice, "PATCH", "/v1/views/x", {"position": position})
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert response.json()["error"].startswith("position: ")
