"""Rules in words: a sentence of parts, and what they did."""

from collections.abc import Sequence
from typing import Final

from bowerbird.model.bulk import BulkAction
from bowerbird.model.rules import Action, Applied, Body, Do, LogEntry, When
from bowerbird.web.views.pages import words as filters_of

Part = tuple[str, str]
"""Text with its kind: code, name, verb, or nothing for what the rule is about."""

WHEN: Final = {
    When.ARRIVES: ("arrives", "By extension, account, file, link or program"),
    When.LABELLED: ("is labelled", "By you, a program or a rule above"),
    When.SAVED_AGAIN: ("is saved again", "A source brings it once more"),
    When.NIGHTLY: ("is there every night", "The whole library, at three in the morning"),
}
ACTIONS: Final = {
    Do.ADD_LABEL: "Add the label",
    Do.REMOVE_LABEL: "Remove the label",
    Do.STAR: "Make it a favourite",
    Do.MARK_READ: "Mark it read",
    Do.ARCHIVE: "Archive it",
    Do.TRASH: "Move it to the trash",
    Do.STOP: "Stop: no further rule",
}
_DID: Final = {
    BulkAction.ADD_LABEL: "labelled",
    BulkAction.REMOVE_LABEL: "took a label off",
    BulkAction.LABEL_BATCH: "changed labels of",
    BulkAction.READ: "marked read",
    BulkAction.ARCHIVE: "archived",
    BulkAction.READ_AND_ARCHIVE: "marked read and archived",
    BulkAction.TRASH: "moved to the trash",
}


def sentence(body: Body) -> list[Part]:
    """The rule as a sentence."""
    found: list[Part] = [("verb", "When a post "), ("", WHEN[body.when][0])]
    if body.label_name:
        found += [("", " "), ("name", body.label_name)]
    filters = [("", body.query["q"])] if body.query.get("q") else []
    filters += filters_of({name: value for name, value in body.query.items() if name != "q"})
    for place, (name, value) in enumerate(filters):
        found.append(("verb", " and " if place else " and matches "))
        if name:
            found.append(("", f"{name} "))
        found.append(("code", value))
    for place, action in enumerate(body.actions):
        found.append(("verb", " and " if place else ", "))
        found += _done(action)
    return [*found, ("", ".")]


def _done(action: Action) -> list[Part]:
    text = ACTIONS[action.do]
    text = text[:1].lower() + text[1:]
    return [("", f"{text} "), ("name", action.label_name)] if action.label_name else [("", text)]


def did(entry: LogEntry) -> str:
    """What a rule did, after its name."""
    if entry.problem:
        return f"failed: {entry.problem}"
    if entry.is_of_past:
        return f"was applied to {_posts(entry.posts)} that were there"
    return ", ".join(map(_change, entry.changes))


def _change(change: Applied) -> str:
    return f"{_DID.get(change.action, 'changed')} {_posts(change.posts)}"


def _posts(count: int) -> str:
    return "1 post" if count == 1 else f"{count:,} posts"


def options(actions: Sequence[Do] = tuple(Do)) -> list[tuple[str, str]]:
    return [("", "Nothing"), *((one.value, ACTIONS[one]) for one in actions)]
