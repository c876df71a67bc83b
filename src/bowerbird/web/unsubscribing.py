"""The unsubscribe page that every digest email links to.

Mail programs send a POST to the link on their own (RFC 8058), so the token in the path is enough:
no key and no cookie. A GET changes nothing, because mail scanners follow every link in an email.
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
_KEEPS_DIGESTS: Final = "Bowerbird still creates your digests and keeps them in your library."
_BUTTON: Final = '<form method="post"><button>Unsubscribe</button></form>'
_CONFIRM: Final = (
    "Unsubscribe from digest emails?",
    f"<p>This stops only the emails. {_KEEPS_DIGESTS}</p>{_BUTTON}",
)
_DONE: Final = (
    "You are unsubscribed",
    f"<p>We will send you no more digest emails. {_KEEPS_DIGESTS}</p>",
)
_INVALID: Final = (
    "Invalid link",
    "<p>The link is incomplete, or its account was deleted. Use the link in a digest email.</p>",
)
_UNAVAILABLE: Final = (
    "Temporarily unavailable",
    "<p>The library is unavailable. Please try again in a minute.</p>",
)


def pages(digests: Digests) -> Router:
    async def unsubscribe(request: Request) -> Response:
        try:
            return await _answer(digests, request)
        except Refusal as refused:
            return _page(_UNAVAILABLE, refused.status, refused.headers)

    return Router(
        [Route(PREFIX + "/{token}", unsubscribe, methods=["GET", "POST"])], redirect_slashes=False
    )


async def _answer(digests: Digests, request: Request) -> Response:
    account_id = await digests.holder(request.path_params["token"])
    if account_id is None:
        return _page(_INVALID, _NOT_FOUND)
    if request.method != "POST":
        return _page(_CONFIRM)
    await digests.unsubscribe(account_id)
    return _page(_DONE)


def _page(
    content: tuple[str, str], status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    title, body = content
    text = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>{title}</h1>{body}</main></body></html>\n"
    )
    return HTMLResponse(text, status, headers={**_HEADERS, **(headers or {})})
