"""GET /v1/bookmarks/{post_id}/suggested_labels."""

from typing import Any

import pytest

from bowerbird.requests import limits
from bowerbird.storage.database import Transaction
from bowerbird.storage.labels import LabelStore
from bowerbird.storage.libraries import LibraryStore
from tests.support import make, writing
from tests.support.posts.texts_of_labels import BIRDS, MONEY, OTHERS
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def _filled(member: Member) -> None:
    posts = [make.post(text=text, author=f"a{n}", tags=["birds"]) for n, text in enumerate(BIRDS)]
    posts += [make.post(text=text, author=f"b{n}", tags=["money"]) for n, text in enumerate(MONEY)]
    posts += [make.post(text=text, author=f"c{n}") for n, text in enumerate(OTHERS)]
    await member.save_all(posts)


async def _suggested(member: Member, post_id: str) -> list[dict[str, Any]]:
    response = await member.get(f"/v1/bookmarks/{post_id}/suggested_labels")
    assert response.status_code == 200, response.text
    data: list[dict[str, Any]] = response.json()["data"]
    return data


def _names(found: list[dict[str, Any]]) -> list[str]:
    return [each["label_name"] for each in found]


@pytest.mark.both
async def test_labels_of_posts_that_are_near_in_meaning_are_suggested(alice: Member) -> None:
    await _filled(alice)
    new = await alice.save(text="An owl and its young in the nest of a magpie.", author="d")
    far = await alice.save(text="Version 3 of the compiler inlines closures.", author="e")
    await alice.embed()

    [label] = await _suggested(alice, new["post_id"])

    assert (label["label_name"], label["reason"], label["color"]) == ("birds", "meaning", None)
    assert 0.5 <= label["score"] < 1
    assert label["posts"] > 1
    assert await _suggested(alice, far["post_id"]) == []


async def test_posts_in_a_script_that_no_model_knows_are_not_near_each_other(
    alice: Member,
) -> None:
    """Its letters are all that they have in common."""
    await _filled(alice)
    kitchen = (
        "अदरक पहले या चायपत्ती पहले?",
        "दाल में तड़का आख़िर में लगाओ।",
        "आज रोटी गोल बनी।",
        "नानी का अचार धूप में रखा है।",
        "चावल धोकर भिगो दो।",
    )
    posts = [
        make.post(text=text, author=f"k{n}", tags=["cooking"]) for n, text in enumerate(kitchen)
    ]
    await alice.save_all(posts)
    new = await alice.save(text="रेलगाड़ी दो घंटे देर से आई।", author="r")
    named = await alice.save(text="आज का cooking शो", author="s")
    await alice.embed()

    assert await _suggested(alice, new["post_id"]) == []
    assert _names(await _suggested(alice, named["post_id"])) == ["cooking"]


async def test_labels_of_the_same_author_are_suggested_without_vectors(alice: Member) -> None:
    for n in range(4):
        await alice.save(text=f"note {n}", author="ines", tags=["databases"])
    await alice.save(text="note", author="tomasz", tags=["letters"])
    new = await alice.save(text="something else", author="ines")

    [label] = await _suggested(alice, new["post_id"])

    assert (label["label_name"], label["reason"], label["posts"]) == ("databases", "author", 4)


async def test_a_name_that_most_texts_contain_suggests_nothing(alice: Member) -> None:
    await alice.save(text="old", author="a", tags=["IT", "To do"])
    new = await alice.save(text="It has nothing to do with that", author="b")

    assert await _suggested(alice, new["post_id"]) == []


async def test_a_label_whose_name_is_in_the_text_is_suggested(alice: Member) -> None:
    await alice.save(text="old", author="a", tags=["Field notes"])
    named = await alice.save(text="My FIELD-NOTES of this week", author="b")
    half = await alice.save(text="A field of rye", author="b")

    [label] = await _suggested(alice, named["post_id"])

    assert (label["label_name"], label["reason"], label["posts"]) == ("Field notes", "words", 0)
    assert await _suggested(alice, half["post_id"]) == []


async def test_what_is_accepted_counts_at_once_and_a_post_has_no_label_twice(alice: Member) -> None:
    ids = [(await alice.save(text=f"note {n}", author="ines"))["post_id"] for n in range(5)]
    assert await _suggested(alice, ids[4]) == []

    body = {"tweet_ids": ids[:4], "label_name": "databases"}
    await writing.send(alice, "POST", "/v1/labels/add", body)

    assert _names(await _suggested(alice, ids[4])) == ["databases"]
    assert await _suggested(alice, ids[0]) == []


