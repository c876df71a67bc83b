"""The filters that cursors are bound to, as releases write them.

While nodes are replaced, a list goes on at a node of another release. A filter that a release does
not know is therefore only written if it is set.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import structs

from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.requests.bookmarks import ListQuery

# 0.2.0 to 0.4.0, and this release.
_FIRST: Final = frozenset(
    {
        "unread_only",
        "hide_archived",
        "archived_only",
        "media_bit",
        "author",
        "tag",
        "labels",
        "all_labels",
        "unlabelled",
        "has_note",
        "posted_from",
        "posted_to",
        "bookmarked_from",
        "bookmarked_to",
        "import_run",
        "words",
        "post_ids",
        "meaning",
    }
)
_IN_0_5: Final = _FIRST | {"languages", "network_bits", "annotated"}
_IN_0_6: Final = _IN_0_5 | {
    "has",
    "is_gone",
    "is_reply",
    "is_thread",
    "is_duplicate",
    "min_words",
    "max_words",
    "min_likes",
    "linked",
    "updated_since",
}


def forms(filter: BookmarkFilter, query: ListQuery) -> Iterator[dict[str, Any]]:
    """The first one is that of new cursors."""
    fields = structs.asdict(filter)
    # Words as they were typed: every release makes something else of them.
    typed = {**fields, "words": query.q if filter.words else None}
    if filter.linked is not None:
        typed["linked"] = query.linked_site
    yield _written(typed, _FIRST)
    parsed = {name: _as_in_0_6(msgspec.to_builtins(fields[name])) for name in ("words", "linked")}
    yield _written({**fields, **parsed}, _IN_0_6)
    yield _written(fields, _IN_0_5)


def _as_in_0_6(parsed: Any) -> Any:
    """Parsed words without what terms have since."""
    if isinstance(parsed, dict):
        return {name: _as_in_0_6(one) for name, one in parsed.items() if name != "is_field"}
    return [_as_in_0_6(one) for one in parsed] if isinstance(parsed, list | tuple) else parsed


def _written(fields: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None or name in known}
