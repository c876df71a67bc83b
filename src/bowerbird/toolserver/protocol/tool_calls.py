"""Runs tools, counts their calls, and turns refusals and faults into results.

Which tools one connection may list and call: `?read_only=1&tools=…`, or the same as headers.
Several restrictions add up, so that a proxy can only restrict a client further.
"""

import difflib
from collections.abc import Collection, Coroutine, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import unquote_plus

import msgspec
import structlog
from msgspec import Struct

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.call_allowance import CallCharge, CallCounter
from bowerbird.model.accounts import Account
from bowerbird.toolserver.tools.results import guidance
from bowerbird.toolserver.tools.tool import BoundTool, Json, Tool, ToolCall, ToolResult
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import Header

T = TypeVar("T")

_encode: Final = msgspec.json.Encoder().encode
# Logged for a call of a tool that the connection excludes.
_NOT_SELECTED: Final = "NOT_SELECTED"


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


class ToolCaller(Struct):
    """Who sent a message, and what is logged about it. It has no keys and no texts."""

    account: Account
    request_id: str
    selection: ToolSelection = EVERYTHING
    # The method of the protocol, or the name of the tool.
    called: str = "unknown"
    # The error code of a call that was refused.
    refused: str = ""
    # Whether the tool may have changed something, so that the call must not be cancelled.
    is_writing: bool = False


class ToolCalls:
    def __init__(self, tools: Sequence[BoundTool], calls: CallCounter, upgrade_url: str) -> None:
        self._tools = {bound.tool.name: bound for bound in tools}
        self._calls = calls
        self._upgrade_url = upgrade_url
        self._log = structlog.get_logger().bind()

    @property
    def tools(self) -> list[Tool]:
        return [bound.tool for bound in self._tools.values()]

    async def run(self, caller: ToolCaller, name: str, sent: Mapping[str, Any]) -> Json | None:
        """The result of a call in the form of the protocol; None for an unknown tool."""
        bound = self._tools.get(name)
        if bound is None:
            return None
        caller.called = name
        if reason := caller.selection.why_not(bound.tool):
            caller.refused = _NOT_SELECTED
            text = f"The tool {name} is not available on this connection: {reason}. Tell the user."
            return {"resultType": "complete", "content": [_text(text)], "isError": True}
        caller.is_writing = not bound.tool.hints.is_read_only
        try:
            result = await self._run(caller.account, bound, sent)
        except Refusal as refused:
            return self._refused(caller, refused)
        except Exception:  # noqa: BLE001 - the model gets an error message for every fault
            self._log.exception("fault", reference=caller.request_id, route=name)
            return self._refused(caller, envelope.fault(caller.request_id))
        content = _with_hint(bound.tool, sent, result.content)
        return {
            "resultType": "complete",
            "content": [_text(_encode(content).decode()), *result.links],
            "structuredContent": content,
            "isError": False,
        }

    async def charge(self, account: Account, work: Coroutine[Any, Any, T]) -> T:
        """Awaits work that counts as one call of a free account, as the same REST request does."""
        if not account.is_free:
            return await work
        try:
            self._calls.check(account)
        except Refusal:
            work.close()
            raise
        result = await work
        await self._calls.charge(account)
        return result

    async def _run(self, account: Account, bound: BoundTool, sent: Mapping[str, Any]) -> ToolResult:
        if not (account.is_free and bound.counts(sent)):
            return await bound.run(ToolCall(account, sent))
        if bound.tool.hints.is_read_only:
            return await self.charge(account, bound.run(ToolCall(account, sent)))
        # A write checks and pays itself, once it is known that it is not a replay.
        return await bound.run(ToolCall(account, sent, CallCharge(self._calls, account)))

    def _refused(self, caller: ToolCaller, refused: Refusal) -> Json:
        caller.refused = refused.code
        if refused.code is Code.SERVICE_UNAVAILABLE:
            self._log.error("unavailable", route=caller.called, cause=repr(refused.__cause__))
        sentence = guidance.sentence(refused, self._upgrade_url)
        return {"resultType": "complete", "content": [_text(sentence)], "isError": True}


def _with_hint(tool: Tool, sent: Mapping[str, Any], content: Any) -> Any:
    """Says that a limit was larger than the maximum, to which it was clamped."""
    limit = sent.get("limit")
    if limit is None or "limit" not in tool.arguments:
        return content
    most = tool.arguments["limit"]["maximum"]
    digits = str(limit).strip().lstrip("+0").removesuffix(".0")
    # Digits are compared before they are converted: Python refuses very long numbers.
    if len(digits) < len(str(most)) or (len(digits) == len(str(most)) and int(digits) <= most):
        return content
    said = f"limit was clamped to {most}, the maximum."
    return {**content, "advice": f"{said} {content.get('advice', '')}".rstrip()}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


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


def read_selection(
    query: bytes, headers: Sequence[Header], known: Collection[str]
) -> ToolSelection:
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
