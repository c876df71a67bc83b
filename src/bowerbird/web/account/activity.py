"""What happened in the account, page by page, and the changes that can be undone."""

import re
from typing import Any, Final

from bowerbird.library.access.activity import KEPT_DAYS, PAGE, Activity, sentence
from bowerbird.library.bulk.recent import RecentChange, RecentChanges
from bowerbird.model.accounts import ActivityEntry
from bowerbird.model.bulk import Maker
from bowerbird.requests.bookmarks import ChangesQuery
from bowerbird.web.bulk.pages import BulkPages
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/activity"
_CHANGES: Final = 20
_CURSOR: Final = re.compile(r"([0-9]{1,18})-([0-9a-f]{1,32})", re.ASCII)


def routes(
    activity: Activity, recent: RecentChanges, many: BulkPages, pages: VisitPages
) -> list[PageRoute]:
    async def show(visit: Visit) -> Reply:
        before = _before(visit.query.get("cursor", ""))
        found = await activity.page(visit.account_id, before, PAGE + 1)
        entries = found[:PAGE]
        times = visit.times
        changes: list[RecentChange] = []
        if before is None:
            account = visit.signed_in.account
            changes = (await recent.list(account, ChangesQuery(limit=_CHANGES))).changes
        return pages.show(
            visit,
            "activity.html",
            events=[_event(entry, times) for entry in entries],
            days=KEPT_DAYS,
            older=_cursor(entries[-1]) if len(found) > PAGE else "",
            is_first=before is None,
            changes=[_change(change, times) for change in changes],
            **await many.values(visit),
        )

    return [PageRoute("GET", PATH, show)]


def _before(cursor: str) -> tuple[int, str] | None:
    """The entry that a cursor names; None for the first page, and for a text that is no cursor."""
    match = _CURSOR.fullmatch(cursor)
    return (int(match[1]), match[2]) if match else None


def _cursor(entry: ActivityEntry) -> str:
    return f"{entry.at}-{entry.entry_id}"


def _change(change: RecentChange, times: Times) -> dict[str, Any]:
    key = f"the key “{change.key_name}”" if change.key_name else "a key"
    by: dict[str, str] = {
        Maker.KEY: key,
        Maker.AGENT: f"an agent with {key}",
        Maker.PAGE: "this website",
        Maker.RULE: f"the rule “{change.rule_name}”",
    }
    can_undo = change.undo_until is not None and change.changed > 0
    return {
        "at": times.moment_of(change.created_at),
        "text": change.summary,
        "by": by.get(change.made_by, "this server"),
        "undo": change.change_id if can_undo else "",
    }


def _event(entry: ActivityEntry, times: Times) -> dict[str, Any]:
    return {"at": times.moment(entry.at), "text": sentence(entry), "address": entry.address}
