"""Labels: the page, the picker, and suggestions."""

import re
from html import unescape
from typing import Any

import httpx
import pytest

from tests.support import writing
from tests.support.in_turn import in_turn
from tests.support.saving import stored
from tests.support.visiting import form_token
from tests.web.house import Reader
from tests.web.library.test_changes import target

pytestmark = pytest.mark.anyio


HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='x'>",
    "تصميم \u202eabc",
    "🪶" * 50,
    "x" * 100,
    "{{ 7*7 }} & ?#/%",
]


async def names(reader: Reader, path: str = "/labels") -> list[str]:
    """The labels that the page lists."""
    page = await reader.page(path)
    found = re.findall(r'<li id="label-\d+"><a class="t".*?<bdi>(.*?)</bdi>', page)
    return [unescape(each) for each in found]


async def send(reader: Reader, action: str, of: str, **fields: Any) -> httpx.Response:
    label = await writing.label_id(reader.member, of)
    return await reader.person.send(f"/labels/{action}", "/labels", label=label, **fields)


async def test_all_labels_are_listed_with_their_counts(ann: Reader) -> None:
    await ann.member.save(tags=["birds", "Art"])
    await ann.member.save(tags=["birds"])

    page = await ann.page("/labels")

    assert await names(ann) == ["Art", "birds"]
    assert "2 labels." in page
    assert '<span class="soft num">2<span class="sr"> posts</span></span>' in page
    assert 'href="/library?is_unread_only=false&amp;hide_archived=false&amp;tag=birds"' in page


async def test_a_label_is_made_once(ann: Reader) -> None:
    made = await ann.person.send("/labels/make", "/labels", q="  Field   notes ")
    again = await ann.person.send("/labels/make", "/labels", q="FIELD NOTES")

    path, parameters, _ = target(made)
    assert parameters.pop("change")
    assert (path, parameters) == ("/labels", {"q": ["Field notes"], "said": ["label-made"]})
    assert target(again)[1] == {"q": ["Field notes"], "said": ["label-known"]}
    assert await writing.labels(ann.member) == {"Field notes": 0}
    assert "The label is made." in await ann.page(made.headers["location"])


async def test_a_label_is_renamed_and_coloured(ann: Reader) -> None:
    post_id = (await ann.member.save(tags=["birds"]))["post_id"]

    changed = await send(
        ann, "change", "birds", name="Bower birds", color="plum", back="/labels?q=b"
    )

    assert target(changed)[1].keys() == {"q", "said", "change"}
    assert (await stored(ann.member, post_id))["tags"] == ["Bower birds"]
    for path in ("/labels", "/library", f"/p/{post_id}", "/library?density=compact"):
        page = await ann.page(path)
        assert page.count('<span class="dot plum"') >= 2 - ("compact" in path), path
    await send(ann, "change", "Bower birds", name="Bower birds", color="")
    [label] = (await ann.member.get("/v1/labels")).json()["data"]
    assert label["color"] is None


async def test_the_form_of_one_label_opens_in_its_place(ann: Reader) -> None:
    await ann.member.save(tags=["birds", "art"])
    label = await writing.label_id(ann.member, "birds")
    await send(ann, "change", "birds", name="birds", color="rust")

    page = await ann.page(f"/labels?label={label}")

    assert f'<li class="open" id="label-{label}">' in page
    assert re.search(r'name="name" value="birds"', page)
    assert re.search(r'value="rust" checked', page)
    assert '<option value="art">' in page
    assert '<option value="birds">' not in page


async def test_a_label_is_merged_into_another_one_by_name(ann: Reader) -> None:
    first = (await ann.member.save(tags=["fieldnotes"]))["post_id"]
    await ann.member.save(tags=["fieldnotes", "Field notes"])

    merged = await send(ann, "merge", "fieldnotes", into="field NOTES")

    said = await ann.page(merged.headers["location"])
    assert "Merged the label “fieldnotes”, which 2 posts had, into “Field notes”." in said
    assert (await stored(ann.member, first))["tags"] == ["Field notes"]
    assert await writing.labels(ann.member) == {"Field notes": 2}


async def test_a_refused_form_says_so_in_its_place_and_keeps_what_was_typed(ann: Reader) -> None:
    await ann.member.save(tags=["birds", "art"])

    renamed = (await send(ann, "change", "birds", name="ART", color="rust")).text
    merged = (await send(ann, "merge", "birds", into="nowhere")).text

    for page, sentence in (
        (renamed, "A label named &#39;ART&#39; already exists."),
        (merged, "No label is named &#39;nowhere&#39;."),
    ):
        assert page.count(sentence) == 1
        assert page.index(sentence) > page.index('class="lab-edit"')
    assert 'name="name" value="ART" required autofocus aria-invalid="true"' in renamed
    assert re.search(r'value="rust" checked', renamed)
    assert 'name="into" value="nowhere"' in merged
    assert 'name="name" value="birds" required autocomplete' in merged


