"""Changes of many posts: what they do, and what is kept so that they can be undone."""

from collections.abc import Sequence
from enum import IntEnum, StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.model.arrival import Deletion
from bowerbird.model.labels import Label, name_key

KIND: Final = "change"
"""The kind of the jobs that do the rest of large changes."""
FAILED: Final = "failed"
"""The state of a change whose job has failed, as its account sees it."""


class PostField(IntEnum):
    """A field of a post that a change sets or clears.

    A label of a post is such a field too. Its number is the id of the label, which is above 0.
    """

    READ = 0
    ARCHIVED = -1
    TRASHED = -2
    # Not one bit: a whole value as it was before, such as a note or a view. See `ValueKind`.
    VALUE = -3


def is_label(field: int) -> bool:
    return field > 0


class ValueKind(StrEnum):
    """What a change can keep a value of. The value is kept by its kind and id, as JSON."""

    NOTE = "note"
    # Its id is that of the post, a colon and that of the passage.
    HIGHLIGHT = "highlight"
    LABEL = "label"
    VIEW = "view"
    RULE = "rule"


def value_key(kind: ValueKind, id: str) -> str:
    """Stored where a field has the id of its post, which consists of digits."""
    return f"{kind}:{id}"


def owner_of(key: str) -> str:
    """The post that a field or value belongs to; of a label, view or rule, its own key."""
    kind, _, id = key.partition(":")
    return id.partition(":")[0] if kind in (ValueKind.NOTE, ValueKind.HIGHLIGHT) else key


class BulkAction(StrEnum):
    READ = "read"
    UNREAD = "unread"
    ARCHIVE = "archive"
    UNARCHIVE = "unarchive"
    TRASH = "trash"
    RESTORE = "restore"
    READ_AND_ARCHIVE = "read_and_archive"
    READ_AND_UNARCHIVE = "read_and_unarchive"
    UNREAD_AND_ARCHIVE = "unread_and_archive"
    UNREAD_AND_UNARCHIVE = "unread_and_unarchive"
    ADD_LABEL = "add_label"
    REMOVE_LABEL = "remove_label"
    # Several labels of posts that a request names.
    LABEL_BATCH = "label_batch"
    # These change all posts of a label.
    DELETE_LABEL = "delete_label"
    MERGE_LABELS = "merge_labels"
    RENAME_LABEL = "rename_label"
    # These are complete when they are sent, and keep whole values.
    UPDATE_NOTE = "update_note"
    ADD_HIGHLIGHT = "add_highlight"
    UPDATE_HIGHLIGHT = "update_highlight"
    DELETE_HIGHLIGHT = "delete_highlight"
    CREATE_LABEL = "create_label"
    UPDATE_LABEL = "update_label"
    CREATE_VIEW = "create_view"
    UPDATE_VIEW = "update_view"
    DELETE_VIEW = "delete_view"
    # Posts that are sent: created, restored from the trash, labelled.
    SAVE = "save"


FLAG_ACTIONS: Final[dict[tuple[bool | None, bool | None], BulkAction]] = {
    (True, None): BulkAction.READ,
    (False, None): BulkAction.UNREAD,
    (None, True): BulkAction.ARCHIVE,
    (None, False): BulkAction.UNARCHIVE,
    (True, True): BulkAction.READ_AND_ARCHIVE,
    (True, False): BulkAction.READ_AND_UNARCHIVE,
    (False, True): BulkAction.UNREAD_AND_ARCHIVE,
    (False, False): BulkAction.UNREAD_AND_UNARCHIVE,
}
"""The action that sets both flags, by their values; None leaves a flag as it is."""
WHOLE_LABEL_ACTIONS: Final = frozenset({BulkAction.DELETE_LABEL, BulkAction.MERGE_LABELS})
_VIEW_ACTIONS: Final = frozenset(
    {BulkAction.CREATE_VIEW, BulkAction.UPDATE_VIEW, BulkAction.DELETE_VIEW}
)
VALUE_ACTIONS: Final = _VIEW_ACTIONS | {
    BulkAction.UPDATE_NOTE,
    BulkAction.ADD_HIGHLIGHT,
    BulkAction.UPDATE_HIGHLIGHT,
    BulkAction.DELETE_HIGHLIGHT,
    BulkAction.CREATE_LABEL,
    BulkAction.UPDATE_LABEL,
}
"""What they change is one thing, which counts as 1."""


def undo_s(action: BulkAction) -> int:
    """How long a finished change can be undone. People miss a text much later than a label."""
    return 30 * 86_400 if action in VALUE_ACTIONS else 3_600


