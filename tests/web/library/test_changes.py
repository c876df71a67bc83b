"""Changes of posts, alone and as a thread, which is one row of a list."""

import html
import re
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx
import pytest

from tests.support import make, writing
from tests.support.saving import stored
from tests.web.house import Reader, ids
from tests.web.library.test_lists import older

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


async def test_a_blank_label_is_refused_where_it_was_typed(ann: Reader) -> None:
    page = f"/p/{(await ann.member.save())['post_id']}"

    blank = await ann.person.send(
        "/library/label", page, back=page, post=page.removeprefix("/p/"), add="  "
    )

    assert blank.headers["location"] == f"{page}#labels"
    assert "A label has 1 to 100 characters" in await ann.page(page)


def part(thread: int, number: int, **fields: Any) -> dict[str, Any]:
    """The post of a thread with this number; 0 starts it."""
    first = str(9000 + 100 * thread)
    names = ("tweet_is_thread",) if number == 0 else ("is_sub_tweet_of_thread",)
    return make.post(
        post_id=str(int(first) + number),
        text=f"part {number} of {thread}",
        posted_at=f"2026-01-0{thread}T00:{number:02}:00+00:00",
        meta={"tweet_conversation_id": first, **dict.fromkeys(names, True)},
        **fields,
    )


def rows(page: str) -> list[list[str]]:
    """The posts of each row, the shown one first."""
    boxes = re.findall(r'form="many" name="p-(\d+)"(?: value="([^"]*)")?', page)
    return [[first, *others.split()] for first, others in boxes]


async def walked(reader: Reader, path: str) -> list[list[str]]:
    found: list[list[str]] = []
    while path:
        page = await reader.page(path)
        found += rows(page)
        path = older(page) if "data-older" in page else ""
    return found


@pytest.mark.both
async def test_the_posts_of_a_thread_are_one_row(ann: Reader) -> None:
    await ann.member.save_all([part(1, number) for number in range(4)])
    await ann.member.save(post_id="7", text="alone")

    page = await ann.page(ALL)

    assert rows(page) == [["7"], ["9100", "9101", "9102", "9103"]]
    assert "<h1>5 posts</h1>" in page
    assert ">part 0 of 1</p>" in page
    assert '<li data-n="2" dir="auto">part 1 of 1</li><li data-n="3" dir="auto">part 2 of 1' in page
    assert "Thread, 4 posts</a>" in page
    assert "part 3" not in page
    assert "Thread, 4 posts" in await ann.page(f"{ALL}&density=compact")
    assert len(await ann.member.ids()) == 5
    # A search finds single posts.
    assert len(rows(await ann.page(f"{ALL}&q=part"))) == 4


@pytest.mark.parametrize(
    "query",
    [
        "",
        "&sort_by=posted_at",
        "&sort_by=sort_index&sort_order=asc",
        "&sort_by=author&sort_order=asc",
        "&tag=Birds",
        "&is_unread_only=true",
        "&posted_from=2026-01-01T00:01:30Z",
        "&author=ada",
    ],
)
async def test_every_post_of_a_list_is_in_one_row_whichever_pages_are_opened(
    ann: Reader, query: str
) -> None:
    saved = [part(thread, number) for number in range(4) for thread in (1, 2, 3)]
    for place, post in enumerate(saved):
        post |= {"is_read": place % 5 == 0, "tags": ["Birds"] if place % 3 else None}
    # Somebody else goes on in the same conversation, and a first post is not saved.
    saved += [part(1, number, author="bob") for number in (20, 21)]
    saved += [make.post(author="eve"), *(part(4, number) for number in (2, 1))]
    await ann.member.save_all(saved)
    given = dict(parse_qsl(f"is_unread_only=false&hide_archived=false{query}"))
    in_list = await ann.member.crawl(**given, limit="100")

    for limit in (1, 2, 3, 30):
        found = await walked(ann, f"/library?{urlencode(given | {'limit': str(limit)})}")
        assert sorted(post_id for row in found for post_id in row) == sorted(in_list)
        # A row has the place of the post that comes first.
        places = [min(in_list.index(post_id) for post_id in row) for row in found]
        assert places == sorted(places)
        threads = [(row[0][:2], int(row[0]) % 100 >= 20) for row in found if row[0] > "9000"]
        assert len(threads) == len(set(threads))


async def test_a_long_thread_has_so_many_posts_in_a_row(ann: Reader) -> None:
    await ann.member.save_all([part(1, number % 60) for number in range(60)])
    more = [part(1, number) | {"post_id": str(20_000 + number)} for number in range(1, 50)]
    await ann.member.save_all(more)

    found = await walked(ann, ALL)

    assert sorted(map(len, found)) == [*([1] * 9), 100]
    second = await ann.page(older(await ann.page(ALL)))
    assert "The posts of this page belong to threads on pages before it." in second


async def test_a_thread_is_changed_as_one_and_changed_back(ann: Reader, bob: Reader) -> None:
    for reader in (ann, bob):
        await reader.member.save_all([part(1, number, is_read=number == 2) for number in range(4)])
    page = await ann.page(ALL)
    button = re.search(r'form="many" name="read" value="([^"]+)"', page)
    assert button
    assert 'aria-label="Ada L., 1 Jan, thread of 4 posts, unread"' in page

    changed = await ann.person.send("/library/many", ALL, read=button[1], back=ALL)
    assert changed.headers["location"].endswith("#p-9100")
    page = await ann.page(changed.headers["location"])
    assert "Marked 3 posts read." in page
    assert 'class="post read"' in page
    change = re.search(r'name="change" value="(\w+)" data-undo', page)
    assert change
    await ann.person.send("/library/many/undo", ALL, change=change[1], back=ALL)

    assert len(await ann.member.ids()) == 3
    picked = {"p-9100": "9101 9102 9103", "archive": "", "back": ALL, "list": ALL}
    done = await ann.person.send("/library/many", ALL, **picked)
    assert "Archived 4 posts." in await ann.page(done.headers["location"])
    assert len(await bob.member.ids()) == 3