async def test_at_most_three_labels_are_suggested_and_never_the_star(alice: Member) -> None:
    names = ["favourite", "one", "two", "three", "four"]
    await alice.save(text="old", author="a", tags=names)
    new = await alice.save(text=" ".join(names), author="b")

    found = _names(await _suggested(alice, new["post_id"]))

    assert len(found) == 3
    assert "favourite" not in found


async def test_an_account_without_labels_gets_no_suggestion(alice: Member) -> None:
    new = await alice.save(text="birds")

    assert await _suggested(alice, new["post_id"]) == []


async def _of_ines(member: Member, extra: int = 1) -> tuple[list[str], str]:
    """The ids of posts that "databases" is suggested for, and the id of that label."""
    for n in range(4):
        await member.save(text=f"note {n}", author="ines", tags=["databases"])
    new = [(await member.save(text=f"new {n}", author="ines"))["post_id"] for n in range(extra)]
    return new, await writing.label_id(member, "databases")


async def test_a_refused_label_is_not_suggested_for_that_post_again(alice: Member) -> None:
    (refusing, other), label_id = await _of_ines(alice, 2)
    assert _names(await _suggested(alice, refusing)) == ["databases"]

    path = f"/v1/bookmarks/{refusing}/suggested_labels/{label_id}"
    for _ in range(2):
        answer = await writing.send(alice, "DELETE", path)
        assert answer.json()["data"] == {
            "post_id": refusing,
            "label_id": label_id,
            "label_name": "databases",
        }

    assert await _suggested(alice, refusing) == []
    assert _names(await _suggested(alice, other)) == ["databases"]
    assert (await writing.add(alice, "databases", refusing)).status_code == 200
    assert await writing.tags(alice, refusing) == ["databases"]


async def test_a_label_that_is_removed_from_a_post_is_refused_for_it(alice: Member) -> None:
    (post_id, other), _ = await _of_ines(alice, 2)
    await writing.add(alice, "databases", post_id)

    assert (await writing.remove(alice, "databases", post_id, other)).status_code == 200

    assert await _suggested(alice, post_id) == []
    assert await _suggested(alice, other) == []


@pytest.mark.both
async def test_a_label_that_a_change_removes_from_named_posts_is_refused_for_them(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    (long, chosen, found), _ = await _of_ines(alice, 3)
    await writing.add(alice, "databases", long, chosen, found)
    removing = {"action": "remove_label", "label_name": "databases"}
    for which in ({"tweet_ids": [chosen]}, {"filters": {"ids": found}}):
        answer = await writing.send(alice, "POST", "/v1/bookmarks/changes", removing | which)
        assert answer.status_code == 200, answer.text
    monkeypatch.setattr(limits, "LABELLED_BYTES_MAX", 1)
    assert (await writing.remove(alice, "databases", long)).status_code < 300

    assert await _suggested(alice, chosen) == []
    assert await _suggested(alice, long) == []
    assert _names(await _suggested(alice, found)) == ["databases"]


async def test_refusals_of_a_post_are_bounded(alice: Member) -> None:
    (post_id,), label_id = await _of_ines(alice)
    store, libraries = LabelStore(alice.database), LibraryStore(alice.database)
    [[_, number, _, _]] = await store.asked(alice.account_id, [post_id])

    async def refuse_others(transaction: Transaction) -> None:
        library = await libraries.lock(transaction, alice.account_id)
        for other in range(1_000, 1_400):
            await store.refuse(library, other, [number])

    await alice.database.write(refuse_others)
    await writing.send(alice, "DELETE", f"/v1/bookmarks/{post_id}/suggested_labels/{label_id}")

    [[_, _, _, refused]] = await store.asked(alice.account_id, [post_id])
    assert 0 < len(refused) <= 1_010
    assert await _suggested(alice, post_id) == []


async def test_only_what_is_in_the_library_can_be_refused(alice: Member, bob: Member) -> None:
    (post_id,), label_id = await _of_ines(alice)
    (theirs,), _ = await _of_ines(bob)
    paths = [(theirs, label_id), ("404", label_id), (post_id, "404"), (post_id, "x"), ("x", "x")]

    for post, label in paths:
        path = f"/v1/bookmarks/{post}/suggested_labels/{label}"
        answer = await writing.send(alice, "DELETE", path)
        assert writing.refused(answer) == (404, "NOT_FOUND")
    assert _names(await _suggested(bob, theirs)) == ["databases"]
