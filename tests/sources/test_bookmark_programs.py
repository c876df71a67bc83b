"""Posts among the links that browsers and bookmark programs export, and files of an X archive."""

import json
from typing import Any

import pytest
from msgspec import UNSET

from bowerbird.model.arrival import OrderSource
from tests.support.posts.source_files import report

X = "https://x.com/ada/status/20"


def test_a_browser_s_folders_become_one_label_per_path() -> None:
    found = report(
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n"
        "<H1>Bookmarks</H1>\n<DL><p>\n"
        '<DT><H3 PERSONAL_TOOLBAR_FOLDER="true">Bookmarks bar</H3>\n<DL><p>\n'
        '<DT><H3 ADD_DATE="1">Food &amp; drink</H3>\n<DL><p>\n<DT><H3>Soup</H3>\n<DL><p>\n'
        f'<DT><A HREF="{X}?s=1&amp;t=2" ADD_DATE="1700000300" TAGS="dinner,Quick">'
        "Ada on X: &quot;Hi&quot; / X</A>\n<DD>A note\n"
        '<DT><A HREF="https://example.org/">A page</A>\n'
        "</DL><p>\n</DL><p>\n"
        '<DT><A HREF="https://x.com/ada/status/21">Two</A>\n'
        "</DL><p>\n</DL><p>\n"
    )

    one, two = found.posts
    assert one.record.tags == ["dinner", "Quick", "Food & drink/Soup"]
    assert one.record.bookmarked_at == "2023-11-14T22:18:20+00:00"
    assert (one.record.tweet_details.text, one.note, one.line) == ("Hi", "A note", 11)
    assert one.order_source is OrderSource.SAVED_DATE
    assert two.record.tags is UNSET
    assert [item.sentence for item in found.left_out] == [
        "Line 13: 'https://example.org/' is not a link to a post."
    ]


@pytest.mark.parametrize(
    "heading",
    [
        "<H3>Unsorted</H3>",
        "<H3 FOLDED>Bookmarks Menu</H3>",
        "<H3>Bookmarks Bar</H3>",
        "<H3>Bookmarks Toolbar</H3>",
        "<H3>Other bookmarks</H3>",
        "<H3>Mobile Bookmarks</H3>",
        "<H3>Favorites bar</H3>",
        '<H3 UNFILED_BOOKMARKS_FOLDER="true">Weitere Lesezeichen</H3>',
    ],
)
def test_a_folder_that_the_program_made_is_not_a_label(heading: str) -> None:
    found = report(
        f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n<DT>{heading}\n<DL><p>\n"
        f'<DT><A HREF="{X}">One</A>\n<DT><H3>Birds</H3>\n<DL><p>\n<DT><H3>Unsorted</H3>\n<DL><p>\n'
        '<DT><A HREF="https://x.com/ada/status/21">Two</A>\n'
        "</DL><p>\n</DL><p>\n</DL><p>\n</DL><p>\n"
    )

    assert [post.record.tags for post in found.posts] == [UNSET, ["Birds/Unsorted"]]


def test_a_bookmarks_file_on_one_line_is_read_whole() -> None:
    links = "".join(f'<DT><A HREF="https://x.com/a/status/{n}">t</A>' for n in range(1, 30_001))

    assert len(report("<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>" + links).posts) == 30_000


def karakeep(*bookmarks: dict[str, Any]) -> str:
    lists = [
        {"id": "l1", "name": "Work", "parentId": None},
        {"id": "l2", "name": "Later", "parentId": "l1"},
        {"id": "l3", "name": "Ring", "parentId": "l3"},
    ]
    return json.dumps({"bookmarks": bookmarks, "lists": lists}, indent=1)


def test_karakeep_s_lists_come_after_its_bookmarks() -> None:
    found = report(
        karakeep(
            {
                "createdAt": 1700000300,
                "title": "T",
                "tags": ["a", {"name": "b"}],
                "lists": ["l2", "l3", "l9"],
                "content": {"type": "link", "url": X},
                "note": "A note",
                "archived": True,
            },
            {"createdAt": 1, "content": {"type": "text", "text": "Words"}},
            {"createdAt": 1, "content": {"type": "link", "url": "https://example.org"}},
            {"createdAt": 1, "content": None},
        )
    )

    assert found.name == "Karakeep JSON"
    record = found.post.record
    assert isinstance(record.tags, list)
    assert record.tags[:3] == ["a", "b", "Work/Later"]
    assert record.bookmarked_at == "2023-11-14T22:18:20+00:00"
    assert (record.is_archived, found.post.note) == (True, "A note")
    assert found.reasons == {"not_a_post": 3}


