"""Changes of many posts: what they do, and what is kept so that they can be undone."""

from collections.abc import Sequence
from enum import IntEnum, StrEnum
from typing import Final

import msgspec
from msgspec import Raw, Struct

from bowerbird.model.arrival.imports import Deletion
from bowerbird.model.labels import Label, name_key

KIND: Final = "change"
"""The kind of the jobs that do the rest of large changes."""
FAILED: Final = "failed"
"""The state of a change whose job has failed, as its account sees it."""
UNDO_S: Final = 3_600
"""How long a finished change can be undone."""


class PostField(IntEnum):
    """A field of a post that a change sets or clears.

    A label of a post is such a field too. Its number is the id of the label, which is above 0.
    """

    READ = 0
    ARCHIVED = -1
    TRASHED = -2


def is_label(field: int) -> bool:
    return field > 0


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


class ChangedRule(Struct, frozen=True, omit_defaults=True):
    """A rule that follows a label, as it was before a change of the label."""

    rule_id: str
    body: Raw
    # Why the change has switched it off, or ''.
    notice: str = ""


class ChangedLabel(Struct, frozen=True):
    """The label of a change as it was when the change started."""

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
    # Deleting and merging: the rules that were switched off, or that have the other name.
    rules: Sequence[ChangedRule] = ()
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
    # Renaming: the name that the label gets, and whether it has it.
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
        """The label that the change is about, unless it is a batch."""
        is_one = self.labels and self.action is not BulkAction.LABEL_BATCH
        return self.labels[0] if is_one else None

    @property
    def label_name(self) -> str | None:
        return None if self.label is None else self.label.name


class Changed(Struct, frozen=True):
    """A field of a post that a change has set or cleared."""

    post_id: str
    field: int
    was_set: bool
    kept: KeptTrash | None = None


class Recorded(Struct, frozen=True):
    """A stored `Changed`, with the version of the library after its turn."""

    change: Changed
    version: int


_labels: Final = msgspec.json.Decoder(ChangedLabel | list[ChangedLabel]).decode
_kept: Final = msgspec.json.Decoder(KeptTrash).decode


def labels_of(text: str) -> Sequence[ChangedLabel]:
    """The labels of a stored change: one as an object, several as a list."""
    found = _labels(text) if text else []
    return found if isinstance(found, list) else [found]


def labels_text(labels: Sequence[ChangedLabel]) -> str:
    if not labels:
        return ""
    return msgspec.json.encode(labels[0] if len(labels) == 1 else labels).decode()


def kept_of(data: bytes | None) -> KeptTrash | None:
    return None if data is None else _kept(data)
