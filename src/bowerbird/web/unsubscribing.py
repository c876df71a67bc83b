"""The page behind "Stop these letters".

Mail programs call it by themselves (RFC 8058): a POST with the token in the path is enough, and
needs no key, no cookie and no further page. A GET changes nothing, because programs that look
through mail follow every link in it.
"""

import base64
import hashlib
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route, Router

from bowerbird.errors import Refusal
from bowerbird.library.digests.digests import Digests

PREFIX: Final = "/unsubscribe"
_NOT_FOUND: Final = 404
_STYLE: Final = """
:root{color-scheme:light dark;--page:#f6f3ee;--ink:#2a2926;--blue:#2b5c8f;--on-blue:#fff}
@media (prefers-color-scheme:dark){
:root{--page:#17181a;--ink:#ebe8e1;--blue:#93bde6;--on-blue:#17181a}}
body{margin:0;background:var(--page);color:var(--ink);font:17px/1.6 Georgia,serif}
main{max-width:34rem;margin:16vh auto 4rem;padding:0 1.5rem}
h1{font-weight:normal;font-size:1.8rem;line-height:1.25;margin:0 0 1rem}
button{font:600 1rem/1 system-ui,sans-serif;padding:.85rem 1.4rem;border:0;border-radius:.6rem;
background:var(--blue);color:var(--on-blue);cursor:pointer}
button:focus-visible{outline:3px solid var(--ink);outline-offset:3px}
"""
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}
_STAY: Final = "Digests are still made, and stay in your library."
_BUTTON: Final = '<form method="post"><button>Stop the letters</button></form>'
_ASK: Final = ("Stop these letters?", f"<p>Only the letters end. {_STAY}</p>{_BUTTON}")
_DONE: Final = ("No more letters", f"<p>That is all; there is nothing else to do. {_STAY}</p>")
_UNKNOWN: Final = (
    "This link leads nowhere",
    "<p>It is not whole, or its account is gone. The end of each letter has the right one.</p>",
)
_LATER: Final = ("Not now", "<p>The library cannot be reached. Please try again in a minute.</p>")


def pages(digests: Digests) -> Router:
    async def unsubscribe(request: Request) -> Response:
        try:
            return await _answer(digests, request)
        except Refusal as refused:
            return _page(_LATER, refused.status, refused.headers)

    return Router(
        [Route(PREFIX + "/{token}", unsubscribe, methods=["GET", "POST"])], redirect_slashes=False
    )


async def _answer(digests: Digests, request: Request) -> Response:
    account_id = await digests.holder(request.path_params["token"])
    if account_id is None:
        return _page(_UNKNOWN, _NOT_FOUND)
    if request.method != "POST":
        return _page(_ASK)
    await digests.unsubscribe(account_id)
    return _page(_DONE)


def _page(
    said: tuple[str, str], status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    title, body = said
    text = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>{title}</h1>{body}</main></body></html>\n"
    )
    return HTMLResponse(text, status, headers={**_HEADERS, **(headers or {})})
