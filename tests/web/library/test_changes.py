"""The forms on posts: read, archive, trash with undo, and labels."""

import html
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.support import writing
from tests.support.saving import stored
from tests.web.house import Reader, ids

pytestmark = pytest.mark.anyio

ALL = "/library?is_unread_only=false&hide_archived=false"


def target(response: httpx.Response) -> tuple[str, dict[str, list[str]], str]:
    """Where a change returns to: path, parameters and place."""
    assert response.status_code == 303, response.text
    parts = urlsplit(response.headers["location"])
    return parts.path, parse_qs(parts.query), parts.fragment


async def test_read_and_archive_are_changed_and_undone(ann: Reader) -> None:
    post_id = (await ann.member.save())["post_id"]
    steps = [
        ("read", "is_read", True, "Marked read."),
        ("unread", "is_read", False, "Marked unread."),
        ("archive", "is_archived", True, "Archived."),
        ("unarchive", "is_archived", False, "Taken out of the archive."),
    ]
    for number, (action, field, value, sentence) in enumerate(steps):
        page = ALL
        changed = await ann.change(page, **{action: post_id})
        assert (await stored(ann.member, post_id))[field] is value
        shown = await ann.page(changed.headers["location"])
        undo = steps[number ^ 1][0]
        assert sentence in shown
        assert f'form="change" name="{undo}" value="{post_id}" data-undo>Undo</button>' in shown


async def test_a_deleted_post_is_restored_by_undo(ann: Reader) -> None:
    post = await ann.member.save(tags=["Birds"])
    other = await ann.member.save()
    before = await stored(ann.member, post["post_id"])

    deleted = await ann.change("/library", trash=post["post_id"])
    shown = await ann.page(deleted.headers["location"])
    assert ids(shown) == [other["post_id"]]
    assert "Moved to the trash." in shown
    await ann.change("/library", restore=post["post_id"])

    assert await stored(ann.member, post["post_id"]) == before


async def test_a_change_returns_to_its_place_in_the_list(ann: Reader) -> None:
    first = (await ann.member.save(tags=["A & b"]))["post_id"]
    second = (await ann.member.save(tags=["A & b"]))["post_id"]
    page = "/library?is_unread_only=false&tag=A+%26+b&density=compact"

    stays = target(await ann.change(page, read=f"{second} {first}"))
    leaves = target(await ann.change(page, archive=f"{second} {first}"))

    kept = {"is_unread_only": ["false"], "tag": ["A & b"], "density": ["compact"]}
    assert stays == (
        "/library",
        {**kept, "said": ["post-read"], "post": [second]},
        f"p-{second}",
    )
    assert leaves[2] == f"p-{first}"


async def test_a_post_that_was_deleted_on_its_own_page_leads_to_the_library(ann: Reader) -> None:
    post_id = (await ann.member.save())["post_id"]

    path, parameters, _ = target(await ann.change(f"/p/{post_id}", trash=post_id))

    assert path == "/library"
    assert parameters["post"] == [post_id]


async def test_a_change_never_leads_elsewhere(ann: Reader) -> None:
    post_id = (await ann.member.save())["post_id"]

    for back in ["https://evil.example/", "//evil.example", "/sign-out", "\\evil", "", "/\\evil"]:
        changed = await ann.person.send("/library/change", "/library", back=back, read=post_id)
        assert target(changed)[0] == "/library", back


async def test_labels_are_added_by_name_and_removed(ann: Reader) -> None:
    post_id = (await ann.member.save())["post_id"]
    page = f"/p/{post_id}"

    for name in ("Birds", "<b>“تصميم”"):
        added = await ann.person.send("/library/label", page, back=page, post=post_id, add=name)
        said = {"said": ["label-added"], "post": [f"{post_id} {name}"]}
        assert target(added) == (page, said, "labels")
    assert set((await stored(ann.member, post_id))["tags"]) == {"Birds", "<b>“تصميم”"}
    assert "<bdi>&lt;b&gt;“تصميم”</bdi>" in await ann.page(page)
    await ann.person.send("/library/label", page, back=page, post=post_id, remove="birds")
    assert await writing.labels(ann.member) == {"<b>“تصميم”": 1, "Birds": 0}


