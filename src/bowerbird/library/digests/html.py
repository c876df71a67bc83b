"""Renders a digest as HTML, for the email and for the API."""

from functools import cache, partial
from typing import TYPE_CHECKING

from bowerbird.library.digests import wording
from bowerbird.library.digests.responses import DigestResponse

if TYPE_CHECKING:
    from jinja2 import Template


def html(digest: DigestResponse, unsubscribe_url: str = "") -> str:
    """A complete page. Only an email gets an `unsubscribe_url`."""
    return _template().render(
        digest=digest,
        heading=wording.heading(digest),
        opening=wording.opening(digest),
        counted_names=(("Labels", wording.labels(digest)), ("Authors", wording.authors(digest))),
        sections=wording.sections(digest),
        author_of=wording.author_of,
        day_of=partial(wording.day_of, digest=digest),
        unsubscribe_url=unsubscribe_url,
    )


@cache
def _template() -> "Template":
    import jinja2  # noqa: PLC0415 - slow to import, and a server without digests never needs it

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("bowerbird.library.digests"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.tests["web_address"] = _is_web_address
    return environment.get_template("digest.html")


def _is_web_address(address: str) -> bool:
    return address.startswith(("http://", "https://"))
