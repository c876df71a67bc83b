"""Rules for tests: created through the API, and run as the worker would."""

from typing import Any

from bowerbird.library.labels.suggestions import LabelSuggestions
from bowerbird.library.rules.matching import RuleNearness
from bowerbird.library.rules.running import RuleRuns
from bowerbird.library.vectors.semantic_search import SemanticSearch
from tests.support import writing
from tests.support.models import MODELS, ignore
from tests.support.service import Member

ADD: dict[str, Any] = {"do": "add_label", "label_name": "Birds"}


async def rule(member: Member, *actions: dict[str, Any], **fields: Any) -> dict[str, Any]:
    body = {"name": "Birds", "when": "arrives", "actions": list(actions) or [ADD], **fields}
    response = await writing.send(member, "POST", "/v1/rules", body)
    assert response.status_code == 201, response.text
    created: dict[str, Any] = response.json()["data"]
    return created


async def run(member: Member) -> None:
    meaning = SemanticSearch(member.database, MODELS)
    suggest = LabelSuggestions(member.database, meaning).of_posts
    near = RuleNearness(suggest, meaning, member.clock)
    await RuleRuns(member.database, member.clock, near).run(member.account_id, ignore)


async def listed(member: Member) -> list[dict[str, Any]]:
    response = await member.get("/v1/rules")
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["data"]
    return found


async def tags(member: Member) -> dict[str, list[str]]:
    """The labels of each post."""
    answer = await member.listed(is_unread_only="false", hide_archived="false", limit=100)
    return {one["post_id"]: one["tags"] or [] for one in answer["data"]}
