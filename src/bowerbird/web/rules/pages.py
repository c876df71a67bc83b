"""/rules: all rules in their order, what they did, and what the buttons on them do."""

from collections.abc import Mapping
from typing import Any, Final

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.rules.rules import required
from bowerbird.model.accounts import Account
from bowerbird.model.rules import Rule
from bowerbird.requests.limits import RULES_MAX
from bowerbird.requests.rules import RuleChange
from bowerbird.web.rules import words
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

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
        account, times = visit.signed_in.account, visit.times
        rules, log = await self._rules.all(account), await self._rules.log(account)
        is_near = any(rule.body.near_label for rule in rules)
        near = await self._near.notice(account) if is_near else None
        names = words.webhook_names(await self._webhooks.all(account))
        return self._pages.show(
            visit,
            "rules.html",
            rules=[_row(rule, times, names, near) for rule in rules],
            log=[
                {"at": times.moment(one.at), "name": one.entry.name, "text": words.did(one.entry)}
                for one in log[:_SHOWN]
            ],
            refusal=refusal(account),
        )

    async def change(self, visit: Visit) -> Reply:
        """The name of the button is the action, and its value the rule."""
        action = next((name for name in _SAID if name in visit.form), "")
        if not action:
            raise Refusal(Code.INVALID_REQUEST, "The form has no action.")
        await self._change(visit.signed_in.account, action, visit.form[action])
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
        "says": words.sentence(rule.body, webhooks),
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
