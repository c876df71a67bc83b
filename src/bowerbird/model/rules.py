"""Rules: what should happen by itself to posts that match a query, and what they did."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from bowerbird.model.bulk import BulkAction
from bowerbird.model.labels import Query

KIND: Final = "rules"
"""The kind of the jobs that run rules."""
FAILURES_MAX: Final = 20
"""A rule that fails so often in a row is switched off."""


class When(StrEnum):
    ARRIVES = "arrives"
    LABELLED = "labelled"
    SAVED_AGAIN = "saved_again"
    NIGHTLY = "nightly"


class Do(StrEnum):
    """What a rule does. A further action is a member here and a step in library/rules/applying."""

    ADD_LABEL = "add_label"
    REMOVE_LABEL = "remove_label"
    STAR = "star"
    MARK_READ = "mark_read"
    ARCHIVE = "archive"
    TRASH = "trash"
    SEND = "send_to_webhook"
    STOP = "stop"


LABELLING: Final = frozenset({Do.ADD_LABEL, Do.REMOVE_LABEL})
CHANGING: Final = frozenset(Do) - {Do.SEND, Do.STOP}
"""The actions that change posts."""


class Action(Struct, frozen=True, omit_defaults=True):
    do: Do
    """What to do. star adds the favourite label; stop leaves the post to no further rule."""
    label_name: str | None = None
    """The label of add_label or remove_label."""
    webhook_id: str | None = None
    """The webhook of send_to_webhook."""


class Body(Struct, frozen=True, omit_defaults=True):
    """What a rule is for, as it is stored."""

    when: When
    actions: Sequence[Action]
    query: Query = {}
    # Of `labelled`: only this label.
    label_name: str | None = None
    # Only posts that this label is suggested for.
    near_label: str | None = None


class Rule(Struct, frozen=True):
    rule_id: str
    position: int
    name: str
    body: Body
    is_on: bool
    # The last event of the library before it was switched on: it runs for later ones.
    since: int
    created_at: int
    updated_at: int
    # How many posts it has changed or sent.
    fired: int = 0
    last_fired_at: int | None = None
    # Since it last worked.
    failures: int = 0
    # Why it was switched off, or ''.
    notice: str = ""

    def does(self, action: Do) -> bool:
        return any(one.do is action for one in self.body.actions)

    @property
    def webhook_ids(self) -> list[str]:
        """The webhooks that it sends posts to."""
        return [one.webhook_id for one in self.body.actions if one.webhook_id is not None]


class RuleState(Struct, frozen=True):
    """How far the rules of an account are."""

    is_active: bool
    # Grows with each change of a rule.
    version: int
    # The last event that they have seen.
    seen: int
    # When those of every night run next, if there are any.
    night_at: int | None = None


class Applied(Struct, frozen=True, omit_defaults=True):
    """A change of posts that a rule has made."""

    action: BulkAction
    posts: int
    change_id: str = ""
    label_name: str | None = None


class LogEntry(Struct, frozen=True, omit_defaults=True):
    """What a rule has done, or why it failed."""

    # Its name at that time.
    name: str
    posts: int = 0
    changes: Sequence[Applied] = ()
    # How many posts it has sent to webhooks.
    sent: int = 0
    problem: str = ""
    # Whether a person has applied it to the posts that were there.
    is_of_past: bool = False


class Logged(Struct, frozen=True):
    number: int
    rule_id: str
    at: int
    entry: LogEntry
