"""/rules: all rules in their order, what they did, and the form of one."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.rules.rules import required
from bowerbird.library.webhooks.webhooks import WebhookResponse, host_of
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkAction
from bowerbird.model.labels import Query
from bowerbird.model.rules import LABELLING, Action, Applied, Body, Do, LogEntry, Rule, When
from bowerbird.requests import decoding
from bowerbird.requests.filters import sent
from bowerbird.requests.limits import RULE_ACTIONS_MAX, RULES_MAX, VIEW_NAME_MAX
from bowerbird.requests.rules import NewRule, RuleChange, RulePreview
from bowerbird.web.library.addresses import of_post
from bowerbird.web.views.pages import words as filters_of
from bowerbird.web.visits.formats import Times, in_form
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Form, Visit
from bowerbird.wire.responses.replies import Reply

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
    BulkAction.ADD_LABEL: "labelled {}",
    BulkAction.REMOVE_LABEL: "took a label off {}",
    BulkAction.LABEL_BATCH: "changed labels of {}",
    BulkAction.READ: "marked {} read",
    BulkAction.ARCHIVE: "archived {}",
    BulkAction.READ_AND_ARCHIVE: "marked {} read and archived",
    BulkAction.TRASH: "moved {} to the trash",
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
    return _DID.get(change.action, "changed {}").format(_posts(change.posts))


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


PATH: Final = "/rules"
_SHOWN: Final = 30
# The name of the button -> the message about it.
_SAID: Final = {
    "up": "rule-moved",
    "down": "rule-moved",
    "on": "rule-on",
    "off": "rule-off",
    "delete": "rule-deleted",
}


class RulePages:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._write = services.write
        self._rules = services.rules
        self._webhooks = services.webhooks
        self._near = services.rule_past.near
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self.shown),
            PageRoute("POST", PATH, self.change, page=PATH, back=(PATH, "Back")),
        ]

    async def shown(self, visit: Visit) -> Reply:
        account, times = visit.account, visit.times
        rules, log = await self._rules.all(account), await self._rules.log(account)
        is_near = any(rule.body.near_label for rule in rules)
        near = await self._near.notice(account) if is_near else None
        names = webhook_names(await self._webhooks.all(account))
        return self._pages.show(
            visit,
            "rules.html",
            rules=[_row(rule, times, names, near) for rule in rules],
            log=[
                {"at": times.moment(one.at), "name": one.entry.name, "text": did(one.entry)}
                for one in log[:_SHOWN]
            ],
            refusal=refusal(account),
        )

    async def change(self, visit: Visit) -> Reply:
        """The name of the button is the action, and its value the rule."""
        action, rule_id = visit.button(_SAID)
        await self._change(visit.account, action, rule_id)
        return self._pages.go(f"{PATH}?said={_SAID[action]}")

    async def _change(self, account: Account, action: str, rule_id: str) -> None:
        rule = required(await self._rules.all(account), rule_id)
        if action == "delete":
            await self._write(account, self._rules.delete, rule_id)
            return
        if action in ("on", "off"):
            change = RuleChange(is_on=action == "on")
        else:
            place = rule.position + (-1 if action == "up" else 1)
            change = RuleChange(position=min(max(place, 1), RULES_MAX))
        await self._write(account, self._rules.update, rule_id, change)


def _row(rule: Rule, times: Times, webhooks: Mapping[str, str], near: str | None) -> dict[str, Any]:
    """`near`: why posts are not compared by meaning, if they are not."""
    return {
        "id": rule.rule_id,
        "name": rule.name,
        "url": f"{PATH}/{rule.rule_id}",
        "says": sentence(rule.body, webhooks),
        "is_on": rule.is_on,
        "notice": rule.notice or (near if rule.body.near_label else None),
        "fired": rule.fired,
        "last": None if rule.last_fired_at is None else times.moment(rule.last_fired_at),
    }


def refusal(account: Account) -> str:
    """Why this account cannot have rules, or nothing."""
    try:
        plans.check_rules(account)
    except Refusal as refused:
        return refused.sentence
    return ""


NEW: Final = "/rules/new"
EDIT: Final = "/rules/{rule_id}"
_MISTAKES: Final = 500
_NOTHING: Final = {"count": 0, "posts": (), "problem": "", "newest": None, "notice": None}
# What the form calls the fields of the API.
_LABELS: Final = {
    "name": "Name",
    "label_name": "Label",
    "near_label": "Near the label",
    "query": "Search",
    "q": "Search",
    "actions": "then",
}
_ASKED: Final = ("query", "when", "label_name", "near_label")


class Draft(Struct):
    """The fields of the form, as they are sent."""

    name: str = ""
    when: str = When.ARRIVES.value
    label: str = ""
    q: str = ""
    near: str = ""
    # Filters that programs have set; the form leaves them.
    others: Query = {}
    # Pairs of what to do and a label.
    actions: list[tuple[str, str]] = []

    def request(self) -> dict[str, Any]:
        actions = [
            {"do": Do.SEND, "webhook_id": do[len(SEND) :]}
            if do.startswith(SEND)
            else {"do": do, **({"label_name": label} if do in LABELLING else {})}
            for do, label in self.actions
            if do
        ]
        query = {**self.others, **({"q": self.q} if self.q else {})}
        is_labelled = self.when == When.LABELLED.value and self.label
        return {
            "name": self.name,
            "when": self.when,
            "label_name": self.label if is_labelled else None,
            "near_label": self.near or None,
            "query": query or None,
            "actions": actions,
        }


class RuleEditor:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._write = services.write
        self._rules = services.rules
        self._past = services.rule_past
        self._webhooks = services.webhooks
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", NEW, self.new),
            PageRoute("POST", NEW, self.sent, page=PATH),
            PageRoute("GET", EDIT, self.edit),
            PageRoute("POST", EDIT, self.sent, page=PATH),
        ]

    async def new(self, visit: Visit) -> Reply:
        q = visit.asked("q")
        draft = Draft(name=q[:VIEW_NAME_MAX], q=q, actions=[(Do.ADD_LABEL.value, "")])
        return await self._show(visit, draft, None)

    async def edit(self, visit: Visit) -> Reply:
        rule = await self._found(visit)
        assert rule is not None
        return await self._show(visit, _draft_of(rule), rule)

    async def sent(self, visit: Visit) -> Reply:
        """The button says what to do: save, or show the form again with what it finds."""
        rule = await self._found(visit)
        draft = _sent(visit.form, rule)
        if visit.form.get("do") != "save":
            return await self._show(visit, draft, rule)
        try:
            # From here on it is stored, also if it cannot be applied.
            rule = await self._save(visit.account, draft, rule)
            if visit.form.get("past"):
                await self._past.apply(visit.account, rule.rule_id)
        except Refusal as refused:
            if refused.status >= _MISTAKES or refused.code is Code.NOT_FOUND:
                raise
            sentence = in_form(refused.sentence, _LABELS)
            return await self._show(visit, draft, rule, status=refused.status, problem=sentence)
        said = "rule-applied" if visit.form.get("past") else "rule-saved"
        return self._pages.go(f"{PATH}?said={said}")

    async def _found(self, visit: Visit) -> Rule | None:
        """The rule of the path; None for a new one."""
        rule_id = visit.request.path_params.get("rule_id")
        if rule_id is None:
            return None
        return await self._rules.find(visit.account, rule_id)

    async def _save(self, account: Account, draft: Draft, rule: Rule | None) -> Rule:
        if not draft.actions:
            raise errors.invalid("actions", "needs an action")
        body = msgspec.json.encode(draft.request())
        if rule is None:
            return await self._write(account, self._rules.create, decoding.decode(body, NewRule))
        change = decoding.decode(body, RuleChange)
        return await self._write(account, self._rules.update, rule.rule_id, change)

    async def _show(
        self,
        visit: Visit,
        draft: Draft,
        rule: Rule | None,
        *,
        status: int = 200,
        problem: str = "",
    ) -> Reply:
        account = visit.account
        webhooks = webhook_names(await self._webhooks.all(account))
        return self._pages.show(
            visit,
            "rule_edit.html",
            status=status,
            title="Edit rule" if rule else "New rule",
            problem=problem,
            refusal=refusal(account),
            rule_id=rule.rule_id if rule else "",
            path=f"{PATH}/{rule.rule_id}" if rule else NEW,
            draft=draft,
            others=filters_of(draft.others),
            whens=[(one.value, *text) for one, text in WHEN.items()],
            options=options(webhooks, [do for do, _ in draft.actions]),
            rows=[*draft.actions, ("", "")][:RULE_ACTIONS_MAX],
            preview=await self._preview(account, draft),
        )

    async def _preview(self, account: Account, draft: Draft) -> dict[str, Any]:
        """What the rule would have matched, or why that is not known."""
        is_labelled = draft.when == When.LABELLED.value
        if not draft.q and not draft.near and not draft.others and not is_labelled:
            return {**_NOTHING, "count": account.total}
        try:
            wanted = {name: draft.request()[name] for name in _ASKED}
            asked = decoding.convert(wanted, RulePreview)
            query = {} if asked.query is None else sent(asked.query)
            found = await self._past.preview(
                account, query, asked.when, asked.label_name, asked.near_label
            )
        except Refusal as refused:
            if refused.status >= _MISTAKES:
                raise
            return {**_NOTHING, "problem": in_form(refused.sentence, _LABELS)}
        posts = [
            {"url": of_post(one.post_id), "text": one.text, "name": one.author_username}
            for one in found.examples
        ]
        return {
            **_NOTHING,
            "count": found.count,
            "posts": posts,
            "newest": found.newest,
            "notice": found.notice,
        }


def _draft_of(rule: Rule) -> Draft:
    body = rule.body
    return Draft(
        name=rule.name,
        when=body.when.value,
        label=body.label_name or "",
        q=body.query.get("q", ""),
        near=body.near_label or "",
        others=_others(rule),
        actions=[
            (SEND + one.webhook_id if one.webhook_id else one.do.value, one.label_name or "")
            for one in body.actions
        ],
    )


def _sent(form: Form | Mapping[str, str], rule: Rule | None) -> Draft:
    return Draft(
        name=form.get("name", ""),
        when=form.get("when", When.ARRIVES.value),
        label=form.get("label", "").strip(),
        q=form.get("q", "").strip(),
        near=form.get("near", "").strip(),
        others={} if rule is None else _others(rule),
        actions=[
            (form.get(f"do{at}", ""), form.get(f"label{at}", "").strip())
            for at in range(RULE_ACTIONS_MAX)
            if form.get(f"do{at}")
        ],
    )


def _others(rule: Rule) -> Query:
    return {name: value for name, value in rule.body.query.items() if name != "q"}
