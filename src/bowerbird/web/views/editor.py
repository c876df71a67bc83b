"""The form of a Smart View, with the posts that it would show."""

from typing import Any, Final
from urllib.parse import quote

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.model.accounts import Account
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.limits import BUCKETS_MAX, VIEW_NAME_MAX
from bowerbird.requests.views import NewView, ViewBookmarksQuery, ViewChange
from bowerbird.web.library import filters, post_parts
from bowerbird.web.library.addresses import of_view, shown_count
from bowerbird.web.library.pages import LibraryPages
from bowerbird.web.views.pages import (
    LABELS,
    PLAIN,
    Draft,
    draft_of_list,
    draft_of_view,
    problem_of,
    sent_draft,
    words,
)
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

NEW: Final = "/views/new"
EDIT: Final = "/views/{slug}/edit"
_POSTS_SHOWN: Final = 5
_MISTAKES: Final = 500


class EditorPage:
    def __init__(self, services: Services, library: LibraryPages, pages: VisitPages) -> None:
        self._views = services.views
        self._write = services.write
        self._lists = library.lists
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", NEW, self.new),
            PageRoute("POST", NEW, self.sent, page=NEW),
            PageRoute("GET", EDIT, self.edit),
            PageRoute("POST", EDIT, self.sent, page="/views"),
        ]

    async def new(self, visit: Visit) -> Reply:
        query = visit.query
        suggested = query.get("tag") or query.get("q") or query.get("author") or ""
        return await self._show(visit, draft_of_list(query, suggested[:VIEW_NAME_MAX]))

    async def edit(self, visit: Visit) -> Reply:
        slug = visit.named("slug")
        view = await self._views.find(visit.account, slug)
        return await self._show(visit, draft_of_view(view), view.slug)

    async def sent(self, visit: Visit) -> Reply:
        """The button says what to do. All but one show the form again, with what it finds."""
        slug, account = visit.request.path_params.get("slug", ""), visit.account
        if slug:
            slug = (await self._views.find(account, slug)).slug
        draft = sent_draft(visit.form)
        action, _, place = visit.sent("do").partition(" ")
        if action != "save":
            # Longer numbers are no places, and some are too long to read.
            at = int(place[:4]) if place.isascii() and place.isdigit() else -1
            draft.change_buckets(action, at)
            return await self._show(visit, draft, slug, focus=_focus(draft, action, at))
        try:
            saved = await self._save(account, draft, slug)
        except Refusal as refused:
            if refused.status >= _MISTAKES or refused.code is Code.NOT_FOUND:
                raise
            sentence = problem_of(refused.sentence, draft)
            return await self._show(visit, draft, slug, status=refused.status, problem=sentence)
        said = "view-saved" if slug else "view-created"
        return self._pages.go(f"{of_view(saved)}?said={said}")

    async def _save(self, account: Account, draft: Draft, slug: str) -> str:
        if slug:
            change = draft.request(ViewChange)
            return (await self._write(account, self._views.update, slug, change))[0].slug
        view, _ = await self._write(account, self._views.create, draft.request(NewView))
        return view.slug

    async def _show(
        self,
        visit: Visit,
        draft: Draft,
        slug: str = "",
        *,
        status: int = 200,
        problem: str = "",
        focus: str = "",
    ) -> Reply:
        account = visit.account
        here = f"/views/{quote(slug, safe='')}/edit" if slug else NEW
        return self._pages.show(
            visit,
            "view_edit.html",
            status=status,
            title="Edit Smart View" if slug else "New Smart View",
            here=here,
            back=here,
            problem=problem,
            slug=slug,
            view_url=of_view(slug) if slug else "/views",
            draft=draft,
            labels=LABELS,
            words=words,
            plain_filters=PLAIN,
            orders=_orders(draft.order),
            media_types=filters.MEDIA_TYPES,
            can_add=len(draft.buckets) < BUCKETS_MAX,
            focus=focus,
            refusal=_refusal(account),
            preview=await self._preview(visit, draft),
        )

    async def _preview(self, visit: Visit, draft: Draft) -> dict[str, Any]:
        """What the view would show, or why it cannot."""
        account = visit.account
        try:
            view = self._views.draft(draft.request(NewView, name="Preview"))
            self._views.check_buckets(account, view)
            asked = ViewBookmarksQuery(limit=_POSTS_SHOWN)
            found = await self._views.bookmarks(account, view, asked)
        except Refusal as refused:
            if refused.status >= _MISTAKES:
                raise
            return {"problem": problem_of(refused.sentence, draft)}
        parts = await self._lists.parts(visit)
        counts = await self._views.bucket_counts(account, view)
        return {
            "problem": "",
            "total": found.total_count,
            "account_total": account.total,
            "posts": [parts.nearby(each) for each in post_parts.bookmarks_in(found.body)],
            "buckets": [
                (bucket.name, shown_count(count))
                for bucket, count in zip(view.triage_buckets, counts, strict=True)
            ],
        }


def _focus(draft: Draft, action: str, place: int) -> str:
    """The control that continues what the button did."""
    last = len(draft.buckets) - 1
    if action == "add":
        return f"b{last}-name"
    if action == "remove":
        return "add"
    moved = {"up": max(place - 1, 0), "down": min(place + 1, last)}.get(action)
    return "" if moved is None else f"b{moved}-{action}"


def _orders(chosen: str) -> list[tuple[str, str]]:
    """The orders to choose from, including one that only the API offers."""
    orders = filters.order_choices()
    if chosen not in dict(orders):
        by, _, order = chosen.partition(" ")
        words = filters.order_words(ListQuery(sort_by=by, sort_order=order or None))
        orders.append((chosen, words[:1].upper() + words[1:]))
    return orders


def _refusal(account: Account) -> str:
    """Why this account cannot save views, or nothing."""
    try:
        plans.check_writes(account)
    except Refusal as refused:
        return refused.sentence
    return ""
