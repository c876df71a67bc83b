"""Renders the templates, with the variables that all of them share.

Assets have a hash in their path.
"""

import hashlib
import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from markupsafe import Markup

from bowerbird import __version__
from bowerbird.errors import CATALOGUE
from bowerbird.images import hosts
from bowerbird.search.queries import query_fields
from bowerbird.settings import Settings
from bowerbird.web import page_examples, pages
from bowerbird.web.pages import NONCE_PLACEHOLDER
from bowerbird.wire.responses.documents import FOREVER, Document
from bowerbird.wire.responses.envelope import SANDBOX

_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
}
# In scripts, comments stand on lines of their own. They are a fifth of what browsers would load.
_COMMENTS: Final = re.compile(
    rb"^[ \t]*(?://[^\n]*|/\*\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n", re.MULTILINE
)
# Comments and spaces of a style sheet are a tenth of its compressed size. Strings stay as they are.
_CSS_SPACES: Final = re.compile(rb'("[^"\n]*")|/\*(?:[^*]|\*(?!/))*\*/|\s*([{};,])\s*|(?<=:) ')


@cache
def files() -> dict[str, Document]:
    """Path -> file. A fixed table instead of a folder lookup, so no path can reach other files."""
    return {
        _path(name, body): Document(body, _type(name), FOREVER) for name, body in _static_files()
    }


@cache
def paths() -> dict[str, str]:
    """File name in `static/` -> path."""
    return {name: _path(name, body) for name, body in _static_files()}


def icon() -> Document:
    """The logo at a path that never changes, for documents that link to it."""
    return Document(dict(_static_files())["mark.svg"], _TYPES["svg"], b"public, max-age=86400")


@cache
def _static_files() -> tuple[tuple[str, bytes], ...]:
    folder = resources.files("bowerbird.web").joinpath("static")
    # A file is known by its name, whichever room it is in.
    rooms = [folder, *(entry for entry in folder.iterdir() if entry.is_dir())]
    found = [file for room in rooms for file in room.iterdir() if _kind(file.name) in _TYPES]
    drawn = [(drawing.file, drawing.content) for drawing in hosts.drawings_by_url().values()]
    return tuple(sorted([*((entry.name, _sent(entry)) for entry in found), *drawn]))


def _sent(file: Traversable) -> bytes:
    body = file.read_bytes()
    if file.name.endswith(".css"):
        return _CSS_SPACES.sub(rb"\1\2", body)
    return _COMMENTS.sub(b"", body) if file.name.endswith(".js") else body


def _type(name: str) -> str:
    return _TYPES[_kind(name)]


def _kind(name: str) -> str:
    return name.rpartition(".")[2]


def _path(name: str, body: bytes) -> str:
    stem, _, kind = name.rpartition(".")
    return f"/static/{stem}.{hashlib.blake2b(body, digest_size=6).hexdigest()}.{kind}"


if TYPE_CHECKING:
    from jinja2 import Environment

_ROOMS: Final = ("", "frames", "library", "account", "arrival", "sign_in", "failures", "sharing")
SANDBOX_ERRORS: Final = (
    "unauthorized",
    "subscription_required",
    "filter_not_allowed",
    "pagination_not_allowed",
    "invalid_request",
    "not_found",
    "rate_limited",
    "server_error",
)


class Templates:
    def __init__(self, settings: Settings, *, has_sandbox: bool) -> None:
        # A reverse proxy may serve the site under a path, which every link then needs.
        base_path = urlsplit(settings.site_origin).path.rstrip("/")
        self._shared: dict[str, Any] = {
            "site_url": settings.site_origin,
            "api_url": settings.api_origin,
            "mcp_url": settings.tool_server,
            "keys_url": settings.register_url,
            "upgrade_url": settings.upgrade_url,
            "base_path": base_path,
            "places": pages.PLACES,
            "static": {name: base_path + path for name, path in paths().items()},
            "version": __version__,
            "nonce": NONCE_PLACEHOLDER,
            # Attributes of <time>; none in English.
            "time_lang": "",
            "contact": contact_url(settings.operator_contact),
            "default_plan": settings.default_plan,
            "catalogue": CATALOGUE,
            "has_sandbox": has_sandbox,
            "sandbox_url": f"{settings.api_origin}{SANDBOX}",
            "sandbox_errors": SANDBOX_ERRORS,
        }

    def render(self, name: str, **values: Any) -> str:
        return _environment().get_template(name).render(self._shared | values)


def contact_url(setting: str) -> str:
    """The settings accept an email address or an https URL."""
    return setting if not setting or setting.startswith("https://") else f"mailto:{setting}"


@cache
def drawn_icon(name: str, size: str = "") -> Markup:
    """The markup of an icon; `size` is "s" for a small one."""
    drawings = _environment().get_template("icons.html").module.drawings  # type: ignore[attr-defined]
    kind = f"icon {size}" if size else "icon"
    svg = f'<svg class="{kind}" viewBox="0 0 20 20" aria-hidden="true">{drawings[name]}</svg>'
    return Markup(svg)  # noqa: S704 - from our own file


def _with_breaks(text: Markup) -> Markup:
    """Feed readers fold the ends of lines."""
    return text.replace("\n", Markup("<br>\n"))


@cache
def _environment() -> "Environment":
    import jinja2  # noqa: PLC0415 - takes 0.1 s, and not every server gets page requests

    environment = jinja2.Environment(
        # A template is known by its name, whichever room it is in.
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader("bowerbird.web", f"templates/{room}") for room in _ROOMS]
        ),
        # The files of an installation do not change: no look at each of them per page.
        auto_reload=False,
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["drawn_icon"] = drawn_icon
    environment.globals["search_examples"] = query_fields.EXAMPLES
    environment.filters["breaks"] = _with_breaks
    environment.filters["json"] = page_examples.json
    environment.filters["shell"] = page_examples.shell
    environment.filters["breakable"] = page_examples.breakable
    return environment
