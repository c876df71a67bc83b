"""Checks feeds exactly: Atom against the rules of RFC 4287, JSON Feed against version 1.1."""

import json
import re
from collections import Counter
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import feedparser
import httpx

_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
# How often each element may be in its parent: exactly once, or at most once. Links are checked
# by their relation. Other elements than these are refused.
_ONCE: Final = {"feed": {"id", "title", "updated"}, "entry": {"id", "title", "updated"}}
_AT_MOST_ONCE: Final = {
    "feed": {"subtitle", "generator", "icon", "logo", "rights"},
    "entry": {"content", "published", "rights", "source", "summary"},
}
_TEXT_TYPES: Final = {"text", "html", "xhtml"}
_TEXT_ATTRIBUTES: Final = {"type"}
# What an element may have; those that are not here have none.
_ATTRIBUTES: Final = {
    "title": _TEXT_ATTRIBUTES,
    "subtitle": _TEXT_ATTRIBUTES,
    "content": _TEXT_ATTRIBUTES,
    "link": {"href", "rel", "type", "hreflang", "title", "length"},
    "generator": {"uri", "version"},
}
_MEDIA_TYPE: Final = re.compile(r"[a-z]+/[a-z0-9.+-]+", re.ASCII)
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", re.ASCII)
_ITEM_TEXTS: Final = {
    *("id", "url", "title", "content_html", "content_text", "date_published", "date_modified"),
    *("summary", "image", "language"),
}
_ADDRESSES: Final = {"url", "image", "home_page_url", "feed_url", "next_url"}
_FEED_TEXTS: Final = {"title", "home_page_url", "feed_url", "description", "next_url"}


def atom(response: httpx.Response) -> ET.Element:
    """The feed, if it is valid."""
    assert response.headers["content-type"] == "application/atom+xml; charset=utf-8"
    parsed = feedparser.parse(response.content, response_headers=dict(response.headers))
    assert not parsed.bozo, parsed.get("bozo_exception")
    assert parsed.version == "atom10"
    feed = ET.fromstring(response.content)  # noqa: S314 - of this server
    assert feed.tag == f"{_ATOM}feed"
    _check_atom(feed, "feed")
    for entry in feed.findall(f"{_ATOM}entry"):
        _check_atom(entry, "entry")
        # RFC 4287, 4.1.2: an entry without content needs an alternate link.
        assert entry.find(f"{_ATOM}content") is not None
    # RFC 4287, 4.1.1: a feed should say where it is, once.
    assert len(feed.findall(f"{_ATOM}link[@rel='self']")) == 1
    ids = [entry.findtext(f"{_ATOM}id") for entry in feed.findall(f"{_ATOM}entry")]
    assert len(ids) == len(set(ids))
    return feed


def texts(element: ET.Element, name: str) -> list[str]:
    return [each.text or "" for each in element.findall(f"{_ATOM}entry/{_ATOM}{name}")]


def link(feed: ET.Element, rel: str) -> str | None:
    found = feed.find(f"{_ATOM}link[@rel='{rel}']")
    return None if found is None else found.get("href")


def json_feed(response: httpx.Response) -> dict[str, Any]:
    """The feed, if it is valid."""
    assert response.headers["content-type"] == "application/feed+json"
    feed: dict[str, Any] = json.loads(response.content)
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["title"]
    assert feed.keys() <= {"version", "items", "authors", *_FEED_TEXTS}
    assert all(isinstance(feed[name], str) for name in _FEED_TEXTS & feed.keys())
    _check_authors(feed)
    _check_addresses(feed)
    for item in feed["items"]:
        assert item["id"]
        _check_addresses(item)
        assert "language" not in item or _LANGUAGE.fullmatch(item["language"])
        assert "content_html" in item or "content_text" in item
        assert item.keys() <= {"authors", *_ITEM_TEXTS}
        assert all(isinstance(item[name], str) for name in _ITEM_TEXTS & item.keys())
        for name in ("date_published", "date_modified"):
            assert name not in item or _is_instant(item[name])
        _check_authors(item)
    assert len({item["id"] for item in feed["items"]}) == len(feed["items"])
    return feed


def _check_authors(part: dict[str, Any]) -> None:
    for author in part.get("authors", []):
        assert author.keys() <= {"name", "url", "avatar"}
        assert author
        assert all(isinstance(value, str) and value for value in author.values())


def _check_addresses(part: dict[str, Any]) -> None:
    for name in _ADDRESSES & part.keys():
        assert urlsplit(part[name]).scheme in ("http", "https")


def _is_instant(text: str) -> bool:
    """RFC 3339, on a day that exists."""
    if _INSTANT.fullmatch(text) is None:
        return False
    return datetime.fromisoformat(text).tzinfo is not None


def _check_atom(element: ET.Element, kind: str) -> None:
    names = Counter(child.tag.removeprefix(_ATOM) for child in element)
    assert not element.keys()
    # Text between elements is not part of a feed.
    assert not "".join([element.text or "", *(child.tail or "" for child in element)]).strip()
    repeated = {"author", "category", "contributor", "link", *({"entry"} if kind == "feed" else ())}
    assert names.keys() <= _ONCE[kind] | _AT_MOST_ONCE[kind] | repeated
    assert all(names[name] == 1 for name in _ONCE[kind])
    assert all(names[name] <= 1 for name in _AT_MOST_ONCE[kind])
    # Each entry has an author of its own here.
    assert names["author"] >= 1
    for child in element:
        _check_child(child)
    alternates = [
        (each.get("type"), each.get("hreflang"))
        for each in element.findall(f"{_ATOM}link")
        if each.get("rel", "alternate") == "alternate"
    ]
    assert len(alternates) == len(set(alternates))


def _check_child(child: ET.Element) -> None:
    name = child.tag.removeprefix(_ATOM)
    assert set(child.keys()) <= _ATTRIBUTES.get(name, set())
    if name == "id":
        assert urlsplit(child.text or "").scheme
        assert not (child.text or "").split()[1:]
    elif name in ("updated", "published"):
        assert _is_instant(child.text or "")
    elif name == "generator":
        assert child.text
    elif name in ("title", "subtitle", "content"):
        assert child.get("type", "text") in _TEXT_TYPES
        assert not list(child)
    elif name == "author":
        assert [each.tag for each in child] == [f"{_ATOM}name"]
        assert child.findtext(f"{_ATOM}name")
    elif name == "link":
        assert urlsplit(child.get("href") or "").scheme in ("http", "https")
        assert (child.get("href") or "").isascii()
        assert child.get("rel") in ("self", "alternate", "next")
        assert _MEDIA_TYPE.fullmatch(child.get("type") or "")
        assert not list(child)
