"""Small files of our own making, one for each format that `bowerbird import` reads."""

import json

from tests.sources.x.pages import entry, page_of, tweet
from tests.sources.x.test_web_exporter import (
    exporter_csv,
    exporter_database_file,
    exporter_row,
)
from tests.support import make

_X = "https://x.com/ada_b/status/"
_OTHER = "https://example.com/a-page"


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


# Name of the file: format, content, posts, records that are left out.
FILES: dict[str, tuple[str, bytes, int, int]] = {
    "own.json": ("Bowerbird JSON", _json([make.post(post_id="101")]), 1, 0),
    "pages.json": ("saved pages of X's bookmarks", _json(page_of(entry(tweet("102")))), 1, 0),
    "recording.har": (
        "recording of a browser (HAR)",
        _json(
            {
                "log": {
                    "entries": [
                        {
                            "request": {"url": "https://x.com/i/api/graphql/a/Bookmarks"},
                            "response": {
                                "content": {"text": json.dumps(page_of(entry(tweet("103"))))}
                            },
                        }
                    ]
                }
            }
        ),
        1,
        0,
    ),
    "api.json": (
        "pages of X's API",
        _json({"data": [{"id": "104", "text": "A", "author_id": "4"}], "meta": {}}),
        1,
        0,
    ),
    "exporter.json": ("twitter-web-exporter JSON", _json([exporter_row("105")]), 1, 0),
    "exporter.csv": ("twitter-web-exporter CSV", exporter_csv(exporter_row("106")), 1, 0),
    "exporter-db.json": (
        "twitter-web-exporter database",
        exporter_database_file([tweet("107", bookmarked=True), tweet("1070")], []),
        1,
        1,
    ),
    "like.js": (
        "likes of an X archive",
        b'window.YTD.like.part0 = [{"like": {"tweetId": "108", "fullText": "Liked"}}]',
        0,
        1,
    ),
    "bookmark.js": (
        "bookmarks of an X archive",
        b'window.YTD.bookmark.part0 = [{"bookmark": {"tweetId": "109"}}]',
        1,
        0,
    ),
    "dewey.csv": (
        "Dewey CSV",
        f"Tweet Date,Posted By,Posted By Twitter Handle,Tweet URL,Tweet Content,My Notes,Tags,"
        f"Folder\n2024-01-02,Ada,@ada_b,{_X}110,Hello,mine,birds,Nests\n".encode(),
        1,
        0,
    ),
    "posts.csv": (
        "X exporter CSV",
        f"screen_name,name,full_text,tweeted_at,tweet_url\nada_b,Ada,Hi,,{_X}111\n".encode(),
        1,
        0,
    ),
    "raindrop.csv": (
        "Raindrop CSV",
        "id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite\n"
        f"1,T,,,{_X}112,F,t,2024-01-02T03:04:05Z,,,false\n2,T,,,{_OTHER},,,,,,\n".encode(),
        1,
        1,
    ),
    "pocket.csv": (
        "Pocket CSV",
        f"title,url,time_added,tags,status\nT,{_X}113,1700000000,a|b,archive\n".encode(),
        1,
        0,
    ),
    "readwise.csv": (
        "Readwise Reader CSV",
        "Title,URL,ID,Document tags,Saved date,Reading progress,Location,Seen\n"
        f"T,{_X}114,x,\"['a']\",2024-01-02 03:04:05+00:00,0,new,False\n".encode(),
        1,
        0,
    ),
    "reddit.csv": (
        "Reddit CSV",
        b"id,permalink\nabc12,https://www.reddit.com/r/birds/comments/abc12/nests/\n",
        1,
        0,
    ),
    "bookmarks.html": (
        "bookmarks file of a browser",
        b"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p><DT>"
        + f'<A HREF="{_X}115" ADD_DATE="1700000000">T</A>\n'.encode()
        + f'<DT><A HREF="{_OTHER}">T</A></DL>'.encode(),
        1,
        1,
    ),
    "karakeep.json": (
        "Karakeep JSON",
        _json(
            {
                "bookmarks": [
                    {
                        "createdAt": 1700000000,
                        "title": "T",
                        "tags": ["a"],
                        "content": {"type": "link", "url": f"{_X}116"},
                    }
                ]
            }
        ),
        1,
        0,
    ),
    "linkwarden.json": (
        "Linkwarden JSON",
        _json({"collections": [{"id": 1, "name": "C", "links": [{"url": f"{_X}117"}]}]}),
        1,
        0,
    ),
    "mastodon.csv": ("Mastodon CSV", b"https://birds.example/@ada/1234567890\n", 1, 0),
    "links.txt": ("list of links", f"{_X}118\n{_X}119\n".encode(), 2, 0),
}
