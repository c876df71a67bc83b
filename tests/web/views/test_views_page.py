"""/views and the sidebar: order, pins, counts, deleting and restoring."""

import re
from urllib.parse import quote

import httpx
import pytest

from bowerbird.clock import MICROSECONDS
from tests.web.house import Reader
from tests.web.views.conftest import made, sidebar, slugs, views

pytestmark = pytest.mark.anyio

HOUR = 3_600 * MICROSECONDS


FILTERS = (
    *(("language", "de"), ("label", "a,b"), ("label_match", "any"), ("has_note", True)),
    *(("unlabelled", True), ("is_archived_only", True), ("tag", "a"), ("media_type", "image")),
)


async def press(reader: Reader, **button: str) -> httpx.Response:
    return await reader.person.send("/views", "/views", **button)


async def restore(reader: Reader, name: str, owner: Reader | None = None) -> httpx.Response:
    """Presses the button that a deleted view has on the page of its owner."""
    page = await (owner or reader).page("/views")
    found = re.search(rf'value="(\w+)">Restore<span class="sr"> {name}<', page)
    assert found is not None
    fields = {"change": found[1], "back": "/views"}
    return await reader.person.send("/library/many/undo", "/views", **fields)


async def test_the_page_lists_all_views_with_their_counts(ann: Reader) -> None:
    await ann.member.save(tags=["Birds"])
    await ann.member.save(tags=["Birds"], is_read=True)
    await made(ann, "Birds", base_query={"tag": "Birds"}, description="For Sunday.")
    bucket = {"name": "Unread", "query": {"is_unread_only": True}}
    await made(ann, "日本語", triage_buckets=[bucket])

    page = await ann.page("/views")

    assert 'href="/views/birds" dir="auto">Birds</a><span class="count num">2<' in page
    assert "For Sunday." in page
    assert "label <bdi>Birds</bdi>" in page
    assert f'href="/views/{quote("日本語")}" dir="auto">日本語</a>' in page
    assert "all posts; buckets: <bdi>Unread</bdi>" in page


async def test_the_page_says_every_filter_of_a_view(ann: Reader) -> None:
    for number, (name, value) in enumerate(FILTERS):
        await made(ann, f"View {number}", base_query={name: value})

    page = await ann.page("/views")

    for word in ("language", "any", "with a note", "without labels", "archived only"):
        assert word in page


async def test_views_move_up_and_down(ann: Reader) -> None:
    for name in "abc":
        await made(ann, name)

    for button, slug, expected in (
        ("up", "c", "acb"),
        ("up", "c", "cab"),
        ("up", "c", "cab"),
        ("down", "a", "cba"),
        ("down", "a", "cba"),
    ):
        moved = await press(ann, **{button: slug})
        assert f"?said=view-moved&view={slug}&change=" in moved.headers["location"]
        assert await slugs(ann) == list(expected)
    page = await ann.page("/views")
    assert re.findall(r'name="delete" value="(\w)"', page) == list("cba")


async def test_the_sidebar_shows_pinned_views_in_their_order_with_counts(ann: Reader) -> None:
    await ann.member.save(tags=["x"])
    await ann.member.save(is_read=True)
    await made(ann, "Tagged", base_query={"tag": "x"})
    await made(ann, "Hidden", is_pinned=False)
    await made(ann, "All")
    await ann.page("/views")

    assert sidebar(await ann.page("/library")) == [("Tagged", "1"), ("All", "2")]
    await press(ann, unpin="tagged")
    await press(ann, pin="hidden")
    await press(ann, up="all")
    assert sidebar(await ann.page("/library")) == [("All", "2"), ("Hidden", "2")]


async def test_the_sidebar_shows_twenty_views(ann: Reader) -> None:
    for number in range(21):
        await made(ann, f"View {number}")

    shown = sidebar(await ann.page("/views"))

    assert [name for name, _ in shown] == [f"View {number}" for number in range(20)]


