"""HTML pages: rendered once, sent with a new nonce and a content security policy each time."""

import secrets
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct

from bowerbird.settings import Settings
from bowerbird.wire.responses import answer_cache
from bowerbird.wire.responses.answer_cache import RequestTarget
from bowerbird.wire.responses.replies import Header, Reply

# Each response replaces this text with its own nonce.
NONCE_PLACEHOLDER: Final = "nonce-of-this-response"
_SAFETY: Final[list[Header]] = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"permissions-policy",
        (
            b"accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), "
            b"magnetometer=(), microphone=(), payment=(), usb=()"
        ),
    ),
]
_HEADERS: Final[list[Header]] = [
    (b"content-type", b"text/html; charset=utf-8"),
    # No ETag: a 304 would combine the cached page with a policy that has another nonce.
    (b"cache-control", b"no-cache"),
    (b"vary", b"Accept, Accept-Encoding"),
    *_SAFETY,
]
# The name in offline.js.
_OFFLINE_WORKER: Final = "offline"
_HSTS: Final[Header] = (b"strict-transport-security", b"max-age=31536000")


class HtmlPage(Struct, frozen=True):
    body: bytes
    # Origins other than its own that the scripts of the page may call.
    callable_origins: tuple[str, ...] = ()
    is_secure: bool = False
    status: int = 200

    def answer(self, request: RequestTarget) -> Reply:
        nonce = secrets.token_urlsafe(16)
        body = self.body.replace(NONCE_PLACEHOLDER.encode(), nonce.encode())
        headers = [*_HEADERS, (b"content-security-policy", self._policy(nonce).encode())]
        if self.is_secure:
            headers.append(_HSTS)
        encoding = answer_cache.chosen(request.accept_encoding)
        if encoding:
            body = answer_cache.compressed(body, encoding)
            headers.append((b"content-encoding", encoding.encode()))
        return Reply(self.status, headers, body)

    def _policy(self, nonce: str) -> str:
        calls = " ".join(("'self'", *self.callable_origins)) if self.callable_origins else ""
        return _policy(nonce, calls=calls, forms="'none'")


def safety_headers(*, is_secure: bool) -> list[Header]:
    """The security headers of every page, but for its content security policy."""
    return [*_SAFETY, _HSTS] if is_secure else list(_SAFETY)


def personal_headers(nonce: str, *, is_secure: bool) -> list[Header]:
    """The headers of a page for one visitor, which has forms and is never cached."""
    replaced = {
        b"cache-control": b"no-store",
        b"referrer-policy": b"same-origin",
        # Dates are written in the language of the browser.
        b"vary": b"Accept, Accept-Encoding, Accept-Language",
    }
    headers = [(name, replaced.get(name, value)) for name, value in _HEADERS]
    policy = _policy(nonce, calls="'self'", forms="'self'", worker_policy=_OFFLINE_WORKER)
    headers.append((b"content-security-policy", policy.encode()))
    return [*headers, _HSTS] if is_secure else headers


def _policy(nonce: str, *, calls: str, forms: str, worker_policy: str = "") -> str:
    """`calls` are the origins that scripts may call; if empty, none.

    `worker_policy` is the name under which a script may register a service worker of this site.
    """
    connect = f"connect-src {calls}; " if calls else ""
    worker, types = ("worker-src 'self'; ", worker_policy) if worker_policy else ("", "'none'")
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        f"img-src 'self'; media-src 'self'; manifest-src 'self'; {connect}{worker}base-uri 'none'; "
        f"form-action {forms}; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; "
        f"trusted-types {types}"
    )


def page(settings: Settings, html: str, *, calls_api: bool = False, status: int = 200) -> HtmlPage:
    return HtmlPage(
        body=html.encode(),
        callable_origins=(_origin(settings.api_origin),) if calls_api else (),
        is_secure=settings.site_origin.startswith("https://"),
        status=status,
    )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


# The places of the signed-in site: the sidebar, the tabs of the settings and the bar on phones.
class Place(NamedTuple):
    path: str
    name: str
    icon: str = ""


HIGHLIGHTS: Final = Place("/highlights", "Highlights", "highlight")
# Below the lists, views and labels of the sidebar.
ROOMS: Final = (
    HIGHLIGHTS,
    Place("/digests", "Digests", "digest"),
    Place("/statistics", "Statistics", "stats"),
    Place("/import", "Import", "import"),
)
SETTINGS: Final = (
    Place("/account", "Account"),
    Place("/keys", "Keys"),
    Place("/connect", "Extension"),
    Place("/sources", "Sources"),
    Place("/rules", "Rules"),
    Place("/sharing", "Sharing"),
    Place("/webhooks", "Webhooks"),
    Place("/exports", "Exports"),
    Place("/activity", "Activity"),
)
OPERATOR: Final = Place("/operator", "Operator")
DOCS: Final = Place("/docs", "API reference")
SAVE: Final = Place("/save", "Save", "plus")
# The places that a thumb reaches on a phone. The menu has the others.
TABS: Final = (Place("/library", "Library", "library"), HIGHLIGHTS, SAVE)


def settings(*, is_owner: bool) -> tuple[Place, ...]:
    return (*SETTINGS, OPERATOR) if is_owner else SETTINGS


# What templates know as `places`.
PLACES: Final = {
    "rooms": ROOMS,
    "settings": settings,
    "settings_paths": frozenset(place.path for place in settings(is_owner=True)),
    "tabs": TABS,
}
