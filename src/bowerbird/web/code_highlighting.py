"""How the pages set code: JSON and commands of a shell in colours, paths that break well."""

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
    r"(?P<note>#[^\n]*)"
    r"|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<value>\$\w+)"
    r"|(?P<name>^(?:curl|bowerbird|export)\b)",
    re.MULTILINE,
)


def json(text: str) -> "Markup":
    return _coloured(text, _JSON)


def shell(text: str) -> "Markup":
    return _coloured(text, _SHELL)


def breakable(path: str) -> "Markup":
    """A path that may be broken before each of its parts, and nowhere else."""
    from markupsafe import Markup  # noqa: PLC0415 - as below

    return Markup("<wbr>/").join(path.split("/"))


def _coloured(text: str, tokens: re.Pattern[str]) -> "Markup":
    from markupsafe import Markup, escape  # noqa: PLC0415 - comes with the templates, at first need

    made: list[str] = []
    end = 0
    for match in tokens.finditer(text):
        made.append(escape(text[end : match.start()]))
        made.append(Markup('<span class="t-{}">{}</span>').format(match.lastgroup, match[0]))
        end = match.end()
    return Markup("").join([*made, escape(text[end:])])
