"""The page behind the link "Stop these emails".

Mail programs unsubscribe people without showing the page (RFC 8058): a POST with the token in the
path is enough, without key or cookie. A GET changes nothing, because mail scanners follow every
link of an email.
"""

import base64
import hashlib
from typing import Any, Final

from bowerbird.errors import Code, Refusal
from bowerbird.library.digests.digests import Digests
from bowerbird.web.pages import safety_headers
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Pipeline, Request, RoutedPath, Surface
from bowerbird.wire.responses.replies import Header, Reply

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
_HEADERS: Final[list[Header]] = [
    (b"cache-control", b"no-store"),
    (
        b"content-security-policy",
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'".encode(),
    ),
    (b"x-robots-tag", b"noindex"),
]
_HTML: Final = "text/html; charset=utf-8"
_PLAIN: Final = "text/plain; charset=utf-8"
_DIGESTS_STAY: Final = "New digests still appear in your library."
_BUTTON: Final = '<form method="post"><button>Stop the emails</button></form>'
_ASK: Final = (
    "Stop these emails?",
    f"<p>You will get no more digests by email. {_DIGESTS_STAY}</p>{_BUTTON}",
)
_DONE: Final = (
    "You are unsubscribed",
    f"<p>You will get no more digests by email. {_DIGESTS_STAY}</p>",
)
_UNKNOWN: Final = (
    "This link is not valid",
    (
        "<p>It is incomplete, or its account was deleted. "
        "Use the link at the end of your latest email.</p>"
    ),
)
_UNAVAILABLE: Final = (
    "Please try again",
    "<p>The service cannot reach its database. Please try again in a minute.</p>",
)


def pages(digests: Digests, metrics: RequestMetrics, *, is_secure: bool) -> Pipeline:
    """`is_secure`: the site is on https."""
    safety = safety_headers(is_secure=is_secure)

    async def show(request: Request) -> Reply:
        account_id = await digests.holder(request.path_params["token"])
        return _page(_UNKNOWN, _NOT_FOUND) if account_id is None else _page(_ASK)

    async def unsubscribe(request: Request) -> Reply:
        account_id = await digests.holder(request.path_params["token"])
        if account_id is None:
            return _page(_UNKNOWN, _NOT_FOUND)
        await digests.unsubscribe(account_id)
        return _page(_DONE)

    handlers = {"GET": show, "HEAD": show, "POST": unsubscribe}
    routed = RoutedPath(PREFIX + "/{token}", handlers, ", ".join(handlers))

    def find(path: str) -> tuple[RoutedPath | None, dict[str, Any]]:
        token = path.removeprefix(PREFIX + "/")
        return (None, {}) if not token or "/" in token else (routed, {"token": token})

    surface = Surface(
        find=find,
        phrase_refusal=_phrase_refusal,
        extra_headers=lambda _request, _reply: safety,
        reads_bodies=False,
    )
    return Pipeline(surface, metrics)


def _phrase_refusal(refused: Refusal, _: Request) -> Reply:
    headers = [(k.lower().encode(), v.encode()) for k, v in refused.headers.items()]
    if refused.code is Code.SERVICE_UNAVAILABLE:
        return _page(_UNAVAILABLE, refused.status, headers)
    return _reply(refused.status, headers, _PLAIN, f"{refused.sentence}\n")


def _page(said: tuple[str, str], status: int = 200, headers: list[Header] | None = None) -> Reply:
    title, body = said
    text = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>{title}</h1>{body}</main></body></html>\n"
    )
    return _reply(status, headers or [], _HTML, text)


def _reply(status: int, headers: list[Header], media_type: str, text: str) -> Reply:
    body = text.encode()
    length = (b"content-length", b"%d" % len(body))
    return Reply(
        status, [*_HEADERS, *headers, length, (b"content-type", media_type.encode())], body
    )
