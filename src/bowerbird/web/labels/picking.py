"""What the label picker asks for: labels by a part of their name, and labels for posts."""

from typing import Any, Final

import msgspec

from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import is_post_id
from bowerbird.library.bulk import words
from bowerbird.library.bulk.changes import BulkChanges, NewChange, packed_parts
from bowerbird.library.labels.label_list import LabelList
from bowerbird.library.labels.suggestions import LabelSuggestions
from bowerbird.model.bulk import BulkAction
from bowerbird.model.labels import clean_name, name_key
from bowerbird.requests import decoding
from bowerbird.requests.labels import LabelRequest
from bowerbird.requests.limits import PICKED_LABELS_MAX
from bowerbird.web.labels.pages import PATH
from bowerbird.web.labels.words import in_words, name_problem, suggested
from bowerbird.web.library import post_parts
from bowerbird.web.library.addresses import LIBRARY
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

_ACTIONS: Final = {"add": BulkAction.ADD_LABEL, "remove": BulkAction.REMOVE_LABEL}


class LabelPicking:
    def __init__(
        self,
        listed: LabelList,
        bulk: BulkChanges,
        suggestions: LabelSuggestions,
        pages: VisitPages,
    ) -> None:
        self._listed = listed
        self._suggestions = suggestions
        self._bulk = bulk
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", f"{PATH}/matching", self.matching, is_json=True, page=LIBRARY),
            PageRoute("POST", f"{PATH}/apply", self.apply, is_json=True, page=LIBRARY),
        ]

    async def matching(self, visit: Visit) -> Reply:
        """Labels that contain a text, the best first, and the name that a new one would get.

        Without a text, also those that fit a post.
        """
        text = visit.query.get("q", "")
        found = await self._listed.matching(visit.signed_in.account, text, PICKED_LABELS_MAX)
        is_known = any(name_key(each.label_name) == name_key(text) for each in found)
        labels = [_label(each.label_name, each.color, each.count) for each in found]
        new = None if is_known else clean_name(text)
        fitting: list[dict[str, Any]] = []
        if not text and (post_id := visit.query.get("post", "")):
            fitting = await suggested(self._suggestions, visit.signed_in.account, post_id)
        return self._pages.json(
            {"labels": labels, "new": new, "rule": name_problem(text), "suggested": fitting}
        )

    async def apply(self, visit: Visit) -> Reply:
        """Adds a label to posts or removes it."""
        account = visit.signed_in.account
        plans.check_writes(account)
        action = _ACTIONS.get(visit.form.get("op", ""))
        if action is None:
            raise Refusal(Code.INVALID_REQUEST, "The form has no action.")
        request = _request(visit)
        post_ids = request.post_ids or []
        new = NewChange(action, packed_parts(post_ids), len(post_ids), request.label_name)
        row = await self._bulk.run(account, new)
        assert row.label is not None
        if row.label.is_new and not row.changed:
            # The posts are gone: nobody needs their label.
            await self._bulk.run_undo(account, row.change_id)
        colours = await self._listed.colors(account)
        return self._pages.json(
            {
                "said": words.sentence(row),
                "changed": row.changed,
                "change": row.change_id if row.changed else None,
                "label": _label(row.label.name, colours.get(row.label.name), None),
            }
        )


def _request(visit: Visit) -> LabelRequest:
    posts = [each for each in visit.form.get("posts", "").split() if is_post_id(each)]
    name = visit.form.get("label", "")
    fields = {"tweet_ids": posts, "label_name": name}
    try:
        return decoding.decode(msgspec.json.encode(fields), LabelRequest)
    except Refusal as refused:
        raise Refusal(refused.code, in_words(refused, name)) from None


def _label(name: str, color: str | None, count: int | None) -> dict[str, Any]:
    return {**post_parts.label(name, color), "count": count}
