"""Where a person goes who came for one page and had to create an account first.

An invitation or a sign-in link is opened from an email or a terminal, so the path cannot be in its
URL: the browser remembers it for an hour.
"""

from typing import Final

from bowerbird.web.visits.visit import Visit

_COOKIE: Final = "after"
_DAYS: Final = 1 / 24
# The only page that people come for without an account.
CONNECT: Final = "/connect"


def remember(visit: Visit) -> None:
    visit.cookies.append(visit.jar.write(_COOKIE, CONNECT, _DAYS))


def is_expected(visit: Visit) -> bool:
    """Whether the browser came for the page that connects an extension."""
    return visit.jar.read(visit.request.headers.get(b"cookie"), _COOKIE) == CONNECT


def forget(visit: Visit) -> None:
    if is_expected(visit):
        visit.cookies.append(visit.jar.remove(_COOKIE))


def path_for(visit: Visit, said: str, otherwise: str) -> str:
    return f"{CONNECT}?said={said}" if is_expected(visit) else otherwise
