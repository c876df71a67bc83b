"""Builds pages in the shapes of X's web client. All people and posts in them are invented."""

import json
from typing import Any

from bowerbird.sources.found import FoundPost, LeftOut
from bowerbird.sources.x import graphql
from bowerbird.sources.x.pages import Operation, Page, PageRequest

Json = dict[str, Any]

# 2026-09-01T12:00:00Z. The ids of the posts are from the days before it.
NOW = 1_788_264_000_000_000
POST_ID = "2094000000000000000"
POSTED_AT = "2026-08-30T09:51:19+00:00"
CREATED_AT = "Sun Aug 30 09:51:19 +0000 2026"
SAVED_AT_MS = 1_788_200_000_123
SORT_INDEX = SAVED_AT_MS << 20
AUTHOR_ID = "4242"
HEADS = {
    Operation.BOOKMARKS: "bookmark_timeline_v2",
    Operation.FOLDER: "bookmark_collection_timeline",
}


def user(**fields: Any) -> Json:
    return {
        "__typename": "User",
        "rest_id": AUTHOR_ID,
        "core": {"screen_name": "ada_b", "name": "Ada B."},
        "avatar": {"image_url": "https://images.example.com/ada_normal.jpg"},
        "legacy": {},
        **fields,
    }


def tweet(number: str = POST_ID, text: str = "A post.", **legacy: Any) -> Json:
    return {
        "__typename": "Tweet",
        "rest_id": number,
        "core": {"user_results": {"result": user()}},
        "legacy": {
            "id_str": number,
            "user_id_str": AUTHOR_ID,
            "created_at": CREATED_AT,
            "conversation_id_str": number,
            "full_text": text,
            "entities": {},
            **legacy,
        },
        "views": {"count": "77", "state": "EnabledWithCount"},
    }


def item(result: Any, **fields: Any) -> Json:
    results = {} if result is None else {"result": result}
    return {"itemType": "TimelineTweet", "tweet_results": results, **fields}


def entry(result: Any, sort_index: Any = SORT_INDEX, number: str = "", **fields: Any) -> Json:
    number = number or (result or {}).get("rest_id") or POST_ID
    return {
        "entryId": f"tweet-{number}",
        "sortIndex": str(sort_index),
        "content": {"entryType": "TimelineTimelineItem", "itemContent": item(result, **fields)},
    }


def cursor(value: Any = "next", kind: str = "Bottom", **fields: Any) -> Json:
    content = {"entryType": "TimelineTimelineCursor", "cursorType": kind, "value": value, **fields}
    return {"entryId": f"cursor-{kind.lower()}-1", "sortIndex": "1", "content": content}


def add_entries(*entries: Any) -> Json:
    return {"type": "TimelineAddEntries", "entries": list(entries)}


def terminated(direction: str = "Bottom") -> Json:
    return {"type": "TimelineTerminateTimeline", "direction": direction}


def document(*instructions: Any, head: str = "bookmark_timeline_v2") -> Json:
    return {"data": {head: {"timeline": {"instructions": list(instructions)}}}}


def page_of(*entries: Any) -> Json:
    return document(add_entries(*entries, cursor("top", "Top"), cursor()))


def read(
    page: Any, operation: Operation = Operation.BOOKMARKS, now: int = NOW, **request: str
) -> Page:
    asked = PageRequest(operation=operation, **request)
    return graphql.read_page(asked, json.dumps(page).encode(), now)


def read_post(result: Any, **fields: Any) -> FoundPost:
    (found,) = read(page_of(entry(result, **fields))).posts
    assert isinstance(found, FoundPost), found
    return found


def read_left_out(*entries: Any) -> LeftOut:
    (found,) = read(page_of(*entries)).posts
    assert isinstance(found, LeftOut), found
    return found


def found_ids(page: Page) -> list[str]:
    return [each.record.post_id for each in page.posts if isinstance(each, FoundPost)]
