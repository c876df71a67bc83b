"""Which tools one connection may list and call: `?read_only=1&tools=…`, or the same as headers.

Several restrictions add up, so that a proxy can restrict a client further but not less.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final
from urllib.parse import unquote_plus

from msgspec import Struct

from bowerbird import errors
from bowerbird.toolserver.tools.tool import Tool
from bowerbird.wire.responses.replies import Header

READ_ONLY: Final = "read_only"
TOOLS: Final = "tools"
# The names that other MCP servers use.
_HEADERS: Final = {b"x-mcp-readonly": READ_ONLY, b"x-mcp-tools": TOOLS}
_SWITCH: Final = {"1": True, "true": True, "0": False, "false": False}


class ToolSelection(Struct, frozen=True):
    """The restrictions of a connection."""

    is_read_only: bool = False
    # None means all.
    names: frozenset[str] | None = None

    @property
    def is_everything(self) -> bool:
        return not self.is_read_only and self.names is None

    def allows(self, tool: Tool) -> bool:
        return self.why_not(tool) is None

    def why_not(self, tool: Tool) -> str | None:
        """The restriction that excludes the tool, as the end of a sentence."""
        if self.names is not None and tool.name not in self.names:
            return f"its {TOOLS} setting does not include it"
        if self.is_read_only and not tool.hints.is_read_only:
            return "it is read-only, and this tool changes the library"
        return None


EVERYTHING: Final = ToolSelection()


def read(query: bytes, headers: Sequence[Header], known: Collection[str]) -> ToolSelection:
    """The selection of a request. Raises a refusal for anything that would not restrict."""
    selection = EVERYTHING
    for name, value in _sent(query, headers):
        if name == READ_ONLY:
            is_on = _SWITCH.get(value.strip().lower())
            if is_on is None:
                raise errors.invalid(READ_ONLY, "must be 1 or 0")
            selection = ToolSelection(selection.is_read_only or is_on, selection.names)
        else:
            names = frozenset(filter(None, (part.strip() for part in value.split(","))))
            _check_names(names, known)
            more = names if selection.names is None else selection.names & names
            selection = ToolSelection(selection.is_read_only, more)
    return selection


def _sent(query: bytes, headers: Sequence[Header]) -> Iterator[tuple[str, str]]:
    for pair in filter(None, query.decode("latin-1").split("&")):
        name, _, value = pair.partition("=")
        if unquote_plus(name) not in (READ_ONLY, TOOLS):
            # A misspelled restriction must not be a missing one.
            shown = errors.shown(unquote_plus(name))
            raise errors.invalid(shown, f"is unknown; the parameters are {READ_ONLY} and {TOOLS}")
        yield unquote_plus(name), unquote_plus(value)
    for header, content in headers:
        if header in _HEADERS:
            yield _HEADERS[header], content.decode("latin-1")


def _check_names(names: frozenset[str], known: Collection[str]) -> None:
    if not names:
        raise errors.invalid(TOOLS, "must be names of tools, separated by commas")
    if unknown := sorted(names - set(known)):
        raise errors.invalid(TOOLS, f"there is no tool {errors.shown(unknown[0])}")
