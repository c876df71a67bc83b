"""Smart Views: the page and the editor."""

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import httpx
import pytest

from tests.web.house import Reader, ids
from tests.web.views.conftest import made, sidebar, slugs, views

pytestmark = pytest.mark.anyio


NEW = "/views/new"


async def send(reader: Reader, path: str, do: str, **fields: Any) -> httpx.Response:
    return await reader.person.send(path, path, do=do, **fields)


def save_link(page: str) -> str:
    found = re.search(r'href="(/views/new\?[^"]+)"', page)
    assert found, page
    return unescape(found[1])


def found(page: str) -> str:
    """The number of posts that match."""
    match = re.search(r'<b class="num">([\d,]+)</b>', page)
    assert match, page
    return match[1]


def field(page: str, name: str) -> str:
    match = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert match, page
    return unescape(match[1])


def chosen(page: str, name: str) -> str:
    options = page.partition(f'name="{name}">')[2].partition("</select>")[0]
    match = re.search(r'<option value="([^"]*)" selected', options)
    return match[1] if match else ""


def controls(page: str) -> dict[str, str]:
    """What the form would send if nothing was changed."""
    form = page.partition("data-preview")[2].partition("</form>")[0]
    names = re.findall(r'<(?:input|select)[^>]* name="([\w-]+)"', form)
    selects = set(re.findall(r'<select[^>]* name="([\w-]+)"', form))
    return {
        name: chosen(form, name) if name in selects else field(form, name)
        for name in names
        if name not in ("csrf", "is_pinned")
    } | ({"is_pinned": "on"} if 'name="is_pinned" checked' in form else {})


LISTS = (
    "tag=Birds",
    "tag=Birds&is_unread_only=false",
    "media_type=image&is_unread_only=false&hide_archived=false&sort_by=posted_at&sort_order=asc",
    "q=%22two+nests%22&sort_by=relevance",
    "author=ann&sort_order=asc&density=compact&limit=3",
    "posted_from=2020-01-01",
    "language=und",
    "label=Birds,Nests&label_match=any&has_note=false",
)


@pytest.mark.parametrize("query", LISTS)
async def test_a_saved_list_shows_the_same_posts(ann: Reader, query: str) -> None:
    image = {"attachments": [{"type": "image", "url": "https://example.org/1.jpg"}]}
    for number in range(7):
        await ann.member.save(
            tags=["Birds"] if number % 2 else [],
            text="two nests" if number else "nests, two",
            is_read=number == 1,
            is_archived=number == 3,
            author_username="ann" if number > 1 else "bob",
            **(image if number < 3 else {}),
        )
    listed = await ann.page(f"/library?{query}")

    form = await ann.page(save_link(listed))
    saved = await send(ann, NEW, "save", **(controls(form) | {"name": "Mine"}))

    assert saved.status_code == 303, saved.text
    expected = [*ids(await ann.page(f"/library?{query.replace('limit=3', '')}"))]
    assert 0 < len(expected) < 7
    assert found(form) == str(len(expected))
    assert ids(await ann.page("/views/mine")) == expected


async def test_a_new_view_has_every_field_of_the_form(ann: Reader) -> None:
    filters = {
        "q": "nest*",
        "vector_search_term": "homes of birds",
        "tag": "Birds",
        "author": "@mara",
        "media_type": "image",
        "bookmarked_from": "last 7 days",
        "bookmarked_to": "2030-01-01",
        "posted_from": "-2y",
        "posted_to": "2030-01-02",
    }
    saved = await send(
        ann,
        NEW,
        "save",
        name=" Vögel  und ΛΊΣΤΑ ",
        description="why",
        order="favorite_count desc",
        is_unread_only="true",
        hide_archived="false",
        **filters,
        **{"b0-name": "Bowers", "b0-slug": "", "b0-author": "", "b0-hide_archived": ""},
        **{"b1-name": "", "b1-slug": ""},
    )

    assert saved.headers["location"].endswith("?said=view-created")
    (view,) = await views(ann)
    assert view["name"] == "Vögel und ΛΊΣΤΑ"
    assert view["slug"] == "vogel-und-λίστα"
    assert view["description"] == "why"
    assert view["base_query"] == {**filters, "is_unread_only": "true", "hide_archived": "false"}
    assert view["default_sort"] == {"sort_by": "favorite_count", "sort_order": "desc"}
    assert view["triage_buckets"] == [{"slug": "bowers", "name": "Bowers", "query": {}}]
    assert view["is_pinned"] is False


