"""The order of posts whose file has no dates of saving."""

import io
import json
from collections.abc import Callable, Sequence

import pytest

from bowerbird.library.imports.file_imports import FileImports, ImportOptions
from tests.sources.x.pages import tweet
from tests.sources.x.test_web_exporter import (
    exporter_csv,
    exporter_database_file,
    exporter_row,
)
from tests.support import make, saving
from tests.support.service import Member

pytestmark = pytest.mark.anyio

_IDS = ("21", "20", "22")
Content = Callable[[Sequence[str]], bytes]


def _x(post_id: str) -> str:
    return f"https://x.com/ada/status/{post_id}"


def _mastodon(post_id: str) -> str:
    return f"https://birds.example/@ada/{post_id}00000000"


def _table(header: str, row: str) -> Content:
    def content(ids: Sequence[str]) -> bytes:
        return "\n".join([header, *(row.format(link=_x(one), id=one) for one in ids)]).encode()

    return content


def _json(outer: Callable[[list[object]], object], record: Callable[[str], object]) -> Content:
    return lambda ids: json.dumps(outer([record(one) for one in ids])).encode()


def _own(post_id: str) -> object:
    record = make.post(post_id=post_id)
    record["tweet_details"]["link"] = _x(post_id)
    del record["sort_index"]
    return record


def _bluesky(post_id: str) -> object:
    uri = f"at://did:plc:a/app.bsky.feed.post/{post_id}"
    return {"subject": {"uri": uri}, "item": {"$type": "app.bsky.feed.defs#postView", "uri": uri}}


def _status(post_id: str) -> object:
    url = _mastodon(post_id)
    return {"id": post_id, "uri": url, "url": url, "content": "x", "account": {"acct": "ada"}}


_NEWEST_FIRST: dict[str, Content] = {
    "pages of X's API": _json(
        lambda posts: {"data": posts, "meta": {}},
        lambda one: {"id": one, "text": "x", "author_id": "4"},
    ),
    "twitter-web-exporter JSON": _json(lambda rows: rows, exporter_row),
    "twitter-web-exporter CSV": lambda ids: exporter_csv(*map(exporter_row, ids)),
    "likes of an X archive": lambda ids: (
        b"window.YTD.like.part0 = "
        + json.dumps([{"like": {"tweetId": one}} for one in ids]).encode()
    ),
    "bookmarks of an X archive": lambda ids: (
        b"window.YTD.bookmark.part0 = "
        + json.dumps([{"bookmark": {"tweetId": one}} for one in ids]).encode()
    ),
    "Dewey CSV": _table("Tweet Date,Posted By,Tweet URL,Tweet Content", ",Ada,{link},Hello"),
    "X exporter CSV": _table("screen_name,full_text,tweet_url", "ada,Hi,{link}"),
    "Reddit CSV": lambda ids: (
        b"id,permalink\n"
        + b"\n".join(
            b"%b,https://www.reddit.com/r/birds/comments/%b/x/" % (one, one)
            for one in map(str.encode, ids)
        )
    ),
    "Mastodon CSV": lambda ids: "\n".join(map(_mastodon, ids)).encode(),
    "Mastodon JSON": _json(lambda posts: posts, _status),
    "Bluesky JSON": _json(lambda posts: {"bookmarks": posts}, _bluesky),
    "list of links": lambda ids: "\n".join(map(_x, ids)).encode(),
}
_OLDEST_FIRST: dict[str, Content] = {
    "Bowerbird JSON": _json(lambda posts: posts, _own),
    "twitter-web-exporter database": lambda ids: exporter_database_file(
        [tweet(one, bookmarked=True) for one in ids], []
    ),
    "bookmarks of a Mastodon archive": _json(
        lambda posts: {"id": "bookmarks.json", "orderedItems": posts}, _mastodon
    ),
    "Raindrop CSV": _table("title,note,url,folder,tags,created", "T,,{link},F,,"),
    "Pocket CSV": _table("title,url,time_added,tags,status", "T,{link},,,unread"),
    "Readwise Reader CSV": _table("Title,URL,Document tags,Saved date", "T,{link},,"),
    "bookmarks file of a browser": lambda ids: (
        b"<!DOCTYPE NETSCAPE-Bookmark-file-1>"
        + "".join(f'<DT><A HREF="{_x(one)}">T</A>' for one in ids).encode()
    ),
    "Karakeep JSON": _json(
        lambda posts: {"bookmarks": posts},
        lambda one: {"createdAt": None, "content": {"type": "link", "url": _x(one)}},
    ),
    "Linkwarden JSON": _json(
        lambda posts: {"collections": [{"id": 1, "name": "C", "links": posts}]},
        lambda one: {"url": _x(one)},
    ),
}


async def _listed(member: Member, name: str, data: bytes) -> list[str]:
    """The links of the posts in the library after the import of a file, the newest first."""
    account = await member.account()
    importing = FileImports(member.database, member.clock, account, ImportOptions(with_likes=True))
    report = await importing.read(io.BytesIO(data), "file", "test")
    await importing.finish("end")
    assert report.format == name
    links: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await member.listed(limit="100", **cursor)
        links += [one["tweet_details"]["link"] for one in page["data"]]
        if not page["meta"]["next_cursor"]:
            return links
        cursor = {"cursor": page["meta"]["next_cursor"]}


def _are_in_order(links: Sequence[str], ids: Sequence[str]) -> bool:
    return len(links) == len(ids) and all(one in link for one, link in zip(ids, links, strict=True))


@pytest.mark.parametrize("name", _NEWEST_FIRST)
async def test_the_first_post_of_a_list_is_the_newest(alice: Member, name: str) -> None:
    links = await _listed(alice, name, _NEWEST_FIRST[name](_IDS))

    assert _are_in_order(links, _IDS), links


@pytest.mark.parametrize("name", _OLDEST_FIRST)
async def test_the_last_post_of_any_other_file_is_the_newest(alice: Member, name: str) -> None:
    links = await _listed(alice, name, _OLDEST_FIRST[name](_IDS))

    assert _are_in_order(links, _IDS[::-1]), links


@pytest.mark.parametrize(
    ("name", "content", "step"),
    [
        ("list of links", _NEWEST_FIRST["list of links"], 1),
        (
            "bookmarks of a Mastodon archive",
            _OLDEST_FIRST["bookmarks of a Mastodon archive"],
            -1,
        ),
    ],
)
async def test_the_order_holds_for_a_file_that_is_imported_in_parts(
    alice: Member, name: str, content: Content, step: int
) -> None:
    ids = [str(1000 + (number * 7) % 450) for number in range(450)]

    links = await _listed(alice, name, content(ids))

    assert _are_in_order(links, ids[::step])


async def test_the_last_of_several_saved_links_is_the_newest(alice: Member) -> None:
    await saving.results(alice, links=list(map(_x, _IDS)))

    listed = [one["post_id"] for one in await saving.everything(alice)]

    assert listed == list(_IDS[::-1])