async def test_a_deleted_view_comes_back_as_it_was(ann: Reader) -> None:
    bucket = {"slug": "first", "name": "Renamed", "query": {"q": "nest"}}
    await made(ann, "a")
    await made(ann, "b", base_query={"tag": "x"}, triage_buckets=[bucket], description="why")
    await made(ann, "c")
    before = await views(ann)

    deleted = await press(ann, delete="b")
    page = await ann.page(deleted.headers["location"])

    assert await slugs(ann) == ["a", "c"]
    assert "data-undo>Undo</button>" in page
    assert "Deleted in the last hour" in page
    restored = await restore(ann, "b")
    assert "Undone." in await ann.page(restored.headers["location"])
    assert await views(ann) == before
    assert "Deleted in the last hour" not in await ann.page("/views")


async def test_a_deleted_view_can_be_restored_for_an_hour(ann: Reader) -> None:
    await made(ann, "a")
    await press(ann, delete="a")

    ann.house.clock.now += HOUR
    assert "Restore" in await ann.page("/views")
    ann.house.clock.now += 1
    assert "Restore" not in await ann.page("/views")
    assert await slugs(ann) == []


async def test_a_deleted_view_leaves_a_new_one_with_its_name_alone(ann: Reader) -> None:
    await made(ann, "a", description="old")
    await press(ann, delete="a")
    await made(ann, "a", description="new")

    refused = await restore(ann, "a")

    assert "it has been changed since" in await ann.page(refused.headers["location"])
    assert [view["description"] for view in await views(ann)] == ["new"]


async def test_the_views_of_others_do_not_exist(ann: Reader, bob: Reader) -> None:
    await made(ann, "secret")

    for button in ("up", "down", "pin", "unpin", "delete"):
        assert (await press(bob, **{button: "secret"})).status_code == 404, button
    assert await slugs(ann) == ["secret"]
    assert "secret" not in await bob.page("/views")
    for path in ("/views/secret", "/views/secret/posts", "/views/secret/edit"):
        assert (await bob.person.open(path)).status_code == 404


async def test_deleted_views_of_others_cannot_be_restored(ann: Reader, bob: Reader) -> None:
    await made(ann, "secret")
    await press(ann, delete="secret")

    assert "secret" not in await bob.page("/views")
    assert (await restore(bob, "secret", ann)).status_code == 404
    assert (await restore(ann, "secret")).status_code == 303


async def test_a_free_account_sees_its_views_and_cannot_change_them(free: Reader) -> None:
    assert "Smart Views" in await free.page("/views")
    refused = await press(free, delete="x")

    assert refused.status_code == 402
    assert "needs a paid plan" in refused.text


async def test_a_view_called_new_has_an_address_of_its_own(ann: Reader) -> None:
    post = await ann.member.save()
    assert await made(ann, "New") == "new"

    assert sidebar(await ann.page("/views")) == [("New", "1")]
    assert 'href="/views/new/posts"' in await ann.page("/views")
    shown = await ann.page("/views/new/posts")
    assert f'id="p-{post["post_id"]}"' in shown
    assert "New Smart View</h1>" in await ann.page("/views/new")
    saved = await ann.person.send("/views/new/edit", "/views/new/edit", name="Newer", do="save")
    assert saved.headers["location"] == "/views/new/posts?said=view-saved"
    changed = await ann.change("/views/new/posts", read=post["post_id"])
    assert changed.headers["location"].startswith("/views/new/posts?said=post-read")


async def test_a_post_in_a_view_of_any_script_can_be_changed(ann: Reader) -> None:
    post = await ann.member.save()
    slug = quote(await made(ann, "日本語", triage_buckets=[{"name": "鳥", "query": {}}]))

    page = await ann.page(f"/views/{slug}?bucket={quote('鳥')}")
    assert f'href="/views/{slug}?bucket={quote("鳥")}" aria-current="page"' in page
    changed = await ann.change(f"/views/{slug}?bucket={quote('鳥')}", archive=post["post_id"])

    assert changed.headers["location"].startswith(f"/views/{slug}?bucket={quote('鳥')}&said=")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_restoring_does_not_exceed_the_number_of_views(ann: Reader) -> None:
    await made(ann, "old")
    await press(ann, delete="old")
    for number in range(200):
        await made(ann, str(number))

    refused = await restore(ann, "old")

    assert refused.status_code == 400
    assert "at most 200 views" in refused.text
    assert "Restore" in await ann.page("/views")


async def test_a_form_without_an_action_is_refused(ann: Reader) -> None:
    assert (await press(ann)).status_code == 400
