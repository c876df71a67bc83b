"""Every format of another program: what a small file of it says about a post."""

import csv
import io
import json
import zipfile
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from bowerbird.sources.post_links import parse
from bowerbird.sources.reading import UnknownFile
from tests.sources.program_files import FILES, PAGE, POST, SAVED, YOUTUBE, Said
from tests.support.posts.source_files import Report, report


def said(found: Report) -> Said:
    record = found.post.record
    saved = "" if record.bookmarked_at is UNSET else record.bookmarked_at[: len(SAVED)]
    return Said(
        text=record.tweet_details.text,
        saved=saved,
        labels=tuple(record.tags or ()) if record.tags is not UNSET else (),
        note=found.post.note,
        is_archived=record.is_archived is True,
        is_read=record.is_read is True,
    )


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_recognised_and_says_what_it_says(name: str) -> None:
    file = FILES[name]

    found = report(file.content, with_likes=True)

    assert found.name == file.format
    assert said(found) == file.said
    assert found.post.record.tweet_details.link == POST.replace("/ada/", f"/{_author(found)}/")
    assert found.reasons == ({"not_a_post": file.pages} if file.pages else {})
    assert [one.link for one in found.left_out] == [PAGE] * file.pages


def _author(found: Report) -> str:
    """A file of ids does not name it."""
    return found.post.record.tweet_details.link.split("/")[3]


OTHER = "https://x.com/eve/status/1908771653022654999"
NUMBER = POST.rpartition("/")[2]


@pytest.mark.parametrize(
    "content",
    [
        f"quoted_url,tweet_url,text\n{OTHER},{POST},hello\n",
        f"tweet_id,reply_url,text\n{NUMBER},{OTHER},hello\n",
        f"author_id,id,text,username\n1908771653022650000,{NUMBER},hello,ada\n",
        f"id,text,url,quoted_status_url\n{NUMBER},hello,,{OTHER}\n",
        json.dumps([{"id": NUMBER, "text": "hello", "author_username": "ada", "quoted": OTHER}]),
    ],
)
def test_a_record_is_the_post_itself_not_one_that_it_quotes_or_answers(content: str) -> None:
    found = report(content)

    assert [post.record.post_id for post in found.posts] == [NUMBER]


@pytest.mark.parametrize(
    "content",
    [
        # Around the records are folders, or each has a shell.
        json.dumps({"folders": [{"name": "Recipes", "items": [{"url": POST, "text": "hello"}]}]}),
        json.dumps([{"node": {"url": POST, "text": "hello"}}]),
        # A line that is cut, and a table without a header.
        f'{{"url":"{OTHER}"}}\n{{"url":"x"\n{{"url":"{POST}","text":"hello"}}\n',
        f"{OTHER},hi\n{POST},hello\n",
        f"« {OTHER}» et\n看{POST}。\n",
    ],
)
def test_the_records_of_untidy_files_are_found(content: str) -> None:
    found = report(content)

    last = found.posts[-1].record
    assert last.post_id == NUMBER
    assert last.tweet_details.text in ("hello", "")


def test_likes_of_instagram_are_imported_on_request() -> None:
    liked = {"string_list_data": [{"href": "https://www.instagram.com/p/CUbHfhpswxt/"}]}

    found = report(json.dumps({"likes_media_likes": [{"title": "ada", **liked}]}))

    assert (found.name, found.posts, found.reasons) == ("Instagram JSON", [], {"not_requested": 1})


def test_the_short_ids_of_the_first_years_are_ids_in_a_table_of_posts() -> None:
    found = report("id,tweet,username,url\n20,just setting up,jack,\n")

    assert [post.record.post_id for post in found.posts] == ["20"]


def test_links_in_other_parts_of_an_archive_of_x_are_not_imported() -> None:
    part = f'window.YTD.direct_messages.part0 = [ {{ "text" : "look: {POST}" }} ]'

    with pytest.raises(UnknownFile, match="no bookmarks"):
        report(part)


@pytest.mark.parametrize("name", ["tumblr", "old tiktok likes"])
def test_liked_posts_are_imported_on_request(name: str) -> None:
    found = report(FILES[name].content)

    assert (found.posts, found.reasons) == ([], {"not_requested": 1})


@pytest.mark.parametrize("name", ["liked_posts.json", "likes/Liked_posts (1).json"])
def test_likes_of_instagram_that_come_alone_are_known_by_the_name_of_their_file(name: str) -> None:
    content = FILES["instagram"].content

    assert report(content, name).reasons == {"not_requested": 1}
    assert report(content, name, with_likes=True).post.record.tags == ["liked"]
    assert not report(content, "saved_posts.json").post.record.tags


