"""Compares what a new node answers after the upgrade with the acknowledged writes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import httpx

from endurance.upgrade import posts
from endurance.upgrade.ledger import Expected, Write
from endurance.upgrade.verdict import same

_EVERYTHING: Final = {"is_unread_only": "false", "hide_archived": "false"}
_REPEATED: Final = 400


class Reader:
    """One account, as a client of one node sees it."""

    def __init__(self, url: str, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False)

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **query: Any) -> httpx.Response:
        return self._http.get(path, params=query)

    def send(self, write: Write) -> httpx.Response:
        headers = {"Idempotency-Key": write.key}
        body = write.body if write.body or write.method == "POST" else None
        return self._http.request(write.method, write.path, json=body, headers=headers)

    def found(self, **query: Any) -> list[str]:
        """The ids of all posts that match, page by page."""
        listed: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            answer = self.get("/v1/bookmarks", **{**_EVERYTHING, **query}, limit=100, **cursor)
            page = answer.raise_for_status().json()
            listed += [post["post_id"] for post in page["data"]]
            if not page["meta"].get("next_cursor"):
                return listed
            cursor = {"cursor": page["meta"]["next_cursor"]}


def wrong_posts(reader: Reader, expected: Expected) -> list[str]:
    problems = []
    for post_id, wanted in expected.posts.items():
        answer = reader.get(f"/v1/bookmarks/{post_id}")
        if answer.status_code != 200:
            problems.append(f"post {post_id}: {answer.status_code}")
            continue
        found = answer.json()["data"]
        shown = _shown(found)
        if shown != _wanted(wanted):
            problems.append(f"post {post_id}: {shown} instead of {_wanted(wanted)}")
    return problems


def _shown(post: Mapping[str, Any]) -> dict[str, Any]:
    tags = [tag["name"] if isinstance(tag, dict) else tag for tag in post["tags"] or ()]
    return {
        "text": post["tweet_details"]["text"],
        "note": post.get("note") or "",
        "tags": sorted(tags),
        "is_read": post["is_read"],
        "is_archived": post["is_archived"],
    }


def _wanted(post: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "text": post["tweet_details"]["text"],
        "note": post.get("note") or "",
        "tags": sorted(post["tags"] or ()),
        "is_read": post["is_read"],
        "is_archived": post["is_archived"],
    }


def not_found(reader: Reader, expected: Expected) -> list[str]:
    """Looks every post up by word and date, and all of them by author, media, note and flag."""
    ids = list(expected.posts)
    problems = []
    for post_id in ids:
        number = int(post_id) - int(posts.post_id(0))
        problems += same("by word", reader.found(q=posts.word(number)), [post_id])
        problems += same("by date", reader.found(**posts.around(number)), [post_id])
    for name in {post["author_username"] for post in expected.posts.values()}:
        of_author = [i for i in ids if expected.posts[i]["author_username"] == name]
        problems += same(f"by author {name}", reader.found(author=name), of_author)
    return problems + _by_kind(reader, expected)


def _by_kind(reader: Reader, expected: Expected) -> list[str]:
    all_posts = expected.posts
    gifs = [i for i, post in all_posts.items() if post["tweet_details"]["attachments"]]
    noted = [i for i, post in all_posts.items() if post.get("note")]
    unread = [i for i, post in all_posts.items() if not post["is_read"]]
    counts = reader.get("/v1/bookmarks/count", **_EVERYTHING).json()["data"]
    problems = same("by media", reader.found(media_type="gif"), gifs)
    problems += same("by note", reader.found(has_note="true"), noted)
    problems += same("unread", reader.found(is_unread_only="true"), unread)
    problems += same("all", reader.found(), all_posts)
    if len(all_posts) not in counts.values():
        problems.append(f"counts: {counts} instead of {len(all_posts)}")
    return problems


def wrong_labels(reader: Reader, expected: Expected) -> list[str]:
    problems = []
    for name, members in expected.labels.items():
        problems += same(f"label {name}", reader.found(tag=name), members)
    return problems


def wrong_views(reader: Reader, expected: Expected) -> list[str]:
    found = [view["name"] for view in reader.get("/v1/views", limit=100).json()["data"]]
    return same("views", found, expected.views)


def unfinished_exports(reader: Reader, expected: Expected) -> list[str]:
    states = {one: reader.get(f"/v1/exports/{one}").json()["data"] for one in expected.exports}
    return [
        f"export {job_id}: {state['status']} {state.get('error')}"
        for job_id, state in states.items()
        if state["status"] != "completed"
    ]


def repeated(readers: Mapping[str, Reader], writes: Sequence[Write]) -> list[str]:
    """Sends acknowledged writes again: a new node must replay the answer of the old one."""
    problems = []
    for write in _sample([write for write in writes if write.method != "DELETE"]):
        answer = readers[write.account].send(write)
        if answer.headers.get("idempotency-replayed") != "true":
            problems.append(f"{write.key}: {answer.status_code}, not replayed")
        elif answer.json().get("data") != write.data:
            problems.append(f"{write.key}: another answer than before")
    return problems


def _sample(writes: Sequence[Write]) -> Iterable[Write]:
    return writes[:: max(1, len(writes) // _REPEATED)]
