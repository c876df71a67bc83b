"""Rules in words: a sentence of parts, and what they did."""

from collections.abc import Mapping, Sequence
from typing import Final

from bowerbird.library.webhooks.webhooks import WebhookResponse, host_of
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
    Do.SEND: "Send it to",
    Do.STOP: "Stop: no further rule",
}
SEND: Final = "send:"
"""Begins the option that sends posts to a webhook, before its id."""
_NO_WEBHOOK: Final = "a webhook that was deleted"
_DID: Final = {
    BulkAction.ADD_LABEL: "labelled",
    BulkAction.REMOVE_LABEL: "took a label off",
    BulkAction.LABEL_BATCH: "changed labels of",
    BulkAction.READ: "marked read",
    BulkAction.ARCHIVE: "archived",
    BulkAction.READ_AND_ARCHIVE: "marked read and archived",
    BulkAction.TRASH: "moved to the trash",
}


def sentence(body: Body, webhooks: Mapping[str, str]) -> list[Part]:
    """The rule as a sentence. `webhooks` has the names of the account's webhooks by id."""
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
    if body.near_label:
        found += [("verb", " and is near "), ("name", body.near_label)]
    for place, action in enumerate(body.actions):
        found.append(("verb", " and " if place else ", "))
        found += _done(action, webhooks)
    return [*found, ("", ".")]


def _done(action: Action, webhooks: Mapping[str, str]) -> list[Part]:
    text = ACTIONS[action.do]
    text = text[:1].lower() + text[1:]
    name = action.label_name
    if action.webhook_id is not None:
        name = webhooks.get(action.webhook_id, _NO_WEBHOOK)
    return [("", f"{text} "), ("name", name)] if name else [("", text)]


def did(entry: LogEntry) -> str:
    """What a rule did, after its name."""
    if entry.problem:
        return f"failed: {entry.problem}"
    if entry.is_of_past:
        return f"was applied to {_posts(entry.posts)} that were there"
    sent = [f"sent {_posts(entry.sent)} to a webhook"] if entry.sent else []
    return ", ".join([*map(_change, entry.changes), *sent])


def _change(change: Applied) -> str:
    return f"{_DID.get(change.action, 'changed')} {_posts(change.posts)}"


def _posts(count: int) -> str:
    return "1 post" if count == 1 else f"{count:,} posts"


def options(webhooks: Mapping[str, str], chosen: Sequence[str]) -> list[tuple[str, str]]:
    """What the form offers. `chosen`: the options that it has now, also of a deleted webhook."""
    found = [("", "Nothing")]
    for one in Do:
        if one is not Do.SEND:
            found.append((one.value, ACTIONS[one]))
            continue
        found += [(SEND + key, f"{ACTIONS[one]} {name}") for key, name in webhooks.items()]
        known = {SEND + key for key in webhooks}
        lost = {key for key in chosen if key.startswith(SEND)} - known
        found += [(key, f"{ACTIONS[one]} {_NO_WEBHOOK}") for key in sorted(lost)]
    return found


def webhook_names(webhooks: Sequence[WebhookResponse]) -> dict[str, str]:
    """What webhooks are called, by id: their hosts, numbered if several have the same."""
    names: dict[str, str] = {}
    for one in webhooks:
        host = host_of(one.url)
        same = sum(host_of(each.url) == host for each in webhooks[: len(names)])
        names[one.id] = f"{host} ({same + 1})" if same else host
    return names