async def test_renaming_a_label_without_posts_can_be_undone(ann: Reader) -> None:
    await ann.person.send("/labels/make", "/labels", q="birds")

    changed = await send(ann, "change", "birds", name="bower birds", color="rust")
    page = await ann.page(changed.headers["location"])

    [change] = re.findall(r'name="change" value="([^"]+)"', page)
    await ann.person.post("/library/many/undo", csrf=form_token(page), change=change)
    assert await writing.labels(ann.member) == {"birds": 0}


async def test_the_form_returns_only_to_the_list_of_labels(ann: Reader) -> None:
    await ann.member.save(tags=["birds"])

    changed = await send(ann, "change", "birds", name="birds", back="https://evil.example/?q=x")

    assert target(changed)[:2] == ("/labels", {"said": ["label-changed"]})


LONG = "n" * 120

LIMIT = "A label has at most 100 characters; this one has 120."


@pytest.mark.parametrize(
    ("action", "field"),
    [
        ("/labels/make", "q"),
        ("/labels/change", "name"),
        ("/library/label", "add"),
        ("/library/many", "label"),
        ("/labels/apply", "label"),
    ],
)
async def test_a_name_that_is_too_long_is_refused_with_the_limit_and_never_cut(
    ann: Reader, action: str, field: str
) -> None:
    post = (await ann.member.save(tags=["birds"]))["post_id"]
    page = await ann.page("/labels")
    [label_id] = set(re.findall(r'id="label-([^"]+)"', page))
    edited = await ann.page(f"/labels?label={label_id}")
    listed, shown = await ann.page("/library"), await ann.page(f"/p/{post}")
    for form in (page, edited, listed, shown):
        for control in re.findall(rf'<input [^>]*name="(?:{field})"[^>]*>', form):
            assert "maxlength" not in control

    posts = {"op": "add", "posts": post} if action == "/labels/apply" else {"posts": post}
    common = {
        "back": "/library",
        "post": post,
        "label": label_id,
        "add_label": "",
        "list": "/library",
    }
    fields = {**common, f"pick-{post}": "on", **posts, field: LONG}
    refused = await ann.person.send(action, "/library", **fields)

    assert refused.status_code == 400, refused.text
    assert refused.text.count(LIMIT) == 1
    assert "1 to 100" not in refused.text
    assert "label_name" not in refused.text
    assert await names(ann) == ["birds"]


async def test_a_long_name_typed_on_the_page_of_a_post_stays_in_its_field(ann: Reader) -> None:
    post = (await ann.member.save(tags=["birds"]))["post_id"]
    back = f"/p/{post}?from=%2Flibrary"
    long = "鸟" * 120

    refused = await ann.person.send("/library/label", f"/p/{post}", back=back, post=post, add=long)
    assert refused.headers["location"] == f"{back}#labels"
    shown = await ann.page(refused.headers["location"].partition("#")[0])

    field = re.search(r'<input class="in" id="add"[^>]*>', shown)
    assert field is not None
    assert f'value="{long}"' in field[0]
    assert 'aria-invalid="true"' in field[0]
    assert shown.count(LIMIT) == 1
    assert 'class="toast"' not in shown
    # It is there once.
    assert LIMIT not in await ann.page(back)
    # More than a cookie holds.
    longer = await ann.person.send(
        "/library/label", f"/p/{post}", back=back, post=post, add="n" * 5_000
    )
    assert longer.status_code == 400
    assert "this one has 5,000." in longer.text


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


@in_turn(
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


async def filled(reader: Reader, author: str = "ines") -> str:
    """The id of a post whose author has written four about databases."""
    for n in range(4):
        await reader.member.save(text=f"note {n}", author=author, tags=["databases"])
    return str((await reader.member.save(text="new", author=author))["post_id"])


def buttons(page: str) -> list[tuple[str, str]]:
    """The name and the reason of each suggested label."""
    return re.findall(r'class="sug" name="add" value="([^"]*)" title="([^"]*)"', page)


async def test_the_page_of_a_post_offers_labels_that_fit_it(ann: Reader) -> None:
    post_id = await filled(ann)

    page = await ann.page(f"/p/{post_id}")

    assert buttons(page) == [("databases", "like 4 by this author")]
    assert (await stored(ann.member, post_id))["tags"] is None


async def test_the_picker_gets_labels_for_a_post_while_nothing_is_typed(ann: Reader) -> None:
    post_id = await filled(ann)

    [label] = (await ann.person.open(f"/labels/matching?post={post_id}")).json()["suggested"]

    assert (label["name"], label["reason"]) == ("databases", "like 4 by this author")
    for query in (f"?post={post_id}&q=d", "?post=404", "?post=x", ""):
        assert (await ann.person.open(f"/labels/matching{query}")).json()["suggested"] == []


async def test_a_free_account_gets_no_suggestion(ann: Reader) -> None:
    post_id = await filled(ann)
    await ann.member.set_plan("free")

    assert buttons(await ann.page(f"/p/{post_id}")) == []
    assert (await ann.person.open(f"/labels/matching?post={post_id}")).json()["suggested"] == []
