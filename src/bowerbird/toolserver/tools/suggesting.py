"""The tool that suggests labels."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.model.accounts import Account
from bowerbird.requests.fields import ToolPostIds, unique
from bowerbird.toolserver.tools.arguments import reading
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS
from bowerbird.toolserver.tools.tool import READS, BoundTool, Json, Tool


class SuggestArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    post_ids: ToolPostIds

    def __post_init__(self) -> None:
        unique(self, "post_ids")


class Suggested(Struct, kw_only=True):
    label: str
    score: float
    reason: str


class PostSuggestions(Struct, kw_only=True):
    post_id: str
    labels: list[Suggested]


class Suggestions(Struct, kw_only=True):
    content_is: str
    posts: Annotated[list[Json], Meta(extra={"items": PostSuggestions})]
    not_found: list[str]
    truncated: bool


SUGGEST: Final = Tool(
    name="suggest_labels",
    title="Suggest labels",
    description=(
        "Suggests up to three of the user's labels per post; lists no post that none clearly "
        "fits. Changes nothing."
    ),
    takes=SuggestArguments,
    returns=Suggestions,
    hints=READS,
)
TOOLS: Final = (SUGGEST,)


def bind(services: Services) -> list[BoundTool]:
    async def suggest_labels(account: Account, values: SuggestArguments) -> Suggestions:
        found = await services.suggestions.of_posts(account, values.post_ids)
        if not found:
            raise errors.not_found("post", ", ".join(values.post_ids[:3]))
        not_found = [each for each in values.post_ids if each not in found]
        posts = [
            PostSuggestions(
                post_id=post_id,
                labels=[
                    Suggested(label=one.label_name, score=one.score, reason=one.reason)
                    for one in found[post_id]
                ],
            )
            for post_id in values.post_ids
            if found.get(post_id)
        ]
        room = response_size.RECORDS_BYTES - response_size.size(not_found)
        fitted = response_size.fit(msgspec.to_builtins(posts), room)
        return Suggestions(
            content_is=QUOTED_POSTS,
            posts=fitted.records,
            not_found=not_found,
            truncated=not fitted.is_complete,
        )

    return [reading.bound(SUGGEST, suggest_labels)]
