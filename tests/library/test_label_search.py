"""Finding labels by a part of their name, and the colours that were chosen for them."""

import pytest

from bowerbird.errors import Refusal
from bowerbird.library.access import turns
from bowerbird.library.labels.labels import Labels
from tests.support import writing
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def found(member: Member, text: str, limit: int = 10) -> list[str]:
    listed = Labels(member.database, member.clock).listed
    return [each.label_name for each in await listed.matching(await member.account(), text, limit)]


async def test_the_best_match_comes_first_and_then_the_most_used(alice: Member) -> None:
    await alice.save(tags=["Articles", "Start", "Bird art"])
    await alice.save(tags=["Articles", "Start"])
    await alice.save(tags=["Articles", "ART", "artefacts"])

    assert await found(alice, " aRt ") == ["ART", "Articles", "artefacts", "Start", "Bird art"]
    assert await found(alice, "aRt", 2) == ["ART", "Articles"]
    assert await found(alice, "") == ["Articles", "Start", "ART", "artefacts", "Bird art"]
    assert await found(alice, "none of them") == []


async def test_names_in_any_script_are_found_by_their_text(alice: Member, bob: Member) -> None:
    texts = {
        "Straße": "STRASSE",
        "100%": "0%",
        "a_b": "_",
        "<b>&amp;": "&AMP;",
        "تصميم": "ميم",
        "鳥の巣": "巣",
        "🪶 feathers": "🪶",
        "x" * 100: "x" * 99,
    }
    await alice.save(tags=[*texts, "other"])

    for name, text in texts.items():
        assert await found(alice, text) == [name]
    for text in ("\x00", "x" * 301, "%%", "\\", "'"):
        assert await found(alice, text) == []
    assert await found(bob, "") == []


@pytest.mark.both
async def test_pages_of_a_search_neither_repeat_nor_skip_a_label(alice: Member) -> None:
    await writing.create_labels(alice, 25)
    await alice.save(tags=["other"])
    listed = Labels(alice.database, alice.clock).listed
    names: list[str] = []
    cursor: str | None = None
    while True:
        page = await listed.found_page(await alice.account(), "MADE", cursor, 10)
        assert page.total == 25
        names += [each.label_name for each in page.labels]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert names == [f"made {number:06}" for number in range(25)]
    page = await listed.found_page(await alice.account(), "made", None, 1)
    with pytest.raises(Refusal):
        await listed.found_page(await alice.account(), "mad", page.next_cursor, 1)


@pytest.mark.both
async def test_colours_follow_each_change_of_the_library(alice: Member, bob: Member) -> None:
    await alice.save(tags=["a", "b"])
    listed = Labels(alice.database, alice.clock).listed
    path = f"/v1/labels/{await writing.label_id(alice, 'a')}"

    before = await listed.colors(await alice.account())
    await writing.send(alice, "PATCH", path, {"color": "sea"})
    chosen = await listed.colors(await alice.account())
    await writing.send(alice, "PATCH", path, {"label_name": "A & <c>"})
    renamed = await listed.colors(await alice.account())

    assert (before, chosen, renamed) == ({}, {"a": "sea"}, {"A & <c>": "sea"})
    assert await listed.colors(await bob.account()) == {}


async def test_a_label_is_created_once(alice: Member) -> None:
    create = Labels(alice.database, alice.clock).create
    account = await alice.account()

    made = [
        await turns.change(alice.database, account, create, name) for name in ("Birds", "BIRDS")
    ]

    assert [(label.label_name, row is not None) for label, row in made] == [
        ("Birds", True),
        ("Birds", False),
    ]
    assert await writing.labels(alice) == {"Birds": 0}