def test_linkwarden_s_collections_can_come_in_any_order() -> None:
    link = {
        "name": "T",
        "url": X,
        "tags": [{"name": "dev"}],
        "createdAt": "2025-01-01T00:00:00.000Z",
    }
    found = report(
        json.dumps(
            {
                "name": "Ada",
                "collections": [
                    {"links": [link], "id": 2, "name": "Inner", "parentId": 1},
                    {"links": []},
                    {
                        "id": 1,
                        "name": "Outer",
                        "parentId": None,
                        "links": [{"url": "https://a.example"}],
                    },
                ],
                "pinnedLinks": [link],
            }
        )
    )

    assert found.name == "Linkwarden JSON"
    assert found.post.record.tags == ["dev", "Outer/Inner"]
    assert found.post.record.bookmarked_at == "2025-01-01T00:00:00+00:00"
    assert found.reasons == {"not_a_post": 1}


def test_likes_are_imported_only_on_request() -> None:
    data = (
        "window.YTD.like.part0 = [ {\n"
        f' "like" : {{ "tweetId" : "20", "fullText" : "Hi", "expandedUrl" : "{X}" }} }},\n'
        ' {"like": {}} ]'
    )
    without, wanted = report(data), report(data, with_likes=True)

    assert (without.posts, without.reasons) == ([], {"not_requested": 1, "invalid": 1})
    assert wanted.post.record.tags == ["liked"]
    assert wanted.post.record.tweet_details.text == "Hi"
    assert wanted.post.record.author_username == "ada"


def test_bookmarks_of_an_x_archive_are_found_in_any_shape() -> None:
    shapes = [
        {"bookmark": {"tweetId": "20"}},
        {"tweetId": 21},
        {"bookmarks": {"tweet": {"id_str": "22", "full_text": "Hi"}}},
        {"bookmark": {"expandedUrl": "https://x.com/ada/status/23"}},
        {"bookmark": {"tweetId": "no"}},
        5,
    ]
    found = report("window.YTD.bookmarks.part1 = " + json.dumps(shapes))

    assert found.ids == ["20", "21", "22", "23"]
    assert found.reasons == {"invalid": 2}


def test_our_own_json_goes_through_the_same_door() -> None:
    record = {"post_id": "20", "tweet_details": {"text": "Hi\x00"}, "sort_index": 5}
    found = report(json.dumps({"bookmarks": [record, {"post_id": "x", "tweet_details": {}}]}))

    assert (found.name, found.ids) == ("Bowerbird JSON", ["20"])
    assert found.post.order_source is OrderSource.X
    assert found.reasons == {"invalid": 1}
    assert found.notices == ["Characters that cannot be stored, removed: 1."]


def test_json_in_utf_16_is_read() -> None:
    data = karakeep({"createdAt": 1, "title": "Ä", "content": {"type": "link", "url": X}})

    assert report(data.encode("utf-16")).post.record.tweet_details.text == "Ä"


def test_a_mastodon_archive_lists_bookmarks_and_likes_alike() -> None:
    def collection(name: str) -> str:
        items = ["https://example.social/users/ada/statuses/1032", "https://example.org/", 5]
        head = {"@context": "https://www.w3.org/ns/activitystreams", "id": f"{name}.json"}
        return json.dumps({**head, "type": "OrderedCollection", "orderedItems": items})

    bookmarks, likes = report(collection("bookmarks")), report(collection("likes"))

    assert bookmarks.post.source_id == "example.social/1032"
    assert bookmarks.reasons == {"not_a_post": 1, "invalid": 1}
    assert likes.reasons == {"not_requested": 1, "not_a_post": 1, "invalid": 1}
    assert report(collection("likes"), with_likes=True).post.record.tags == ["liked"]
