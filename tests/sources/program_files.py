"""Small files of our own making in the formats of other programs, and what they say about a post.

The link to the post can be of any network: what a file says is the same for all of them.
"""

import json
from typing import NamedTuple

POST = "https://x.com/ada/status/1050118621198921728"
PAGE = "https://example.org/a"
# The saving of the post in most files: 2023-11-14T22:13:20+00:00.
_SECONDS = 1_700_000_000
SAVED = "2023-11-14"


class Said(NamedTuple):
    """What a file says about the post."""

    text: str = "T"
    saved: str = SAVED
    labels: tuple[str, ...] = ()
    note: str = ""
    is_archived: bool = False
    is_read: bool = False


class ProgramFile(NamedTuple):
    format: str
    content: str
    said: Said = Said()
    # Links in the file that are not posts.
    pages: int = 0


def _json(value: object) -> str:
    return json.dumps(value, indent=1)


def _folder(name: str, *children: object) -> dict[str, object]:
    """A folder of Chrome, whose name comes after what is in it."""
    return {"children": children, "name": name, "type": "folder"}


_INDEX = str(_SECONDS * 1000 << 20)
_FIELD_THEORY = {
    "id": "1050118621198921728",
    "tweetId": "1050118621198921728",
    "url": POST,
    "text": "T",
    "authorHandle": "ada",
    "authorName": "Ada",
    "postedAt": "Wed Oct 10 20:19:24 +0000 2018",
    "bookmarkedAt": None,
    "sortIndex": _INDEX,
    "folderNames": ["A", "B"],
    "media": [{"url": PAGE}],
}
_PLAIN = {
    "id": "1050118621198921728",
    "text": "T",
    "author_name": "Ada",
    "author_username": "ada",
    "created_at": "2018-10-10T20:19:24Z",
    "like_count": 1,
}
_WALLABAG_1 = {"0": 1, "id": 1, "title": "T", "url": POST, "is_read": "1", "is_fav": "1"}
_PLACE = "text/x-moz-place"
_HTML = f'<li><a href="{POST}" time_added="{_SECONDS}" tags="a,b">T</a></li>'

