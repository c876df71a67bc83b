"""What happened to a library: the events of one change, as they are stored and shown.

Webhooks are addresses that are told what happens in a library.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.model.bulk import PostField
from bowerbird.model.labels import Label
from bowerbird.model.posts.bookmarks import Post, PostDetails


class EventType(StrEnum):
    # In a full listing alone: the post was there when the listing came to it.
    POST_LISTED = "post.listed"
    POST_CREATED = "post.created"
    POST_CHANGED = "post.changed"
    POST_READ = "post.read"
    POST_UNREAD = "post.unread"
    POST_ARCHIVED = "post.archived"
    POST_UNARCHIVED = "post.unarchived"
    POST_LABELLED = "post.labelled"
    POST_UNLABELLED = "post.unlabelled"
    POST_DELETED = "post.deleted"
    POST_RESTORED = "post.restored"
    POST_PURGED = "post.purged"
    # A rule sent the post to one webhook.
    POST_SENT = "post.sent"
    LABEL_CREATED = "label.created"
    LABEL_CHANGED = "label.changed"
    LABEL_RENAMED = "label.renamed"
    LABEL_MERGED = "label.merged"
    LABEL_DELETED = "label.deleted"
    VIEW_CREATED = "view.created"
    VIEW_CHANGED = "view.changed"
    VIEW_DELETED = "view.deleted"
    DIGEST_CREATED = "digest.created"


class EventLabel(Struct, frozen=True, array_like=True):
    """A label as it was called then."""

    label_id: int
    name: str


class Happening(Struct, frozen=True, array_like=True):
    """One event of one or more posts, or of a label or view without a post."""

    type: EventType
    post_ids: Sequence[str] = ()
    # Of a change: which fields of the post, label or view.
    fields: Sequence[str] = ()
    label: EventLabel | None = None
    # Of a label: its former name, or the label that it was merged into.
    former_name: str = ""
    into: EventLabel | None = None
    # The slug of a view.
    view: str = ""
    # Whether no rule runs because of it: a rule has done it, or an undo.
    is_quiet: bool = False
    # The webhook that a post was sent to.
    webhook: str = ""
    # The id of a digest.
    digest: str = ""

    @property
    def size(self) -> int:
        """The number of events."""
        return len(self.post_ids) or 1


encode: Final = msgspec.msgpack.Encoder().encode
decode: Final = msgspec.msgpack.Decoder(list[Happening]).decode

# By field, the events of a field that was set and of one that was not.
_FLAGS: Final = {
    PostField.READ: (EventType.POST_UNREAD, EventType.POST_READ),
    PostField.ARCHIVED: (EventType.POST_UNARCHIVED, EventType.POST_ARCHIVED),
    PostField.TRASHED: (EventType.POST_RESTORED, EventType.POST_DELETED),
}
# These leave a post of the library as it was, or it has just been inserted.
_NOT_CHANGING: Final = frozenset(
    (
        EventType.POST_SENT,
        EventType.POST_CREATED,
        EventType.POST_RESTORED,
        EventType.POST_DELETED,
        EventType.POST_PURGED,
    )
)
_LABELS: Final = (EventType.POST_UNLABELLED, EventType.POST_LABELLED)
_POST_FIELDS: Final = tuple(name for name in Post.__struct_fields__ if name != "tweet_details")


def of_posts(
    changed: Iterable[tuple[str, int, bool]], labels: Mapping[int, str]
) -> list[Happening]:
    """The events of fields of posts: post, field, and whether it was set before.

    `labels` has the names of labels by id.
    """
    by_field: dict[tuple[int, bool], list[str]] = {}
    for post_id, field, was_set in changed:
        by_field.setdefault((field, was_set), []).append(post_id)
    return [
        Happening(_FLAGS[PostField(field)][not was_set], post_ids)
        if field in _FLAGS
        else Happening(
            _LABELS[not was_set], post_ids, label=EventLabel(field, labels.get(field, ""))
        )
        for (field, was_set), post_ids in by_field.items()
    ]


def of_contents(changed: Mapping[str, Sequence[str]]) -> list[Happening]:
    """The events of posts whose content was changed: the fields by post."""
    by_fields: dict[tuple[str, ...], list[str]] = {}
    for post_id, fields in changed.items():
        if fields:
            by_fields.setdefault(tuple(fields), []).append(post_id)
    return [
        Happening(EventType.POST_CHANGED, post_ids, fields)
        for fields, post_ids in by_fields.items()
    ]


def changed_posts(happened: Iterable[Happening]) -> list[str]:
    """The posts of the library that were changed."""
    ids = [one.post_ids for one in happened if one.type not in _NOT_CHANGING]
    return list(dict.fromkeys(chain.from_iterable(ids)))


def of_labels(type: EventType, labels: Iterable[Label]) -> list[Happening]:
    return [Happening(type, label=event_label(label)) for label in labels]


def of_purged(post_ids: Sequence[str]) -> list[Happening]:
    """The event of posts that are not in the trash either."""
    return [Happening(EventType.POST_PURGED, post_ids)] if post_ids else []


def quiet(one: Happening) -> Happening:
    return msgspec.structs.replace(one, is_quiet=True)


def event_label(label: Label) -> EventLabel:
    return EventLabel(label.label_id, label.name)


def changed_fields(before: Post | None, after: Post) -> list[str]:
    """The fields of the stored document that differ."""
    if before is None:
        return ["tweet_details"]
    fields = [name for name in _POST_FIELDS if getattr(before, name) != getattr(after, name)]
    if before.tweet_details != after.tweet_details:
        details = (before.tweet_details, after.tweet_details)
        fields += [
            f"tweet_details.{name}"
            for name in PostDetails.__struct_fields__
            if getattr(details[0], name) != getattr(details[1], name)
        ]
    return fields


KIND: Final = "webhooks"
TEST: Final = "webhook.test"
# Those that a webhook can be limited to. The others are of a listing, or for one webhook alone.
TYPES: Final = tuple(
    one for one in EventType if one not in (EventType.POST_LISTED, EventType.POST_SENT)
)
# How long the secret before the last is used too.
FORMER_SECRET: Final = 86_400 * MICROSECONDS


class WebhookState(StrEnum):
    ACTIVE = "active"
    # By a person, until it is resumed.
    PAUSED = "paused"
    # By the service, because nothing could be delivered for days.
    DISABLED = "disabled"


class DeliveryState(StrEnum):
    # Somebody wants it to be sent once.
    WAITING = "waiting"
    # It failed, and later messages wait for it.
    RETRYING = "retrying"
    DELIVERED = "delivered"
    FAILED = "failed"


class Webhook(Struct, frozen=True, kw_only=True):
    webhook_id: str
    url: str
    # The types of its events, separated by spaces; "" for all.
    events: str
    tag: str
    query: str
    state: WebhookState = WebhookState.ACTIVE
    # Why the last message was not delivered, or "".
    problem: str = ""
    # Encrypted; see library/webhooks/messages.py.
    sealed: bytes
    rotated_at: int | None = None
    # The number of the last event that was delivered, or that is not for it.
    delivered: int = 0
    failures: int = 0
    failing_since: int | None = None
    next_try_at: int
    is_untold: bool = False
    last_sent_at: int | None = None
    created_at: int
    updated_at: int

    def __repr__(self) -> str:
        # Addresses may contain a password of the receiver, and the secrets are in here.
        return f"Webhook({self.webhook_id!r})"


class Delivery(Struct, frozen=True, kw_only=True):
    """A message, and what came of the last attempt to deliver it."""

    webhook_id: str
    message_id: str
    type: str
    state: DeliveryState
    tries: int
    created_at: int
    tried_at: int | None = None
    took_ms: int | None = None
    status: int | None = None
    answer: str = ""
    problem: str = ""
    body: bytes = b""