def test_the_address_of_a_video_is_built_from_its_id() -> None:
    found = report(YOUTUBE)
    address = "https://www.youtube.com/watch?v=noFbP5V0ROg"

    links = [post.record.tweet_details.link for post in found.posts]
    assert found.name == "YouTube playlist CSV"
    assert links + [one.link for one in found.left_out] == [
        link.link if (link := parse(address)) else address
    ]


def test_files_of_no_program_are_not_read_beside_those_of_one() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as output:
        output.writestr("your_activity/saved_posts.json", FILES["instagram"].content)
        output.writestr("your_activity/posts_viewed.json", FILES["instagram"].content)
        output.writestr("your_activity/liked_posts.json", FILES["instagram"].content)
        output.writestr("links.json", FILES["strings"].content)

    found = report(archive.getvalue())

    assert (len(found.posts), found.reasons) == (1, {"not_requested": 1})
    assert found.notices[-1].startswith("Not imported: 2 other files")


def test_the_files_of_no_program_are_read_if_an_archive_has_no_others() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as output:
        output.writestr("links.json", FILES["strings"].content)
        output.writestr("links.md", FILES["markdown"].content)

    assert len(report(archive.getvalue()).posts) == 2


@pytest.mark.parametrize(
    ("date", "is_saved"),
    [("2018-10-10", False), ("2018-10-11T09:00:00", False), ("2023-11-14", True)],
)
def test_a_date_long_after_the_time_in_the_id_is_that_of_saving(date: str, is_saved: bool) -> None:  # noqa: FBT001
    record = report(f"url,date\n{POST},{date}\n").post.record

    assert (record.bookmarked_at is not UNSET) is is_saved
    assert record.tweet_details.posted_at[:10] == ("2018-10-10" if is_saved else date[:10])


@pytest.mark.parametrize(
    "content",
    [
        "id,name\n1,Ada\n2,Bob\n",
        "number,word\n5,ada\n",
        json.dumps([{"id": 5, "name": "Ada"}]),
    ],
)
def test_small_numbers_are_not_ids_of_posts(content: str) -> None:
    with pytest.raises(Exception, match="cannot be imported"):
        report(content)


def test_a_record_of_a_general_list_without_a_link_is_not_a_post_by_its_number() -> None:
    found = report(json.dumps([{"id": 5, "url": POST}, {"id": 6, "title": "T"}]))

    assert (len(found.posts), found.reasons) == (1, {"invalid": 1})


_COLUMNS = {
    "address": st.sampled_from(["url", "URL", "Link", "tweet_url", "permalink", "Saved where"]),
    "text": st.sampled_from(["text", "Full_Text", "Tweet Content"]),
    "note": st.sampled_from(["note", "My Notes"]),
    "tags": st.sampled_from(["tags", "Labels"]),
    "other": st.sampled_from(["Colour", "ip", "x"]),
}
_WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_table_is_read_whatever_its_dialect_is(data: st.DataObject) -> None:
    names = {kind: data.draw(column) for kind, column in _COLUMNS.items()}
    order = data.draw(st.permutations(sorted(names)))
    delimiter = data.draw(st.sampled_from(",;\t|"))
    rows: list[dict[str, Any]] = [
        {
            "address": f"{POST[:-1]}{n}",
            "text": f"Text {data.draw(_WORDS)}",
            "note": f"Note {data.draw(_WORDS)}",
            "tags": "a",
            "other": data.draw(_WORDS),
        }
        for n in range(3)
    ]
    output = io.StringIO()
    quoting: Literal[0, 1] = csv.QUOTE_ALL if data.draw(st.booleans()) else csv.QUOTE_MINIMAL
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    table = csv.writer(output, delimiter=delimiter, quoting=quoting, lineterminator=end)
    table.writerow([names[kind] for kind in order])
    table.writerows([[row[kind] for kind in order] for row in rows])
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))

    found = report(output.getvalue().encode(encoding))

    assert [post.record.tweet_details.text for post in found.posts] == [
        row["text"].strip() for row in rows
    ]
    assert [post.note for post in found.posts] == [row["note"].strip() for row in rows]
    assert [post.record.tags for post in found.posts] == [["a"]] * 3


@pytest.mark.parametrize("size", [100_000, 1 << 20])
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_huge_cell_costs_at_most_its_own_row(size: int, quote: str) -> None:
    rows = f"1,{quote}{'x' * size}{quote},{POST}\n2,short,{POST[:-1]}9\n"

    found = report(f"number,text,url\n{rows}")

    assert found.ids[-1].endswith("9")
    assert len(found.posts) + len(found.left_out) == 2


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just(POST),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["url", "id", "tags", "folder", "created_at", "text", "data"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_beside_a_post_does_not_lose_the_post(value: object) -> None:
    found = report(json.dumps([{"url": POST, "text": "T"}, value]))

    assert POST.rpartition("/")[2] in found.ids