FILES = {
    "plain": ProgramFile("JSON of posts", _json([{**_PLAIN, "url": POST}]), Said(saved="")),
    "plain ids": ProgramFile("JSON of posts", _json([_PLAIN]), Said(saved="")),
    "fieldtheory": ProgramFile(
        "fieldtheory-cli JSON", _json([_FIELD_THEORY]), Said(labels=("A", "B"))
    ),
    "fieldtheory lines": ProgramFile(
        "fieldtheory-cli JSON",
        json.dumps(_FIELD_THEORY) + "\n" + json.dumps({"tweetId": "", "url": PAGE}) + "\n",
        Said(labels=("A", "B")),
        1,
    ),
    "twillot": ProgramFile(
        "Twillot JSON",
        _json(
            [
                {
                    "tweet_id": "1050118621198921728",
                    "username": "Ada",
                    "screen_name": "ada",
                    "avatar_url": PAGE,
                    "full_text": "T",
                    "created_at": 1539202764,
                    "sort_index": _INDEX,
                    "folder": "F",
                    "tags": ["a"],
                }
            ]
        ),
        Said(labels=("a", "F")),
    ),
    "one column": ProgramFile("CSV of links", f"URL\n{POST}\n{PAGE}\n", Said("", ""), 1),
    "ids": ProgramFile(
        "CSV of posts",
        "Status_ID;Text;Note;Tags\n1050118621198921728;T;N;a|b\n",
        Said(saved="", labels=("a", "b"), note="N"),
    ),
    "any names": ProgramFile(
        "CSV of links",
        f"Number|Where it was|Title|Date\n1|{POST}|T|{SAVED}\n2|{PAGE}|U|{SAVED}\n",
        Said(),
        1,
    ),
    "strings": ProgramFile("JSON of links", _json([POST, PAGE]), Said("", ""), 1),
    "urls": ProgramFile("JSON of links", _json({"urls": [POST, PAGE]}), Said("", ""), 1),
    "nested": ProgramFile(
        "JSON of links",
        _json({"mine": {"saved": [{"title": "T", "target": {"where": POST}, "added": SAVED}]}}),
    ),
    "tumblr": ProgramFile(
        "JSON of links",
        _json({"likes": [{"post_url": POST, "title": "T", "timestamp": _SECONDS}]}),
        Said(labels=("liked",)),
    ),
    "markdown": ProgramFile(
        "text with links", f"# Links\n\n- [T]({POST})\n- [U]({PAGE})\n", Said(saved=""), 1
    ),
    "markdown at once": ProgramFile("text with links", f"[T]({POST}), words", Said(saved="")),
    "two on a line": ProgramFile("text with links", f"Two: {PAGE}, ({POST}).\n", Said("", ""), 1),
    "instapaper": ProgramFile(
        "Instapaper CSV",
        f"URL,Title,Selection,Folder,Timestamp\n{POST},T,N,Archive,{_SECONDS}\n"
        f"{PAGE},U,,Unread,{_SECONDS}\n",
        Said(note="N", is_archived=True),
        1,
    ),
    "instapaper stars": ProgramFile(
        "Instapaper CSV",
        f'URL,Title,Selection,Folder,Timestamp,Tags\n{POST},T,,Starred,{_SECONDS},"[""a""]"\n',
        Said(labels=("a", "favourite")),
    ),
    "omnivore": ProgramFile(
        "Omnivore JSON",
        _json(
            [
                {
                    "id": "1",
                    "slug": "s",
                    "title": "U",
                    "description": "T",
                    "url": POST,
                    "state": "Archived",
                    "readingProgress": 100,
                    "labels": ["a"],
                    "savedAt": f"{SAVED}T00:00:00.000Z",
                }
            ]
        ),
        Said(labels=("a",), is_archived=True, is_read=True),
    ),
    "pinboard": ProgramFile(
        "Pinboard JSON",
        _json(
            [
                {
                    "href": POST,
                    "description": "T",
                    "extended": "N",
                    "time": f"{SAVED}T00:00:00Z",
                    "toread": "no",
                    "tags": "a b",
                },
                {"href": PAGE, "description": "U", "extended": "", "toread": "yes", "tags": ""},
            ]
        ),
        Said(labels=("a", "b"), note="N", is_read=True),
        1,
    ),
    "delicious": ProgramFile(
        "Delicious JSON",
        _json(
            [
                {
                    "title": "T",
                    "tags": ["a"],
                    "url": POST,
                    "description": "N",
                    "created": str(_SECONDS),
                    "private": "0",
                }
            ]
        ),
        Said(labels=("a",), note="N"),
    ),
    "wallabag": ProgramFile(
        "wallabag JSON",
        _json(
            [
                {
                    "title": "T",
                    "url": POST,
                    "is_archived": 1,
                    "is_starred": 1,
                    "created_at": f"{SAVED}T00:00:00+0000",
                    "tags": ["a"],
                    "content": "<p>A page</p>",
                }
            ]
        ),
        Said(labels=("a", "favourite"), is_archived=True),
    ),
    "wallabag 1": ProgramFile(
        "wallabag JSON",
        _json([{**_WALLABAG_1, "tags": "a,b"}]),
        Said(saved="", labels=("a", "b", "favourite"), is_read=True),
    ),
    "wallabag 1 by number": ProgramFile(
        "wallabag JSON",
        _json({"0": _WALLABAG_1, "1": {**_WALLABAG_1, "url": PAGE}}),
        Said(saved="", labels=("favourite",), is_read=True),
        1,
    ),
    "readability": ProgramFile(
        "Readability JSON",
        _json(
            {
                "bookmarks": [
                    {
                        "article__url": POST,
                        "article__title": "U",
                        "article__excerpt": "T",
                        "date_added": f"{SAVED}T00:00:00",
                        "favorite": True,
                        "archive": True,
                    }
                ],
                "recommendations": [{"article__url": PAGE}],
            }
        ),
        Said(labels=("favourite",), is_archived=True),
    ),
    "elcurator": ProgramFile(
        "elCurator JSON",
        _json(
            [
                {
                    "created_at": f"{SAVED} 02:03:04",
                    "title": "T",
                    "url": POST,
                    "description": "N",
                    "tags": ["a"],
                }
            ]
        ),
        Said(labels=("a",), note="N"),
    ),
    "old pocket": ProgramFile(
        "Pocket or Instapaper HTML",
        f"<!DOCTYPE html>\n<h1>Unread</h1>\n<ul><li><a href='{PAGE}'>U</a></li></ul>\n"
        f"<h1>Read Archive</h1>\n<ul>{_HTML}</ul>\n",
        Said(labels=("a", "b"), is_archived=True),
        1,
    ),
    "chrome": ProgramFile(
        "bookmarks of Chrome (JSON)",
        _json(
            {
                "roots": {
                    "bookmark_bar": _folder(
                        "Bookmarks bar",
                        _folder(
                            "Birds",
                            _folder(
                                "Nests",
                                {
                                    "date_added": str(_SECONDS * 10**6 + 11_644_473_600 * 10**6),
                                    "name": "T",
                                    "url": POST,
                                },
                            ),
                            {"name": "U", "url": PAGE},
                        ),
                    ),
                    "other": _folder("Other bookmarks"),
                }
            }
        ),
        Said(labels=("Birds/Nests",)),
        1,
    ),
    "firefox": ProgramFile(
        "backup of Firefox (JSON)",
        _json(
            {
                "type": f"{_PLACE}-container",
                "children": [
                    {
                        "title": "menu",
                        "children": [
                            {
                                "title": "Birds",
                                "children": [
                                    {
                                        "title": "T",
                                        "dateAdded": _SECONDS * 10**6,
                                        "type": _PLACE,
                                        "uri": POST,
                                        "tags": "a,b",
                                    }
                                ],
                            }
                        ],
                    }
                ],
            }
        ),
        Said(labels=("a", "b", "Birds")),
    ),
    "matter": ProgramFile(
        "Matter CSV",
        "Title,Author,Publisher,URL,Tags,Word Count,In Queue,Favorited,Read,Highlight Count,"
        f"Last Interaction Date,File Id\nT,Ada,X,{POST},a,5,False,True,True,0,{SAVED},f\n",
        Said(labels=("a", "favourite"), is_read=True),
    ),
    "raindrop": ProgramFile(
        "Raindrop CSV",
        "id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite\n"
        f"1,U,N,T,{POST},Unsorted,a,{SAVED}T12:34:56.789Z,,,true\n",
        Said(labels=("a", "favourite"), note="N"),
    ),
    "linkedin": ProgramFile(
        "LinkedIn CSV", f"savedItem,CreatedTime\n{POST},{SAVED} 18:06:49\n", Said("")
    ),
    "instagram": ProgramFile(
        "Instagram JSON",
        _json(
            [
                {
                    "timestamp": _SECONDS,
                    "media": [],
                    "label_values": [
                        {"label": "Owner", "value": "Ada"},
                        {"label": "URL", "value": POST, "href": POST},
                    ],
                }
            ]
        ),
        Said(""),
    ),
    "old instagram": ProgramFile(
        "Instagram JSON",
        _json(
            {
                "saved_saved_media": [
                    {
                        "title": "ada",
                        "string_map_data": {
                            "Gespeichert am": {"href": POST, "timestamp": _SECONDS}
                        },
                    }
                ]
            }
        ),
        Said(""),
    ),
    "tiktok": ProgramFile(
        "TikTok JSON",
        _json(
            {
                "Likes and Favorites": {
                    "Favorite Videos": {
                        "FavoriteVideoList": [{"Date": f"{SAVED} 00:00:00", "Link": POST}]
                    },
                    "Like List": {"ItemFavoriteList": [{"date": SAVED, "link": PAGE}]},
                },
                "Your Activity": {"Watch History": {"VideoList": [{"Date": "", "Link": POST}]}},
            }
        ),
        Said(""),
        1,
    ),
    "old tiktok likes": ProgramFile(
        "TikTok JSON",
        _json({"Activity": {"Like List": {"ItemFavoriteList": [{"date": SAVED, "link": POST}]}}}),
        Said("", labels=("liked",)),
    ),
    "facebook": ProgramFile(
        "Facebook JSON",
        _json(
            {
                "saves_v2": [
                    {
                        "timestamp": _SECONDS,
                        "title": "Ada saved a link.",
                        "attachments": [
                            # Meta writes the bytes of "é" as two characters.
                            {"data": [{"external_context": {"name": "Caf\xc3\xa9", "url": POST}}]}
                        ],
                    }
                ]
            }
        ),
        Said("Café"),
    ),
    "telegram": ProgramFile(
        "Telegram JSON",
        _json(
            {
                "type": "saved_messages",
                "messages": [
                    {
                        "id": 1,
                        "date_unixtime": str(_SECONDS),
                        "text": [
                            *("See ", {"type": "link", "text": POST}),
                            *("\nor ", {"type": "text_link", "text": "this", "href": PAGE}),
                        ],
                    },
                    {"id": 2, "text": "Milk"},
                ],
            }
        ),
        Said("", note="See \nor this"),
        1,
    ),
}
# The address of a YouTube playlist's video is built, so it depends on the networks that are known.
YOUTUBE = "Video ID,Playlist Video Creation Timestamp\nnoFbP5V0ROg,2023-11-14T22:13:20+00:00\n"
