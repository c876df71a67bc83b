"""The fields of a stored post that its author did not write, when a source says something new.

These are whether the post is gone at its source (`gone_at`), whether it is still saved there
(`removed_at`), and the owner's note and highlights.
"""

from typing import Any, Final

import msgspec
from msgspec import UNSET

from bowerbird.model import highlights
from bowerbird.model.bookmarks import NOTE_MAX, ImportRecord, Post, with_highlights
from bowerbird.model.imports import Completeness
from bowerbird.model.ingest import HiddenPost
from bowerbird.sources.found import FoundPost

_FIELDS: Final = ("gone_at", "gone_reason", "removed_at", "note")
_NONE: Final[dict[str, Any]] = dict.fromkeys(_FIELDS, UNSET)


def of_found(found: FoundPost) -> dict[str, Any]:
    """What a found post says about itself in `tweet_details.meta`, beyond its record."""
    said: dict[str, Any] = {}
    if found.via_repost:
        said["via_repost_id"] = found.via_repost
    if found.versions:
        said["version_ids"] = list(found.versions)
    return said


def settled(
    post: Post,
    before: Post | None,
    found: FoundPost,
    hidden: HiddenPost | None,
    *,
    is_older: bool,
) -> Post:
    """The post with the state that is known after `found`.

    `before` is the stored post, and `hidden` what is known of a post that is not stored. A source
    that is older than what is known changes neither gone_at nor removed_at.
    """
    record = found.record
    known = _known(before, hidden)
    gone_at, gone_reason, removed_at = known["gone_at"], known["gone_reason"], known["removed_at"]
    if record.gone_at and not gone_at and not is_older:
        gone_at, gone_reason = record.gone_at, record.gone_reason
    elif not record.gone_at and _is_seen(found) and not is_older:
        gone_at = UNSET
    if found.is_saved and not is_older:
        removed_at = UNSET
    elif not removed_at and not is_older:
        removed_at = record.removed_at
    settled = msgspec.structs.replace(
        post,
        gone_at=gone_at or UNSET,
        gone_reason=(gone_reason or UNSET) if gone_at else UNSET,
        removed_at=removed_at or UNSET,
        note=_joined(known["note"] or "", found.note or record.note or "") or UNSET,
    )
    return _with_passages(settled, before, record)


def sent(post: Post, record: ImportRecord, before: Post | None, hidden: HiddenPost | None) -> Post:
    """The post after a record in the format of the API: a field that it lacks stays as it is."""
    state = _known(before, hidden)
    for name in _FIELDS:
        value = getattr(record, name)
        if value is not UNSET:
            state[name] = value or UNSET
    if not state["gone_at"]:
        state["gone_reason"] = UNSET
    return _with_passages(msgspec.structs.replace(post, **state), before, record)


def _known(before: Post | None, hidden: HiddenPost | None) -> dict[str, Any]:
    if before is not None:
        return {name: getattr(before, name) for name in _FIELDS}
    if hidden is not None:
        return {**_NONE, "gone_at": hidden.gone_at, "gone_reason": hidden.reason}
    return dict(_NONE)


def _with_passages(post: Post, before: Post | None, record: ImportRecord) -> Post:
    """With the highlights of both, at their places in the text that the post has now."""
    known = None if before is None else before.highlights
    if not known and not record.highlights:
        return post
    return with_highlights(post, highlights.joined(known or (), record.highlights or ()))


def _is_seen(found: FoundPost) -> bool:
    """Whether the source showed the post itself. A file may be older than everything known."""
    return found.is_shown and found.completeness is not Completeness.STUB


def _joined(stored: str, found: str) -> str:
    """Both notes: a program may have another note about the same post."""
    found = found[:NOTE_MAX].strip()
    if not stored or found in stored:
        return stored or found
    return f"{stored}\n\n{found}"[:NOTE_MAX]