async def test_saving_without_a_change_changes_nothing(ann: Reader) -> None:
    await ann.member.save()
    slug = await made(
        ann,
        "All of it",
        description="why",
        base_query={"q": 'a "b c"', "posted_from": "last 2 weeks", "is_unread_only": True},
        default_sort={"sort_by": "title", "sort_order": "desc"},
        triage_buckets=[
            {"slug": "other", "name": "One", "query": {"media_type": "photo", "q": "x"}},
            {"name": "日本", "query": {"author": "@x", "hide_archived": False}},
            {"name": "German", "query": {"language": "de"}},
            {"name": "Noted", "query": {"has_note": "true", "label": "a,b", "label_match": "any"}},
        ],
    )
    (before,) = await views(ann)
    ann.house.clock.now += 1_000_000

    form = await ann.page(f"/views/{slug}/edit")
    saved = await send(ann, f"/views/{slug}/edit", "save", **controls(form))

    assert saved.headers["location"] == f"/views/{slug}?said=view-saved"
    (after,) = await views(ann)
    # A form sends texts.
    assert after.pop("base_query") == before.pop("base_query") | {"is_unread_only": "true"}
    buckets = before.pop("triage_buckets")
    buckets[1]["query"]["hide_archived"] = "false"
    assert after.pop("triage_buckets") == buckets
    assert {**after, "updated_at": ""} == {**before, "updated_at": ""}


async def test_the_preview_counts_and_shows_five_posts(ann: Reader) -> None:
    for number in range(7):
        await ann.member.save(text=f"bower {number}", tags=["x"] if number % 2 else [])
    await ann.member.save(text="<b>nest</b>")

    page = (await send(ann, NEW, "show", q="bower", **{"b0-name": "Odd", "b0-tag": "x"})).text

    assert found(page) == "7"
    preview = page.partition('id="preview"')[2]
    assert re.findall(r">(bower \d)<", preview) == [f"bower {number}" for number in range(6, 1, -1)]
    assert '<bdi>Odd</bdi> <span class="num soft">3</span>' in preview
    hostile = (await send(ann, NEW, "show", q="nest")).text
    assert "&lt;b&gt;nest&lt;/b&gt;" in hostile
    assert await views(ann) == []


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": ""}, "“Name” must have 1 to 100 characters."),
        ({"name": "x" * 101}, "“Name” must have 1 to 100 characters, got"),
        ({"bookmarked_from": "soon"}, "“Saved from” must be a date such as 2026-01-31, or a"),
        ({"media_type": "smell"}, "“Type” must be one of"),
        ({"order": "taste"}, "“Order” must be one of"),
        ({"q": "x" * 1_001}, "“Words” must be a string of at most 1,000 characters"),
        (
            {"tag": "a", "b0-name": "", "b1-name": "B", "b1-tag": "b"},
            "Bucket 2: “Label” is already set by the view.",
        ),
        ({"b0-name": "", "b0-tag": "b"}, "Bucket 1: “Name” must have 1 to 100 characters."),
        ({"b0-name": "B", "b1-name": "b"}, "Bucket 2: “Name” &#39;b&#39; is already used"),
    ],
)
async def test_what_is_wrong_is_said_in_the_words_of_the_form(
    ann: Reader, fields: dict[str, str], sentence: str
) -> None:
    values = {"name": "Mine", **fields}

    refused = await send(ann, NEW, "save", **values)

    assert refused.status_code == 400
    assert sentence in refused.text
    # Nothing that was typed is lost.
    for name, value in values.items():
        if name not in ("order", "media_type"):
            assert field(refused.text, name) == value
    assert await views(ann) == []


