"""The fake X's answers, in the GraphQL shapes of its web client."""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.extension.x_account import Form, Post, World

Json = dict[str, Any]

PAGE_SIZE: Final = 20
# The operation ids of one day. X replaces them every few weeks.
OPERATION_IDS: Final = {
    "Bookmarks": "Fy0QMy4q_aZCpkO0PnyLYw",
    "BookmarkFoldersSlice": "i78YDd0Tza-dV4SYs58kRg",
    "BookmarkFolderTimeline": "8HoabOvl7jl9IC1Aixj-vg",
    "BookmarkSearchTimeline": "Ukx31QNc6T9zCnBNbrFvBA",
    "TweetDetail": "_8aYOgEDz35BrBcBal1-_w",
    "CreateBookmark": "aoDbu3RHznuiSkQ9aNM67Q",
    "DeleteBookmark": "Wlmlj2-xzyS1GN3a6cj-mQ",
    "TweetResultByRestId": "Xl5pC_lBk_gcO2ItU39DQw",
    # Not about bookmarks: their answers stay in the page.
    "HomeTimeline": "HCosKfLNW1AcOo3la3mMgg",
    "UserTweets": "HeWHY26ItCfUmm1e6ITjeA",
    "SearchTimeline": "AIdc203rPpK_k_2KWSdm7g",
}
_CURSOR: Final = "HBb"


def answer(
    world: World, operation: str, variables: Json, renamed: Mapping[str, str] | None = None
) -> Json:
    """What X answers to a request, and what it changes in the account.

    `renamed`: new names of fields.
    """
    text = json.dumps(_ANSWERS[operation](world, variables))
    for old, new in (renamed or {}).items():
        text = text.replace(f'"{old}":', f'"{new}":')
    named: Json = json.loads(text)
    return named


def _bookmarks(world: World, variables: Json) -> Json:
    listed = _page(world, world.viewer.in_order(), variables)
    return {"data": {"bookmark_timeline_v2": {"timeline": listed}}}


def _feed(world: World) -> Json:
    """Posts that nobody saved yet."""
    saved = world.viewer.saved
    entries = [_entry(world.posts[one], int(one), is_saved=one in saved) for one in world.feed]
    return {"instructions": [{"type": "TimelineAddEntries", "entries": entries}]}


def _home(world: World, _: Json) -> Json:
    return {"data": {"home": {"home_timeline_urt": _feed(world)}}}


def _user_posts(world: World, _: Json) -> Json:
    return {"data": {"user": {"result": {"timeline": {"timeline": _feed(world)}}}}}


def _found(world: World, _: Json) -> Json:
    timeline = {"search_timeline": {"timeline": _feed(world)}}
    return {"data": {"search_by_raw_query": timeline}}


def _article(world: World, variables: Json) -> Json:
    post = world.posts[variables["tweetId"]]
    tweet = _tweet(post, is_saved=post.id in world.viewer.saved, has_body=True)
    return {"data": {"tweetResult": {"result": tweet}}}


def _folder(world: World, variables: Json) -> Json:
    [folder] = [f for f in world.viewer.folders if f.id == variables["bookmark_collection_id"]]
    ordered = [one for one in world.viewer.in_order() if one in folder.post_ids]
    listed = _page(world, ordered, variables, ends_without_cursor=True)
    return {"data": {"bookmark_collection_timeline": {"timeline": listed}}}


def _search(world: World, variables: Json) -> Json:
    words = variables["rawQuery"]
    found = [one for one in world.viewer.in_order() if words in world.posts[one].text]
    timeline = {"timeline": _page(world, found, variables)}
    return {"data": {"search_by_raw_query": {"bookmarks_search_timeline": timeline}}}


def _folders(world: World, _: Json) -> Json:
    items = [{"id": f.id, "name": f.name, "media": None} for f in world.viewer.folders]
    part = {"items": items, "slice_info": {}}
    viewer = {"__typename": "User", "id": "VXNlcg==", "bookmark_collections_slice": part}
    return {"data": {"viewer": {"user_results": {"result": viewer}}}}


def _detail(world: World, variables: Json) -> Json:
    post = world.posts[variables["focalTweetId"]]
    entries = [_entry(post, int(post.id), is_saved=post.id in world.viewer.saved)]
    instructions = [
        {"type": "TimelineAddEntries", "entries": entries},
        {"type": "TimelineTerminateTimeline", "direction": "Top"},
    ]
    return {"data": {"threaded_conversation_with_injections_v2": {"instructions": instructions}}}


def _create(world: World, variables: Json) -> Json:
    world.viewer.save(variables["tweet_id"])
    return {"data": {"tweet_bookmark_put": "Done"}}


def _delete(world: World, variables: Json) -> Json:
    world.viewer.remove(variables["tweet_id"])
    return {"data": {"tweet_bookmark_delete": "Done"}}