async def test_adding_and_removing_a_label_is_undone(ann: Reader) -> None:
    name = "a b & “<i>"
    post_id = (await ann.member.save(tags=[name]))["post_id"]
    page = f"/p/{post_id}"

    removed = await ann.person.send("/library/label", page, back=page, post=post_id, remove=name)
    shown = await ann.page(removed.headers["location"])
    assert "The label is removed." in shown
    value = f"{post_id} {name}"
    undo = f'name="label" value="{html.escape(value, quote=False)}" data-undo>Undo</button>'
    assert undo in shown
    back = await ann.change(page, label=value)
    assert (await stored(ann.member, post_id))["tags"] == [name]
    assert 'name="unlabel"' in await ann.page(back.headers["location"])
    await ann.change("/library", unlabel=value)
    assert (await stored(ann.member, post_id))["tags"] is None


async def test_a_star_is_a_label_that_the_account_has_chosen(ann: Reader, free: Reader) -> None:
    post_id = (await ann.member.save())["post_id"]
    changed = await ann.change(ALL, label=f"{post_id} favourite")
    assert (await stored(ann.member, post_id))["tags"] == ["favourite"]
    shown = await ann.page(changed.headers["location"])
    assert "Added to your favourites." in shown
    undo = f'name="unlabel" value="{post_id} favourite"'
    assert f"{undo} data-undo>Undo</button>" in shown
    # A star instead of the label, and its own place in the sidebar.
    assert f'{undo} title="Favourite" aria-pressed="true"' in shown
    assert 'class="tag"' not in shown
    assert '<span class="count" data-count="star">1</span>' in shown
    assert 'aria-pressed="true"' in await ann.page(f"/p/{post_id}")
    assert ids(await ann.page("/library/favourites")) == [post_id]
    await ann.person.send("/account/reading", "/account", favourite=" To  Read ")
    assert f'name="label" value="{post_id} To Read"' in await ann.page(ALL)
    refused = await ann.person.send("/account/reading", "/account", favourite="\u3164")
    assert refused.status_code == 400
    # Writing labels needs a paid plan.
    await free.member.save()
    assert "Favourite" not in await free.page(ALL)


async def test_a_label_that_the_post_had_before_is_not_undone(ann: Reader) -> None:
    post_id = (await ann.member.save(tags=["Birds"]))["post_id"]
    page = f"/p/{post_id}"

    added = await ann.person.send("/library/label", page, back=page, post=post_id, add="BIRDS")

    shown = await ann.page(added.headers["location"])
    assert "The post has this label already." in shown
    assert "data-undo" not in shown


async def test_refusals_are_those_of_the_api(ann: Reader, free: Reader) -> None:
    post_id = (await ann.member.save())["post_id"]
    page = f"/p/{post_id}"

    blank = await ann.person.send("/library/label", page, back=page, post=post_id, add="  ")
    unknown = await ann.change("/library", read="42")
    nothing = await ann.change("/library", explode=post_id)
    shown = await ann.page(page)
    empty = await ann.person.send("/library/label", page, back=page, post=post_id, add="")

    assert blank.headers["location"] == f"{page}#labels"
    assert "A label has 1 to 100 characters" in shown
    assert empty.status_code == 400
    assert unknown.status_code == 404
    assert nothing.status_code == 400

    own = (await free.member.save())["post_id"]
    label = await free.person.send("/library/label", "/library", back="/", post=own, add="Birds")
    assert label.status_code == 402
    assert "needs a paid plan" in label.text


async def test_nobody_changes_the_posts_of_others(ann: Reader, bob: Reader) -> None:
    post_id = (await ann.member.save())["post_id"]
    before = await stored(ann.member, post_id)
    await bob.member.save()

    for action in ("read", "archive", "trash", "restore"):
        assert (await bob.change("/library", **{action: post_id})).status_code == 404
    labelled = await bob.person.send("/library/label", "/library", post=post_id, add="Mine")

    assert labelled.status_code == 404
    assert await stored(ann.member, post_id) == before