_NOT_OF_ONE_LABEL: Final = _VIEW_ACTIONS | {BulkAction.LABEL_BATCH, BulkAction.SAVE}


class BulkState(StrEnum):
    WORKING = "working"
    DONE = "done"
    UNDOING = "undoing"
    UNDONE = "undone"


class Maker(StrEnum):
    """Who made a change.

    The stored text also has the key, as `key:` and a part of its hash, or the name of the rule.
    """

    KEY = "key"
    AGENT = "agent"
    PAGE = "page"
    RULE = "rule"
    SERVER = ""


class ChangedLabel(Struct, frozen=True, omit_defaults=True):
    """The label of a change as it was when the change started. Of a view: only its name."""

    label_id: int
    name: str
    metadata: str = "{}"
    created_at: int = 0
    # Whether the change created it.
    is_new: bool = False
    # Merging: the label that its posts get.
    into_id: int | None = None
    # Merging: whether it was the favourite label, which that one is then.
    was_favourite: bool = False
    # Undoing: the label that its posts get back, if another label has its name by now.
    now_id: int | None = None
    color: str | None = None
    # Adding or removing: an earlier change is about to delete the label, so its name counts.
    is_ending: bool = False
    # Removing: it is not suggested for these posts any more.
    is_refused: bool = False
    # Deleting and merging: the posts up to this number are done.
    after: int = 0
    # Deleting and merging: somebody has created the label meanwhile, so it is not deleted.
    is_kept: bool = False
    # Renaming: the name that the label gets, and whether it has it. Merging: that of the other one.
    new_name: str = ""
    is_begun: bool = False

    def as_it_was(self, bookmark_count: int = 0) -> Label:
        key = name_key(self.name)
        return Label(self.label_id, self.name, key, self.metadata, bookmark_count, color=self.color)

    @property
    def present_id(self) -> int:
        return self.label_id if self.now_id is None else self.now_id


class KeptTrash(Struct, frozen=True):
    """What the trash had of a restored post, besides the post."""

    trashed_at: int
    deletion: Deletion | None


class BulkRow(Struct, frozen=True):
    """A change as it is stored."""

    number: int
    change_id: str
    action: BulkAction
    # Several for a batch, otherwise one or none.
    labels: Sequence[ChangedLabel]
    state: BulkState
    matched: int
    done: int
    changed: int
    restored: int
    # Posts that are kept for its undo, or more.
    kept: int
    created_at: int
    finished_at: int | None
    undo_until: int
    job_id: str
    # Its place, or that of its undo, in the order of what the account has asked for.
    position: int
    # Who asked for it: see `Maker`.
    made_by: str = ""

    @property
    def is_quiet(self) -> bool:
        """Whether no rule runs because of it: rules make no rule run, and neither does an undo."""
        is_undo = self.state in (BulkState.UNDOING, BulkState.UNDONE)
        return is_undo or self.made_by.partition(":")[0] == Maker.RULE

    @property
    def is_finished(self) -> bool:
        return self.state in (BulkState.DONE, BulkState.UNDONE)

    @property
    def label(self) -> ChangedLabel | None:
        """The label that the change is about, unless it may be about several."""
        is_one = self.labels and self.action not in _NOT_OF_ONE_LABEL
        return self.labels[0] if is_one else None

    @property
    def label_name(self) -> str | None:
        return None if self.label is None else self.label.name

    @property
    def name(self) -> str:
        """The name of the label or view that the change is about."""
        return self.labels[0].name if self.labels else ""


class Changed(Struct, frozen=True):
    """A field of a post that a change has set or cleared, or a value that it has replaced."""

    # Of a value: its key.
    post_id: str
    field: int
    was_set: bool
    # The former value as JSON, or a `KeptTrash`. A value that was not there before has none.
    kept: bytes | None = None


def replaced(key: str, before: Any) -> Changed:
    """`before`: what there was; None if there was nothing."""
    kept = None if before is None else msgspec.json.encode(before)
    return Changed(key, PostField.VALUE, was_set=kept is not None, kept=kept)


class Recorded(Struct, frozen=True):
    """A stored `Changed`, with the version of the library after its turn."""

    change: Changed
    version: int


_labels: Final = msgspec.json.Decoder(ChangedLabel | list[ChangedLabel]).decode


def labels_of(text: str) -> Sequence[ChangedLabel]:
    """The labels of a stored change: one as an object, several as a list."""
    found = _labels(text) if text else []
    return found if isinstance(found, list) else [found]


def labels_text(labels: Sequence[ChangedLabel]) -> str:
    if not labels:
        return ""
    return msgspec.json.encode(labels[0] if len(labels) == 1 else labels).decode()
