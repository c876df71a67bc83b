"""Runs tools, counts their calls, and turns refusals and faults into results."""

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec
import structlog
from msgspec import Struct

from bowerbird.errors import Code, Refusal
from bowerbird.library.access.call_allowance import CallCharge, CallCounter
from bowerbird.model.accounts import Account
from bowerbird.toolserver.protocol.tool_selection import EVERYTHING, ToolSelection
from bowerbird.toolserver.tools.results import refusals
from bowerbird.toolserver.tools.tool import BoundTool, Json, Tool, ToolCall, ToolResult
from bowerbird.wire.responses import envelope

T = TypeVar("T")

_encode: Final = msgspec.json.Encoder().encode
# Logged for a call of a tool that the connection excludes.
_NOT_SELECTED: Final = "NOT_SELECTED"


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
        sentence = refusals.sentence(refused, self._upgrade_url)
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