_ANSWERS: Final = {
    "Bookmarks": _bookmarks,
    "BookmarkFoldersSlice": _folders,
    "BookmarkFolderTimeline": _folder,
    "BookmarkSearchTimeline": _search,
    "TweetDetail": _detail,
    "CreateBookmark": _create,
    "DeleteBookmark": _delete,
    "TweetResultByRestId": _article,
    "HomeTimeline": _home,
    "UserTweets": _user_posts,
    "SearchTimeline": _found,
}


def _page(
    world: World, ordered: Sequence[str], variables: Json, *, ends_without_cursor: bool = False
) -> Json:
    """One page of a list.

    The list of all bookmarks ends with a page without posts, that of a folder with a page
    without cursors.
    """
    saved = world.viewer.saved
    below = read_cursor(variables.get("cursor"))
    rest = [one for one in ordered if below is None or saved[one] < below]
    shown = rest[:PAGE_SIZE]
    entries = [_entry(world.posts[one], saved[one], is_saved=True) for one in shown]
    highest = saved[shown[0]] if shown else below or 2
    lowest = saved[shown[-1]] if shown else below or 1
    if len(rest) > PAGE_SIZE or not ends_without_cursor:
        entries += [_cursor("Top", highest), _cursor("Bottom", lowest, stopOnEmptyResponse=True)]
    return {
        "instructions": [{"type": "TimelineAddEntries", "entries": entries}],
        "responseObjects": {"feedbackActions": [], "immediateReactions": []},
    }


def read_cursor(value: str | None) -> int | None:
    return int(value.removeprefix(_CURSOR).rstrip("=")) if value else None


def _cursor(kind: str, sort_index: int, **fields: Any) -> Json:
    return {
        "entryId": f"cursor-{kind.lower()}-{sort_index}",
        "sortIndex": str(sort_index),
        "content": {
            "entryType": "TimelineTimelineCursor",
            "__typename": "TimelineTimelineCursor",
            "value": f"{_CURSOR}{sort_index}==",
            "cursorType": kind,
            **fields,
        },
    }


def _entry(post: Post, sort_index: int, *, is_saved: bool) -> Json:
    return {
        "entryId": f"tweet-{post.id}",
        "sortIndex": str(sort_index),
        "content": {
            "entryType": "TimelineTimelineItem",
            "__typename": "TimelineTimelineItem",
            "itemContent": {
                "itemType": "TimelineTweet",
                "__typename": "TimelineTweet",
                "tweet_results": {"result": _result(post, is_saved=is_saved)},
                "tweetDisplayType": "Tweet",
            },
        },
    }


def _result(post: Post, *, is_saved: bool) -> Json:
    if post.form is Form.GONE:
        text = {"rtl": False, "text": "This Post is from a suspended account. Learn more"}
        return {"__typename": "TweetTombstone", "tombstone": {"text": text}}
    tweet = _tweet(post, is_saved=is_saved)
    if post.form is Form.WRAPPED:
        del tweet["__typename"]
        return {"__typename": "TweetWithVisibilityResults", "tweet": tweet}
    return tweet


def _tweet(post: Post, *, is_saved: bool, has_body: bool = False) -> Json:
    author = {
        "__typename": "User",
        "rest_id": post.author.id,
        "avatar": {
            "image_url": f"https://pbs.twimg.com/profile_images/{post.author.id}_normal.jpg"
        },
        "core": {"name": post.author.name, "screen_name": post.author.username},
        "is_blue_verified": False,
    }
    posted_at = dt.datetime.fromtimestamp(post.posted_at_ms // 1000, dt.UTC)
    escaped = post.text.replace("&", "&amp;")
    tweet: Json = {
        "__typename": "Tweet",
        "rest_id": post.id,
        "core": {"user_results": {"result": author}},
        "legacy": {
            "bookmark_count": 3,
            "bookmarked": is_saved,
            "conversation_id_str": post.id,
            "created_at": f"{posted_at:%a %b %d %H:%M:%S +0000 %Y}",
            "entities": {},
            "favorite_count": 12,
            "full_text": escaped if post.form is not Form.LONG else f"{escaped[:270]}…",
            "id_str": post.id,
            "lang": "en",
            "quote_count": 0,
            "reply_count": 1,
            "retweet_count": 2,
            "user_id_str": post.author.id,
        },
        "source": "<a>X Web App</a>",
        "views": {"count": "77", "state": "EnabledWithCount"},
    }
    if post.form is Form.ARTICLE:
        # Lists have the title, and only the page of the article has its text.
        article = {"rest_id": f"9{post.id}"[:19], "title": f"About {post.id}"}
        body = {"plain_text": f"The whole article {post.id}."} if has_body else {}
        tweet["article"] = {"article_results": {"result": {**article, **body}}}
    if post.form is Form.LONG:
        note = {"id": "Tm90ZQ==", "text": post.text, "entity_set": {}}
        tweet["note_tweet"] = {"is_expandable": True, "note_tweet_results": {"result": note}}
    return tweet
