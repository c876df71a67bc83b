"""One request of a browser: its form and cookies, and what is known about its sender."""

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from msgspec import Struct, field

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.model.accounts import Account, SignedIn, Where
from bowerbird.settings import Settings
from bowerbird.web.visits.formats import DateWords, Times, accepted, sentence_of
from bowerbird.wire import bodies
from bowerbird.wire.auth import network_of
from bowerbird.wire.pipeline import Request
from bowerbird.wire.responses.replies import Header

MAX_BYTES: Final = 64 * 1024
# The form of a Smart View has 13 for each of its 20 buckets.
_MAX_FIELDS: Final = 400
_URLENCODED: Final = b"application/x-www-form-urlencoded"

Form = Mapping[str, str]


async def read_form(request: Request, most: int = MAX_BYTES) -> Form:
    """The fields by name. Raises a refusal if the body is not a form, or a name occurs twice."""
    kind = request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != _URLENCODED:
        raise errors.invalid("Content-Type", "must be application/x-www-form-urlencoded")
    return parsed(await bodies.read(request.receive, most))


def read_query(text: bytes) -> Form:
    """The fields of a query string; none if it is unreadable, because its page opens anyway."""
    try:
        return parsed(text)
    except Refusal:
        return {}


def parsed(text: bytes) -> Form:
    """The fields of a form or query string, by name."""
    try:
        pairs = parse_qsl(
            text.decode("ascii"),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:
        raise errors.invalid("form", "is not readable") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise errors.invalid("form", "contains a field twice")
    if any("\x00" in part for pair in pairs for part in pair):
        raise errors.invalid("form", "contains U+0000")
    return fields


# The first that occurs counts: most browsers also name those that they resemble.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi", "Vivaldi"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
_UNKNOWN: Final = "Unknown browser"


def browser_of(user_agent: bytes) -> str:
    """For example "Firefox on Linux". Nothing of the header itself is kept."""
    text = user_agent.decode("latin-1")
    browser = _first(_BROWSERS, text)
    system = _first(_SYSTEMS, text)
    if not browser:
        return f"{_UNKNOWN} on {system}" if system else _UNKNOWN
    return f"{browser} on {system}" if system else browser


def _first(names: tuple[tuple[str, str], ...], text: str) -> str:
    return next((name for sign, name in names if sign in text), "")


_MAX_HEADER_BYTES: Final = 8 * 1024
_DAY_S: Final = 86_400


class CookieJar:
    """Names, reads and writes the cookies of a site at this origin."""

    def __init__(self, site_origin: str) -> None:
        parts = urlsplit(site_origin)
        self._is_secure = parts.scheme == "https"
        self._start = "__Host-bowerbird" if self._is_secure else f"bowerbird-{parts.port or 80}"

    def read(self, header: bytes | None, purpose: str) -> str:
        """The value of a cookie, or ''."""
        if header is None or len(header) > _MAX_HEADER_BYTES:
            return ""
        name = self._name(purpose)
        for pair in header.decode("latin-1").split(";"):
            found, _, value = pair.partition("=")
            if found.strip() == name:
                return value.strip()
        return ""

    def write(self, purpose: str, value: str, days: float | None = None) -> Header:
        """A header that sets a cookie, until the browser closes unless `days` are given."""
        if not _is_plain(value):
            raise ValueError("a cookie value must be plain ASCII")
        parts = [f"{self._name(purpose)}={value}", "Path=/", "HttpOnly", "SameSite=Lax"]
        if days is not None:
            parts.append(f"Max-Age={int(days * _DAY_S)}")
        if self._is_secure:
            parts.append("Secure")
        return b"set-cookie", "; ".join(parts).encode("ascii")

    def remove(self, purpose: str) -> Header:
        return self.write(purpose, "", 0)

    def _name(self, purpose: str) -> str:
        return f"{self._start}-{purpose}"


def _is_plain(value: str) -> bool:
    return value.isascii() and not set(value) & set(' ",;\\') and value.isprintable()


_LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")


class Host(Struct, frozen=True):
    """The address that a browser has opened."""

    origin: str
    # Passkeys belong to a name, so they do not work on an IP address.
    is_ip_address: bool


class OwnHosts:
    def __init__(self, settings: Settings) -> None:
        parts = urlsplit(settings.site_origin)
        self._site = Host(f"{parts.scheme}://{parts.netloc}".lower(), is_ip_address(parts.netloc))
        self._site_netloc = parts.netloc.lower()
        self._is_configured = bool(settings.site_url or settings.base_url)
        self._local = {f"{name}:{settings.port}" for name in _LOCAL_NAMES}

    def of(self, header: bytes | None) -> Host:
        """The host of a request. Raises a refusal if it is not one of ours."""
        name = (header or b"").decode("latin-1").strip().lower()
        if name == self._site_netloc:
            return self._site
        if name in self._local or (is_ip_address(name) and not self._is_configured):
            return Host(f"http://{name}", is_ip_address(name))
        raise Refusal(
            Code.INVALID_REQUEST,
            f"This site is not available under that name. Open {self._site.origin}. If you operate "
            "it, set BOWERBIRD_SITE_URL to the address that you use.",
        )


def is_ip_address(netloc: str) -> bool:
    try:
        ipaddress.ip_address(urlsplit(f"//{netloc}").hostname or "")
    except ValueError:
        return False
    return True


SESSION: Final = "session"
ANONYMOUS: Final = "visit"
ATTEMPT: Final = "attempt"
# What was typed into a form that needs a proof first, or has a text that is refused.
UNSENT: Final = "unsent"
# The last form whose page shows something once. Sent again, it must not make another one.
_ONCE: Final = "once"
_TEN_MINUTES: Final = 10 / (24 * 60)
# How posts are set: the choices of each kind, first the default.
LOOK: Final = "look"
LOOKS: Final = {
    "size": ("medium", "small", "large", "largest"),
    "face": ("serif", "sans"),
    "width": ("normal", "narrow", "wide"),
}
_LOOK_DAYS: Final = 400
FORM_TOKEN: Final = "csrf"  # noqa: S105 - the name of a field
_SALT_BYTES: Final = 8
_MAX_NEXT: Final = 2_000
_MAX_UNSENT: Final = 2_000
# Of no use later.
_NOT_TYPED: Final = (FORM_TOKEN, "credential", "back", "post")


class Visit(Struct, kw_only=True):
    request: Request
    jar: CookieJar
    host: Host
    where: Where
    visitor: SignedIn | None
    # What only this browser has: the token of its session, or a random text for a stranger.
    secret: str
    query: Form
    form: Form = {}
    # Why the form was refused, while its page is shown again.
    refused: Refusal | None = None
    # What the sidebar of a page shows.
    sidebar: Mapping[str, Any] = {}
    # The session that this browser had when it signed in again. It ends with this request.
    replaced: SignedIn | None = None
    # Cookies that the response sets.
    cookies: list[Header] = field(default_factory=list)

    @property
    def signed_in(self) -> SignedIn:
        """The visitor of a page that only signed-in people can open."""
        assert self.visitor is not None
        return self.visitor

    @property
    def account(self) -> Account:
        return self.signed_in.account

    @property
    def account_id(self) -> int:
        return self.account.account_id

    def sent(self, name: str) -> str:
        """A field of the form, or ''."""
        return self.form.get(name, "")

    def asked(self, name: str) -> str:
        """A parameter of the query, or ''."""
        return self.query.get(name, "")

    def named(self, name: str) -> str:
        """A part of the path."""
        part: str = self.request.path_params[name]
        return part

    def button(self, names: Iterable[str]) -> tuple[str, str]:
        """The button that sent the form, by its name, and its value."""
        name = next((name for name in names if name in self.form), None)
        if name is None:
            raise Refusal(Code.INVALID_REQUEST, "The form has no action.")
        return name, self.form[name]

    @property
    def problem(self) -> str:
        """The sentence about the form that was refused, or ''."""
        return sentence_of(self.refused) if self.refused else ""

    @property
    def network(self) -> str:
        """The network address by which tries are counted."""
        return network_of(self.where.address)

    @property
    def times(self) -> Times:
        """Writes times in the time zone of the account, and in the language of the browser."""
        time_zone = self.visitor.time_zone if self.visitor else "UTC"
        return Times(time_zone, self.date_words)

    @property
    def date_words(self) -> DateWords:
        return accepted(self.request.headers.get(b"accept-language", b""))

    @property
    def theme(self) -> str:
        """The colours that `theme.js` has stored: light, dark, or '' for those of the system."""
        for pair in self.request.headers.get(b"cookie", b"").split(b";"):
            if pair.strip() in (b"theme=light", b"theme=dark"):
                return pair.strip().removeprefix(b"theme=").decode()
        return ""

    @property
    def look(self) -> dict[str, str]:
        """How posts are set in this browser, where it differs from the default."""
        kept = self.jar.read(self.request.headers.get(b"cookie"), LOOK).split(".")
        return dict(zip(LOOKS, kept, strict=True)) if is_look(kept) else {}

    def keep_look(self, look: Sequence[str]) -> None:
        self.cookies.append(self.jar.write(LOOK, ".".join(look), _LOOK_DAYS))

    @property
    def is_of_script(self) -> bool:
        """Whether a script of a page sent the request, and wants JSON instead of a page."""
        return is_of_script(self.request)

    @property
    def is_opened_by_person(self) -> bool:
        """Whether somebody followed a link of this site to the page, or typed its address.

        Only browsers send these headers, and no page of another site can choose them. A page that
        is fetched in advance has a purpose. Without TLS browsers send none of them.
        """
        headers = self.request.headers
        return (
            self.request.method == "GET"
            and headers.get(b"sec-fetch-site") in (b"same-origin", b"none")
            and headers.get(b"sec-fetch-mode") == b"navigate"
            and headers.get(b"sec-fetch-dest") == b"document"
            and headers.get(b"sec-fetch-user") == b"?1"
            and not any(name in headers for name in (b"sec-purpose", b"purpose", b"x-moz"))
        )

    def form_token(self) -> str:
        """A token that forms on this page must send back.

        It differs each time, so that the size of a compressed page tells nothing about it.
        """
        if not self.secret:
            self.secret = secrets.token_urlsafe(32)
            self.cookies.append(self.jar.write(ANONYMOUS, self.secret))
        salt = secrets.token_hex(_SALT_BYTES)
        return f"{salt}.{self._signature(salt)}"

    def has_valid_token(self) -> bool:
        salt, _, signature = self.form.get(FORM_TOKEN, "").partition(".")
        if not self.secret or not signature.isascii():
            return False
        return hmac.compare_digest(signature, self._signature(salt))

    def enter(self, session_token: str, days: float) -> None:
        """Signs this browser in, and out of the session that it had."""
        self.replaced = self.visitor
        self.renew(session_token, days)

    def renew(self, session_token: str, days: float) -> None:
        """Gives this browser a new token for its session."""
        self.cookies.append(self.jar.write(SESSION, session_token, days))
        self.cookies.append(self.jar.remove(ANONYMOUS))
        self.end_attempt()

    @property
    def attempt(self) -> str:
        """The attempt to sign in that this browser has started, or ''."""
        return self.jar.read(self.request.headers.get(b"cookie"), ATTEMPT)

    def keep_attempt(self, attempt: str) -> None:
        self.cookies.append(self.jar.write(ATTEMPT, attempt, _TEN_MINUTES))

    def end_attempt(self) -> None:
        self.cookies.append(self.jar.remove(ATTEMPT))

    def keep_unsent(self, page: str) -> bool:
        """Keeps the form for its page, which is shown again. Not if it is too long for a cookie."""
        typed = {name: text for name, text in self.form.items() if name not in _NOT_TYPED}
        kept = f"{page}?{urlencode(typed)}"
        if len(kept) > _MAX_UNSENT:
            return False
        self.cookies.append(self.jar.write(UNSENT, kept, _TEN_MINUTES))
        return True

    def take_unsent(self) -> Form:
        """What was typed into a form of this page that was not accepted, once."""
        page, typed = self._unsent()
        if page != self.request.path:
            return {}
        self.cookies.append(self.jar.remove(UNSENT))
        return read_query(typed.encode("latin-1"))

    @property
    def is_sent_before(self) -> bool:
        """Whether this form is the last one that was kept by `keep_sent`."""
        return self.jar.read(self.request.headers.get(b"cookie"), _ONCE) == self._form_hash()

    def keep_sent(self) -> None:
        self.cookies.append(self.jar.write(_ONCE, self._form_hash()))

    def _form_hash(self) -> str:
        """The token differs for every page, so only the same form sent again is equal."""
        return hashlib.sha256(repr(sorted(self.form.items())).encode()).hexdigest()

    def after_proof(self, path: str) -> str:
        """The page that asked for a proof. It says so if its form has to be sent again."""
        return f"{path}?said=confirmed" if self._unsent()[0] == path else path

    def _unsent(self) -> tuple[str, str]:
        """The page of the form that is kept, and what was typed."""
        kept = self.jar.read(self.request.headers.get(b"cookie"), UNSENT)
        page, _, typed = kept.partition("?")
        return (page, typed) if len(kept) <= _MAX_UNSENT else ("", "")

    def leave(self) -> None:
        """Signs this browser out."""
        self.cookies.append(self.jar.remove(UNSENT))
        self.cookies.append(self.jar.remove(SESSION))

    @property
    def link_token(self) -> str:
        """The token of a one-time link: a script sends it, or somebody pasted the whole link."""
        return self.form.get("token") or self.form.get("link", "").rpartition("#")[2].strip()

    def next_path(self, default: str = "/") -> str:
        """Where to go after signing in: a path of this site and nothing else."""
        wanted = self.form.get("next") or self.query.get("next") or default
        return wanted if is_own_path(wanted) else default

    def _signature(self, salt: str) -> str:
        return hmac.new(self.secret.encode(), salt.encode(), hashlib.sha256).hexdigest()


def is_look(chosen: Sequence[str]) -> bool:
    """Whether these are a choice of each kind."""
    return len(chosen) == len(LOOKS) and all(
        each in choices for each, choices in zip(chosen, LOOKS.values(), strict=True)
    )


def is_of_script(request: Request) -> bool:
    return request.headers.get(b"accept") == b"application/json"


def is_own_path(text: str) -> bool:
    """Browsers read two slashes, or a slash and a backslash, as the start of another site."""
    return (
        text.startswith("/")
        and not text.startswith(("//", "/\\"))
        and len(text) <= _MAX_NEXT
        and text.isascii()
        and text.isprintable()
        and "\\" not in text
    )
