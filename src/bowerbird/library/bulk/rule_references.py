"""Keeps rules in step with what they name: labels that are renamed, merged or deleted, webhooks.

The caller's transaction has locked the library.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.library.access import activity
from bowerbird.model.accounts import ActivityKind
from bowerbird.model.bulk import Changed, ValueKind, replaced, value_key
from bowerbird.model.labels import Query, name_key
from bowerbird.model.rules import Action, Body, Do, Rule
from bowerbird.model.words import Field
from bowerbird.search.queries import query_language
from bowerbird.search.queries.query_pieces import Kind, Piece, pieces
from bowerbird.storage.database import Writable
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

_OFF: Final = "Switched off:"


class _Before(Struct, frozen=True):
    """What a change of a label can change about a rule."""

    body: Body
    is_on: bool
    notice: str


_before: Final = msgspec.json.Decoder(_Before).decode


class RuleReferences(TimedService):
    async def rename(self, library: LockedLibrary, before: str, after: str) -> list[Changed]:
        """Gives a label its other name in rules. Returns these as they were."""
        rules = await self._all(library)
        changed = [settled for rule in rules if (settled := _settled(rule, before, after)) != rule]
        return await self._put(library, rules, changed)

    async def label_deleted(self, library: LockedLibrary, name: str) -> list[Changed]:
        """Switches off the rules that need a label. Returns these as they were."""
        notice = f"{_OFF} the label “{name}” was deleted."
        return await self._switch_off(library, lambda rule: _needs(rule, name), notice)

    async def webhook_deleted(self, library: LockedLibrary, webhook_id: str) -> None:
        notice = f"{_OFF} the webhook that it sends posts to was deleted."
        changed = await self._switch_off(
            library, lambda rule: webhook_id in rule.webhook_ids, notice
        )
        await self._stores.bulk.take_over(library, [(one.post_id, one.field) for one in changed])

    async def put_back(self, library: LockedLibrary, kept: Mapping[str, bytes]) -> list[str]:
        """Makes rules what they were before a change, by their keys. Returns those that exist."""
        if not kept:
            return []
        rules = {key_of(one): one for one in await self._all(library)}
        last = await self._last_event(library)
        changed = []
        for key in kept.keys() & rules.keys():
            rule, before = rules[key], _before(kept[key])
            # Whatever happened while it was off is none of its business.
            since = last if before.is_on and not rule.is_on else rule.since
            changed.append(
                msgspec.structs.replace(
                    rule, body=before.body, is_on=before.is_on, notice=before.notice, since=since
                )
            )
        await self._put(library, list(rules.values()), changed)
        return [key_of(rule) for rule in changed]

    async def _switch_off(
        self, library: LockedLibrary, is_meant: Callable[[Rule], bool], notice: str
    ) -> list[Changed]:
        rules = await self._all(library)
        changed = [
            msgspec.structs.replace(rule, is_on=False, notice=notice)
            for rule in rules
            if rule.is_on and is_meant(rule)
        ]
        return await self._put(library, rules, changed)

    async def _put(
        self, library: LockedLibrary, rules: Sequence[Rule], changed: Sequence[Rule]
    ) -> list[Changed]:
        """Stores changed rules, and returns what they were.

        A worker that runs them begins again with these.
        """
        if not changed:
            return []
        transaction, account_id = library.transaction, library.account_id
        before = {rule.rule_id: rule for rule in rules}
        for rule in changed:
            await self._stores.rules.put(Writable(transaction, account_id), rule)
            if before[rule.rule_id].is_on and not rule.is_on:
                entry = activity.entry(self._clock, ActivityKind.RULE_SWITCHED_OFF, rule.name)
                await self._stores.activity.add(Writable(transaction, account_id), entry)
        state = await self._stores.rules.state(Writable(transaction, account_id))
        assert state is not None
        after = before | {rule.rule_id: rule for rule in changed}
        state = msgspec.structs.replace(
            state,
            is_active=any(rule.is_on for rule in after.values()),
            version=state.version + 1,
            seen=state.seen if state.is_active else await self._last_event(library),
        )
        await self._stores.rules.put_state(Writable(transaction, account_id), state)
        # Another change of these rules has a later version, also if it is made in turns.
        await self._stores.libraries.touch(Writable(transaction, account_id))
        return [
            replaced(key_of(rule), _Before(rule.body, rule.is_on, rule.notice))
            for rule in (before[one.rule_id] for one in changed)
        ]

    async def _all(self, library: LockedLibrary) -> list[Rule]:
        return await self._stores.rules.all(library)

    async def _last_event(self, library: LockedLibrary) -> int:
        kept = await self._stores.events.kept(library)
        assert kept is not None
        return kept.last


def key_of(rule: Rule) -> str:
    return value_key(ValueKind.RULE, rule.rule_id)


def _renamed(body: Body, before: str, after: str) -> Body:
    key = name_key(before)

    def other(name: str) -> str:
        return after if name_key(name) == key else name

    actions = [
        one
        if one.label_name is None
        else msgspec.structs.replace(one, label_name=other(one.label_name))
        for one in body.actions
    ]
    return msgspec.structs.replace(
        body,
        actions=_without_copies(actions) if actions != list(body.actions) else body.actions,
        query=_query(body.query, key, other, after),
        label_name=None if body.label_name is None else other(body.label_name),
        near_label=None if body.near_label is None else other(body.near_label),
    )


def _settled(rule: Rule, before: str, after: str) -> Rule:
    """A rule with the other name. Off if its query cannot have it, or if it contradicts itself."""
    renamed = msgspec.structs.replace(rule, body=_renamed(rule.body, before, after))
    key, words = name_key(after), query_language.straight(str(renamed.body.query.get("q") or ""))
    about = {
        one.do for one in renamed.body.actions if one.label_name and name_key(one.label_name) == key
    }
    if not rule.is_on:
        return renamed
    if key != name_key(before) and _of_label(words, name_key(before)):
        notice = f"{_OFF} its query cannot contain the name “{after}”."
    elif renamed != rule and len(about) > 1:
        notice = f"{_OFF} after a merge of labels, it would add and remove “{after}”."
    else:
        return renamed
    return msgspec.structs.replace(renamed, is_on=False, notice=notice)


def _without_copies(actions: Sequence[Action]) -> list[Action]:
    return [one for at, one in enumerate(actions) if one not in actions[:at]]


def _query(query: Query, key: str, other: Callable[[str], str], after: str) -> Query:
    changed = dict(query)
    if isinstance(name := query.get("tag"), str):
        changed["tag"] = other(name)
    names = query.get("label")
    if isinstance(names, str) and name_key(names.strip()) == key:
        changed["label"] = [after]
    elif names is not None and key in map(name_key, _names(names)):
        # As a list, because a name may contain a comma.
        changed["label"] = list(dict.fromkeys(map(other, _names(names))))
    if isinstance(text := query.get("q"), str):
        changed["q"] = _in_words(text, key, after)
    return changed


def _in_words(text: str, key: str, after: str) -> str:
    """A search with the other name. A name that it cannot express is left as it is."""
    straight = query_language.straight(text)
    found = [one.span for one in _of_label(straight, key)]
    if not found or '"' in query_language.straight(after):
        return text
    for first, end in reversed(found):
        is_quoted = straight[first - 1 : first] == '"'
        straight = straight[:first] + (after if is_quoted else f'"{after}"') + straight[end:]
    return text if len(straight) > query_language.MAX_CHARACTERS else straight


def _of_label(text: str, key: str) -> list[Piece]:
    return [
        one
        for one in pieces(text)
        if one.kind is Kind.FIELD and one.field is Field.LABEL and name_key(one.text) == key
    ]


def _names(names: object) -> list[str]:
    """The labels of a filter."""
    if isinstance(names, str):
        return [one.strip() for one in names.split(",")]
    return list(names) if isinstance(names, (list, tuple)) else []


def _needs(rule: Rule, name: str) -> bool:
    """Whether a rule is about a label, or adds it."""
    key, body = name_key(name), rule.body
    query = body.query
    named = [one.label_name for one in body.actions if one.do is Do.ADD_LABEL]
    names = query.get("label")
    named += [body.label_name, body.near_label, query.get("tag"), *_names(names)]
    if isinstance(names, str):
        # It may be one name with commas.
        named.append(names.strip())
    words = _of_label(query_language.straight(str(query.get("q") or "")), key)
    return key in {name_key(one) for one in named if one} or any(
        not one.is_excluded for one in words
    )
