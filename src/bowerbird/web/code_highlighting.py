"""Syntax highlighting for JSON and shell commands, and line breaks in long paths."""

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markupsafe import Markup

_JSON: Final = re.compile(
    r'(?P<name>"(?:[^"\\]|\\.)*")(?=\s*:)'
    r'|(?P<text>"(?:[^"\\]|\\.)*")'
    r"|(?P<value>\b(?:true|false|null)\b|-?\d+(?:\.\d+)?)"
)
_SHELL: Final = re.compile(
    r"(?P<comment>#[^\n]*)"
    r"|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<value>\$\w+)"
    r"|(?P<name>^(?:curl|bowerbird|export)\b)",
    re.MULTILINE,
)


def json(text: str) -> "Markup":
    return _highlighted(text, _JSON)


def shell(text: str) -> "Markup":
    return _highlighted(text, _SHELL)


def breakable(path: str) -> "Markup":
    """Lets the browser break the path before a slash, and nowhere else."""
    from markupsafe import Markup  # noqa: PLC0415 - see _highlighted

    return Markup("<wbr>/").join(path.split("/"))


def _highlighted(text: str, tokens: re.Pattern[str]) -> "Markup":
    from markupsafe import Markup, escape  # noqa: PLC0415 - loaded with Jinja2, on the first page request

    parts: list[str] = []
    end = 0
    for match in tokens.finditer(text):
        parts.append(escape(text[end : match.start()]))
        parts.append(Markup('<span class="t-{}">{}</span>').format(match.lastgroup, match[0]))
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])
