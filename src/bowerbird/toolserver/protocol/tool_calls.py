"""Runs a tool for a caller: what it costs, what it answers, and how it refuses."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import structlog
from msgspec import Struct

from bowerbird.errors import Code, Refusal
from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.model.accounts import Account
from bowerbird.toolserver.tools import refusals
from bowerbird.toolserver.tools.tool import BoundTool, Json, ToolCall, ToolResult
from bowerbird.wire import envelope

_encode: Final = msgspec.json.Encoder().encode


class ToolCaller(Struct):
    """Who sent a message, and what the log tells of it. Keys and texts have no place in it."""

    account: Account
    request_id: str
    # The method of the protocol, or the name of the tool.
    called: str = "unknown"
    # Code of the refusal that a tool answered with.
    refused: str = ""


class ToolCalls:
    def __init__(self, offered: Sequence[BoundTool], calls: CallCounter, upgrade_url: str) -> None:
        self._offered = {one.tool.name: one for one in offered}
        self._calls = calls
        self._upgrade_url = upgrade_url
        self._log = structlog.get_logger().bind()

    @property
    def offered(self) -> Sequence[BoundTool]:
        return list(self._offered.values())

    async def run(self, caller: ToolCaller, name: str, sent: Mapping[str, Any]) -> Json | None:
        """The protocol's result of a call; None when there is no such tool."""
        offered = self._offered.get(name)
        if offered is None:
            return None
        caller.called = name
        try:
            answer = await self._answer(caller.account, offered, sent)
        except Refusal as refused:
            return self._refused(caller, refused)
        except Exception:  # noqa: BLE001 - whatever it is, the model gets a sentence
            self._log.exception("fault", reference=caller.request_id, route=name)
            return self._refused(caller, envelope.fault(caller.request_id))
        return {
            "resultType": "complete",
            "content": [_text(_encode(answer.content).decode()), *answer.links],
            "structuredContent": answer.content,
            "isError": False,
        }

    async def charged(self, account: Account, answer: Any) -> Any:
        """Awaits what costs a free account one call, as the same request over REST does."""
        if not account.is_free:
            return await answer
        try:
            self._calls.check(account)
        except Refusal:
            answer.close()
            raise
        result = await answer
        self._calls.add(account)
        return result

    async def _answer(
        self, account: Account, offered: BoundTool, sent: Mapping[str, Any]
    ) -> ToolResult:
        if not (account.is_free and offered.counts(sent)):
            return await offered.run(ToolCall(account, sent))
        if offered.tool.hints.reads:
            answer: ToolResult = await self.charged(account, offered.run(ToolCall(account, sent)))
            return answer
        # Of a write only once it is known to be no replay.
        answer = await offered.run(ToolCall(account, sent, lambda: self._calls.check(account)))
        if not answer.is_replay:
            self._calls.add(account)
        return answer

    def _refused(self, caller: ToolCaller, refused: Refusal) -> Json:
        caller.refused = refused.code
        if refused.code is Code.SERVICE_UNAVAILABLE:
            self._log.error("unavailable", route=caller.called, cause=repr(refused.__cause__))
        sentence = refusals.sentence(refused, self._upgrade_url)
        return {"resultType": "complete", "content": [_text(sentence)], "isError": True}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
