"""The labelled library in `labelled`: posts, queries of each kind, and the posts that answer them.

One file per language and subject, named by its language: `de.toml`, `en_words.toml`. A query names
the posts of its own file by their keys, and posts of other files as file/key.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

_FOLDER: Final = Path(__file__).parent / "labelled"
# Fields of a post that stand for several fields of the API.
_SHORT_FIELDS: Final = {"author", "name", "text", "link", "alt", "poll", "quoted", "article"}

# Only these need the meaning of the words; the words of a query answer all others.
BY_MEANING: Final = {"by meaning", "by meaning in other languages", "across languages"}


class Query(NamedTuple):
    kind: str
    language: str
    text: str
    # The keys of the posts that must be among the first ten.
    relevant: frozenset[str]


class AbsentQuery(NamedTuple):
    kind: str
    language: str
    text: str


class LabelledLibrary(NamedTuple):
    # Posts in the format of the API, by key.
    posts: dict[str, dict[str, Any]]
    queries: tuple[Query, ...]
    absent: tuple[AbsentQuery, ...]

    @property
    def keys(self) -> dict[str, str]:
        """The key of each post by its post_id."""
        return {post["post_id"]: key for key, post in self.posts.items()}


def read() -> LabelledLibrary:
    files = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in _paths()}
    posts: dict[str, dict[str, Any]] = {}
    for name, content in files.items():
        for key, fields in content.get("posts", {}).items():
            author = content["authors"][len(posts) % len(content["authors"])]
            posts[f"{name}/{key}"] = _post(len(posts) + 1, fields, author)
    return LabelledLibrary(
        posts,
        tuple(query for name, content in files.items() for query in _queries(name, content)),
        tuple(query for content in files.values() for query in _absent(content)),
    )


def _paths() -> list[Path]:
    return sorted(_FOLDER.glob("*.toml"))


def _queries(file: str, content: Mapping[str, Any]) -> Iterator[Query]:
    language = file.partition("_")[0]
    for kind, queries in content.get("queries", {}).items():
        for text, given in queries.items():
            keys = [given] if isinstance(given, str) else given
            relevant = frozenset(key if "/" in key else f"{file}/{key}" for key in keys)
            yield Query(kind, language, text, relevant)


def _absent(content: Mapping[str, Any]) -> Iterator[AbsentQuery]:
    for kind, by_language in content.get("absent", {}).items():
        for language, texts in by_language.items():
            yield from (AbsentQuery(kind, language, text) for text in texts)


def _post(number: int, given: str | Mapping[str, Any], author: list[str]) -> dict[str, Any]:
    fields: Mapping[str, Any] = {"text": given} if isinstance(given, str) else given
    unknown = fields.keys() - _SHORT_FIELDS - {"note", "labels"}
    assert not unknown, unknown
    username = fields.get("author", author[0])
    post = {
        "post_id": str(number),
        "tweet_details": {
            "text": fields["text"],
            "link": f"https://x.com/{username}/status/{number}",
            "posted_at": "2026-01-01T00:00:00+00:00",
            "attachments": list(_attachments(number, fields)),
            "article": _article(fields.get("article")),
            "quoted_tweet": _quoted(fields.get("quoted")),
        },
        "author_username": username,
        "author_details": {"name": fields.get("name", author[1]), "username": username},
        "sort_index": number,
    }
    if "note" in fields:
        post["note"] = fields["note"]
    if "labels" in fields:
        post["tags"] = fields["labels"]
    return post


def _attachments(number: int, fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if "link" in fields:
        yield {"type": "link", "url": f"https://{fields['link']['domain']}/{number}"} | fields[
            "link"
        ]
    if "alt" in fields:
        url = f"https://pbs.twimg.com/media/{number}.jpg"
        yield {"type": "image", "url": url, "alt_text": fields["alt"]}
    if "poll" in fields:
        choices = [{"label": choice, "count": 1} for choice in fields["poll"]]
        yield {"type": "poll", "choices": choices}


def _article(fields: Mapping[str, str] | None) -> dict[str, str] | None:
    return None if fields is None else {"title": fields["title"], "plain_text": fields["text"]}


def _quoted(fields: Mapping[str, str] | None) -> dict[str, Any] | None:
    if fields is None:
        return None
    return {
        "post_id": "1",
        "text": fields["text"],
        "author_username": fields["author"],
        "author_details": {"name": fields["name"], "username": fields["author"]},
    }
