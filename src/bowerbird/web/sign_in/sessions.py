"""Signing out, here or in other browsers."""

from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply


def routes(sessions: Sessions, pages: VisitPages) -> list[PageRoute]:
    async def sign_out(visit: Visit) -> Reply:
        if visit.visitor is not None:
            await sessions.sign_out(visit.visitor)
        visit.leave()
        return pages.go("/")

    async def end(visit: Visit) -> Reply:
        session_id = visit.request.path_params["session_id"]
        await sessions.end(visit.signed_in, session_id)
        if session_id == visit.signed_in.session.session_id:
            visit.leave()
            return pages.go("/")
        return pages.go("/account?said=session-ended#sessions")

    async def end_others(visit: Visit) -> Reply:
        await sessions.end_others(visit.signed_in)
        return pages.go("/account?said=sessions-ended#sessions")

    return [
        PageRoute("POST", "/sign-out", sign_out, Access.ANYONE),
        PageRoute("POST", "/account/sessions/{session_id}/end", end, page="/account"),
        PageRoute("POST", "/account/sessions/end-others", end_others, page="/account"),
    ]
