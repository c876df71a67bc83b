"""What an import did with each file, as data: the command prints it, the API returns it as JSON."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from bowerbird.sources.found import Reason

MAX_ROWS: Final = 20
MAX_NOTICES: Final = 20
MAX_NEW_LABELS: Final = 20
MAX_LINKS: Final = 5_000
# The report of a file is stored as one value.
MAX_LINKS_CHARACTERS: Final = 512 << 10


class Wording(NamedTuple):
    """What people read about the records that are left out for a reason."""

    one: str
    many: str
    # What happens to these records.
    outcome: str


WORDING: Final = {
    Reason.NOT_A_POST: Wording(
        "link that is not a post",
        "links that are not posts",
        "links that are not posts: left out, because a library holds only posts",
    ),
    Reason.UNAVAILABLE: Wording(
        "post that is no longer available",
        "posts that are no longer available",
        "left out: deleted or protected at the source",
    ),
    Reason.ADVERTISEMENT: Wording("advertisement", "advertisements", "left out"),
    Reason.NOT_SAVED: Wording(
        "post that was seen but not saved",
        "posts that were seen but not saved",
        "left out: seen, but not in the list of saved posts",
    ),
    Reason.NOT_REQUESTED: Wording(
        "liked post", "liked posts", "liked posts: left out, unless they are asked for"
    ),
    Reason.INVALID: Wording(
        "row that cannot be read", "rows that cannot be read", "left out: not readable"
    ),
}
# The counts of a file and what they mean. People read the names of the API, with spaces.
COUNTS: Final = {
    "found": "posts in the file",
    "new": "kept",
    "changed": "known, with more in the file: filled in or changed",
    "unchanged": "known already: left as they are",
    "ignored_deleted": "posts you deleted here: left out, as you wished",
    "labels_created": "labels that the library did not have",
    "labels_left_out": "left out: there is no room for more",
    "labels_shortened": "labels that were too long",
    "notes": "posts with a note of yours, which is kept",
    "future_dates": "dates of saving in the future: not used",
}


def name_of(key: str) -> str:
    return key.replace("_", " ")


_DELETED: Final = ("post that you deleted here", "posts that you deleted here")


class Row(Struct, frozen=True):
    """A record of a file that was left out, or imported without some of its labels."""

    line: int
    """Line or number of the record, counted from 1."""
    # A Reason, or LABELS.
    reason: str
    """Why it is left out; labels if it is imported without some of its labels."""
    sentence: str
    """The reason as a sentence."""
    link: str = ""
    """The link, if it is one that is not a post."""


LABELS: Final = "labels"


class FileReport(Struct, kw_only=True):
    name: str
    """Always file: the name that the client gave it is not used."""
    format: str = ""
    """What the file is. Empty if it could not be read."""
    problem: str = ""
    """Why nothing in the file can be imported, as a sentence. Empty if it can."""
    # The following four add up to it, unless the import was interrupted.
    found: int = 0
    """Posts in the file."""
    new: int = 0
    """Posts that are new in the library."""
    changed: int = 0
    """Posts whose text, author, media or labels changed."""
    unchanged: int = 0
    """Posts that the library already has."""
    ignored_deleted: int = 0
    """Posts that the owner deleted from the library. They stay deleted."""
    left_out: dict[str, int] = {}
    """Number of records that are not imported, by reason."""
    labels_created: int = 0
    """Labels that the account did not have before."""
    new_labels: list[str] = []
    """The names of the first 20 of these labels."""
    labels_left_out: int = 0
    """Labels that posts did not get, because they or the account cannot have more."""
    labels_shortened: int = 0
    """Different labels that were too long and are shortened."""
    notes: int = 0
    """Posts with a note of their owner, which is imported too."""
    future_dates: int = 0
    """Dates of saving that are in the future, and therefore not used."""
    rows: list[Row] = []
    """The first records that are left out, or imported without some of their labels."""
    links: list[str] = []
    """The links that are not posts: at most the first 5,000, and 512 KiB."""
    notices: list[str] = []
    """Sentences about the file. No record is lost by them."""

    @property
    def written(self) -> int:
        return self.new + self.changed

    @property
    def is_complete(self) -> bool:
        """Whether everything was imported that was meant to be."""
        return not (self.problem or self.labels_left_out or self.left_out.get(Reason.INVALID))

    def leave_out(self, row: Row) -> None:
        self.left_out[row.reason] = self.left_out.get(row.reason, 0) + 1
        self.show(row)

    def show(self, row: Row) -> None:
        if len(self.rows) < MAX_ROWS:
            self.rows.append(row)

    def create_labels(self, names: Sequence[str]) -> None:
        self.labels_created += len(names)
        self.new_labels += names[: MAX_NEW_LABELS - len(self.new_labels)]

    def notice(self, sentence: str) -> None:
        if len(self.notices) < MAX_NOTICES:
            self.notices.append(sentence)


class ImportReport(Struct, kw_only=True):
    run_id: str = ""
    """The import, which can be undone with /v1/imports. Empty in a dry run, and if the file could
    not be read."""
    undo_until: str = ""
    """Until when it can be undone: ISO 8601 with an offset. Empty if it cannot."""
    is_dry_run: bool = False
    """Whether the library stays as it is. The counts say what would happen."""
    files: list[FileReport] = []
    """The report about the file."""

    @property
    def is_complete(self) -> bool:
        return all(file.is_complete for file in self.files)

    @property
    def written(self) -> int:
        return sum(file.written for file in self.files)


def nothing_new(file: FileReport, likes: str) -> str:
    """Why a file changes nothing, as a sentence. "" if it changes something or was refused.

    `likes` says how liked posts are imported.
    """
    if file.written or file.problem:
        return ""
    if not file.found and file.left_out.keys() == {Reason.NOT_REQUESTED}:
        return f"Only liked posts are in this file; to import them, {likes}."
    left_out = [_counted(n, *WORDING[Reason(reason)][:2]) for reason, n in file.left_out.items()]
    if file.ignored_deleted:
        left_out.append(_counted(file.ignored_deleted, *_DELETED))
    if not left_out:
        return "Nothing in this file is new." if file.found else "There are no posts in this file."
    *first, last = left_out
    why = f"{', '.join(first)} and {last}" if first else last
    can = "is new" if file.unchanged else "can be imported"
    return f"Nothing in this file {can}. Left out: {why}."


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