async def test_the_filters_of_a_bucket_are_said_in_words(ann: Reader) -> None:
    bucket = {"name": "Noted", "query": {"author": "ada", "has_note": "true"}}
    slug = await made(ann, "Birds", triage_buckets=[bucket])

    page = await ann.page(f"/views/{slug}/edit")

    assert "<summary>author <bdi>ada</bdi>, with a note</summary>" in page


async def test_buckets_are_added_moved_and_removed_by_buttons(ann: Reader) -> None:
    buckets = {"b0-name": "A", "b0-slug": "a", "b0-q": "x", "b1-name": "B", "b1-slug": ""}

    def names(page: httpx.Response) -> list[str]:
        return re.findall(r'name="b\d+-name" value="([^"]*)"', page.text)

    added = await send(ann, NEW, "add", **buckets)
    assert names(added) == ["A", "B", ""]
    assert re.findall(r'name="([\w-]+)"[^>]* autofocus', added.text) == ["b2-name"]
    up = await send(ann, NEW, "up 1", **buckets)
    assert names(up) == ["B", "A"]
    assert (field(up.text, "b1-slug"), field(up.text, "b1-q")) == ("a", "x")
    assert names(await send(ann, NEW, "down 0", **buckets)) == ["B", "A"]
    assert names(await send(ann, NEW, "up 0", **buckets)) == ["A", "B"]
    assert names(await send(ann, NEW, "remove 0", **buckets)) == ["B"]
    for nonsense in (
        "remove 9",
        "remove -1",
        "remove ٣",
        "remove",
        "dance 1",
        "",
        f"up {'9' * 5_000}",
    ):
        assert names(await send(ann, NEW, nonsense, **buckets)) == ["A", "B"]


async def test_a_view_with_twenty_buckets_can_be_edited(ann: Reader) -> None:
    buckets = [{"name": f"B {number}", "query": {"q": f"w{number}"}} for number in range(20)]
    slug = await made(ann, "Many", triage_buckets=buckets)
    (before,) = await views(ann)
    page = await ann.page(f"/views/{slug}/edit")
    assert "Add a bucket" not in page

    full = await send(ann, f"/views/{slug}/edit", "add", **controls(page))
    saved = await send(ann, f"/views/{slug}/edit", "save", **controls(full.text))

    assert saved.status_code == 303
    assert (await views(ann))[0]["triage_buckets"] == before["triage_buckets"]


async def test_the_link_of_an_unread_list_says_so(ann: Reader) -> None:
    await ann.member.save(tags=["x"])

    link = save_link(await ann.page("/library?tag=x&sort_by=author"))

    query = dict(parse_qsl(urlsplit(link).query))
    assert query == {"tag": "x", "sort_by": "author", "is_unread_only": "true"}
    assert field(await ann.page(link), "name") == "x"
    # A list without filters is no view.
    assert "Save as Smart View" not in await ann.page("/library")


async def test_the_free_plan_cannot_count_with_filters_of_a_bucket(free: Reader) -> None:
    await free.member.save(author="ada")

    shown = await send(free, NEW, "preview", **{"b0-name": "Ada", "b0-author": "@ada"})

    assert "The free plan does not include filters" in shown.text


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
        # A view that is at the end already is not changed: its message has no undo.
        assert f"?said=view-moved&view={slug}&" in moved.headers["location"]
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
    assert "Deleted in the last 30 days" in page
    restored = await restore(ann, "b")
    assert "Undone." in await ann.page(restored.headers["location"])
    assert await views(ann) == before
    assert "Deleted in the last 30 days" not in await ann.page("/views")


async def test_a_deleted_view_leaves_a_new_one_with_its_name_alone(ann: Reader) -> None:
    await made(ann, "a", description="old")
    await press(ann, delete="a")
    await made(ann, "a", description="new")

    refused = await restore(ann, "a")

    assert "it has been changed since" in await ann.page(refused.headers["location"])
    assert [view["description"] for view in await views(ann)] == ["new"]


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
