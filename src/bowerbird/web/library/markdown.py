"""Renders the Markdown of notes as safe markup.

The parser knows no HTML and no image, and a link leads to http or https only. It also leaves out
entities, reference links, and code and headings that have no sign of their own.
"""

import re
from collections.abc import Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline, link
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from bowerbird.web.library.texts import web_url

# Bounds the time: each level of a hostile note is parsed again for the one around it.
_MAX_NESTING: Final = 10
_DEEPEST_HEADING: Final = 6
_SCHEME: Final = re.compile(r"\bhttps?\Z", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"://[^\s<>\"'`*]{1,2000}[^\s<>\"'`*.,;:!?)\]]")
_LEFT_OUT: Final = ("code", "entity", "html_block", "html_inline", "lheading", "reference")
_OF_TEXT: Final = frozenset({"heading_open", "list_item_open", "paragraph_open"})


def rendered(text: str) -> Markup:
    return Markup(_NOTES.render(text))  # noqa: S704 - the renderer escapes every text


class _Notes(MarkdownIt):
    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return web_url(url)

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return bool(url)

    def normalizeLinkText(self, url: str) -> str:  # noqa: N802
        return url.partition("://")[2]


class _Renderer(RendererHTML):
    """Headings start below those of the page. Each text has the direction of its own script."""

    def renderToken(  # noqa: N802
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        del options, env
        token = tokens[idx]
        if token.hidden:
            return ""
        tag = token.tag
        if token.type.startswith("heading"):
            tag = f"h{min(int(tag[1]) + 2, _DEEPEST_HEADING)}"
        if token.nesting < 0:
            return f"</{tag}>"
        if token.type == "link_open":
            href = escape(token.attrs["href"])
            shown = href if tokens[idx + 1].type == "link_close" else ""
            return f'<a href="{href}" rel="noreferrer">{shown}' if href else "<a>"
        direction = ' dir="auto"' if token.type in _OF_TEXT else ""
        return f"<{tag}{self.renderAttrs(token)}{direction}>"


def _image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """An image becomes a link. Silent: inside the text of a link, which cannot contain another."""
    if silent or not state.src.startswith("![", state.pos):
        return False
    state.pos += 1
    is_link = link(state, silent)
    state.pos -= not is_link
    return is_link


def _address(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Links an address in the text. The parser stops at its colon."""
    scheme = _SCHEME.search(state.pending[-6:])
    rest = _ADDRESS.match(state.src, state.pos, state.posMax)
    url = web_url(scheme[0] + rest[0]) if scheme and rest else ""
    if silent or state.linkLevel or not (scheme and rest and url):
        return False
    state.pending = state.pending.removesuffix(scheme[0])
    state.push("link_open", "a", 1).attrs = {"href": url}
    state.push("text", "", 0).content = state.md.normalizeLinkText(rest[0])
    state.push("link_close", "a", -1)
    state.pos = rest.end()
    return True


def _code(text: str, language: str, attributes: str) -> str:
    del language, attributes
    return f'<pre tabindex="0"><code dir="auto">{escape(text)}</code></pre>'


_NOTES: Final = _Notes(
    "commonmark",
    {
        "html": False,
        "breaks": True,
        "xhtmlOut": False,
        "highlight": _code,
        "maxNesting": _MAX_NESTING,
    },
    renderer_cls=_Renderer,
)
_NOTES.enable("strikethrough").disable(_LEFT_OUT)
_NOTES.inline.ruler.at("image", _image)
_NOTES.inline.ruler.before("text", "address", _address)
