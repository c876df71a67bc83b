"""The form of a rule, with the posts that it would have matched."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.model.accounts import Account
from bowerbird.model.labels import Query
from bowerbird.model.rules import LABELLING, Do, Rule, When
from bowerbird.requests import decoding
from bowerbird.requests.filters import sent
from bowerbird.requests.limits import RULE_ACTIONS_MAX, VIEW_NAME_MAX
from bowerbird.requests.rules import NewRule, RuleChange, RulePreview
from bowerbird.web.library.addresses import of_post
from bowerbird.web.rules import words
from bowerbird.web.rules.pages import PATH, refusal
from bowerbird.web.views.pages import words as filters_of
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Form, Visit
from bowerbird.wire.responses.replies import Reply

NEW: Final = "/rules/new"
EDIT: Final = "/rules/{rule_id}"
_MISTAKES: Final = 500
_NOTHING: Final = {"count": 0, "posts": (), "problem": "", "newest": None, "notice": None}
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
            {"do": Do.SEND, "webhook_id": do[len(words.SEND) :]}
            if do.startswith(words.SEND)
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
        q = visit.query.get("q", "")
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
            rule = await self._save(visit.signed_in.account, draft, rule)
            if visit.form.get("past"):
                await self._past.apply(visit.signed_in.account, rule.rule_id)
        except Refusal as refused:
            if refused.status >= _MISTAKES or refused.code is Code.NOT_FOUND:
                raise
            sentence = refused.sentence
            return await self._show(visit, draft, rule, status=refused.status, problem=sentence)
        said = "rule-applied" if visit.form.get("past") else "rule-saved"
        return self._pages.go(f"{PATH}?said={said}")

    async def _found(self, visit: Visit) -> Rule | None:
        """The rule of the path; None for a new one."""
        rule_id = visit.request.path_params.get("rule_id")
        if rule_id is None:
            return None
        return await self._rules.find(visit.signed_in.account, rule_id)

    async def _save(self, account: Account, draft: Draft, rule: Rule | None) -> Rule:
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
        account = visit.signed_in.account
        webhooks = words.webhook_names(await self._webhooks.all(account))
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
            whens=[(one.value, *text) for one, text in words.WHEN.items()],
            options=words.options(webhooks, [do for do, _ in draft.actions]),
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
            asked = decoding.decode(msgspec.json.encode(wanted), RulePreview)
            query = {} if asked.query is None else sent(asked.query)
            found = await self._past.preview(
                account, query, asked.when, asked.label_name, asked.near_label
            )
        except Refusal as refused:
            if refused.status >= _MISTAKES:
                raise
            return {**_NOTHING, "problem": refused.sentence}
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
            (words.SEND + one.webhook_id if one.webhook_id else one.do.value, one.label_name or "")
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
