"""Which tools one connection may list and call: `?read_only=1&tools=…`, or the same as headers.

Several restrictions add up, so that a proxy can only restrict a client further.
"""

import difflib
from collections.abc import Collection, Iterator, Sequence
from typing import Final
from urllib.parse import unquote_plus

from msgspec import Struct

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.toolserver.tools.tool import Tool
from bowerbird.wire.responses.replies import Header

READ_ONLY: Final = "read_only"
TOOLS: Final = "tools"
# The names that other MCP servers use.
_HEADERS: Final = {b"readonly": READ_ONLY, b"read-only": READ_ONLY, b"tools": TOOLS}
_HEADER_NAMES: Final = "X-MCP-Readonly, X-MCP-Tools"
_PREFIX: Final = b"x-mcp-"
# Such as X-MCP-Exclude-Tools, or a misspelled name.
_RESTRICTING: Final = ("readonly", "only", "write", "tool")
_SIMILAR: Final = 0.65
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
    """The restrictions by name. A misspelled restriction must not be a missing one."""
    for pair in filter(None, query.decode("latin-1").split("&")):
        name, _, value = pair.partition("=")
        if unquote_plus(name) not in (READ_ONLY, TOOLS):
            shown = errors.shown(unquote_plus(name))
            allowed = f"{READ_ONLY}, {TOOLS}"
            raise Refusal(Code.INVALID_REQUEST, f"Unknown parameter {shown}. Allowed: {allowed}.")
        yield unquote_plus(name), unquote_plus(value)
    for header, content in headers:
        # Some programs cannot send a hyphen.
        name_sent = header.replace(b"_", b"-")
        if not name_sent.startswith(_PREFIX):
            continue
        restriction = _HEADERS.get(name_sent.removeprefix(_PREFIX))
        if restriction is not None:
            yield restriction, content.decode("latin-1")
        elif _looks_restricting(name_sent.removeprefix(_PREFIX).decode("latin-1")):
            raise Refusal(
                Code.INVALID_REQUEST,
                f"Unknown header {errors.shown(header.decode('latin-1'))}. "
                f"Headers that restrict a connection: {_HEADER_NAMES}.",
            )


def _looks_restricting(name: str) -> bool:
    letters = name.replace("-", "")
    return any(word in letters for word in _RESTRICTING) or bool(
        difflib.get_close_matches(letters, ("readonly", "tools"), cutoff=_SIMILAR)
    )


def _check_names(names: frozenset[str], known: Collection[str]) -> None:
    if not names:
        raise errors.invalid(TOOLS, "must be names of tools, separated by commas")
    if unknown := sorted(names - set(known)):
        raise errors.invalid(TOOLS, f"no tool is named {errors.shown(unknown[0])}")
