"""The templates and what all of them may say: addresses, release, contact."""

from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from bowerbird import __version__
from bowerbird.errors import CATALOGUE
from bowerbird.settings import Settings
from bowerbird.web import assets, code_highlighting
from bowerbird.web.pages import NONCE
from bowerbird.web.reference import SANDBOX

if TYPE_CHECKING:
    from jinja2 import Environment

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
        # A site below a path of its origin has that path before every link.
        below = urlsplit(settings.site_origin).path.rstrip("/")
        self._facts: dict[str, Any] = {
            "site": settings.site_origin,
            "api": settings.api_origin,
            "tools": settings.tool_server,
            "keys": settings.register_url,
            "upgrade": settings.upgrade_url,
            "below": below,
            "files": {name: below + path for name, path in assets.paths().items()},
            "version": __version__,
            "nonce": NONCE,
            "contact": contact(settings.operator_contact),
            "catalogue": CATALOGUE,
            "has_sandbox": has_sandbox,
            "sandbox": f"{settings.api_origin}{SANDBOX}",
            "sandbox_errors": SANDBOX_ERRORS,
        }

    def render(self, name: str, **values: Any) -> str:
        return _environment().get_template(name).render(self._facts | values)


def contact(given: str) -> str:
    """An address that can be opened; an e-mail address is given without its scheme."""
    return given if not given or given.startswith("https://") else f"mailto:{given}"


@cache
def _environment() -> "Environment":
    import jinja2  # noqa: PLC0415 - a tenth of a second that a server of the API alone never needs

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("bowerbird.web"),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["json"] = code_highlighting.json
    environment.filters["shell"] = code_highlighting.shell
    environment.filters["breakable"] = code_highlighting.breakable
    return environment
