"""Runs tools, counts their calls, and turns refusals and faults into results.

Usual calls are answered without the SDK, with the same bytes. Loading the SDK takes a second, and
its checks take longer than most tools. A usual call has nothing to negotiate: the name of a tool,
its arguments, and headers that agree with them. Every other message is left to the SDK, also if it
only has a field that is not known here. See docs/adr/0017.
"""

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Final, Literal, TypeVar

import msgspec
import structlog
from msgspec import Raw, Struct, field

from bowerbird import __version__
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.call_allowance import CallCharge, CallCounter
from bowerbird.model.accounts import Account
from bowerbird.requests.decoding import LARGE_BYTES
from bowerbird.toolserver.protocol.messages import reply
from bowerbird.toolserver.protocol.tool_selection import EVERYTHING, ToolSelection
from bowerbird.toolserver.tools.results import refusals
from bowerbird.toolserver.tools.tool import BoundTool, Json, Tool, ToolCall, ToolResult
from bowerbird.wire.responses import envelope, server_card
from bowerbird.wire.responses.replies import Header, Reply

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


NAME: Final = "bowerbird"
_METHOD: Final = "tools/call"
_NEWEST: Final = "2026-07-28"
# None of these has to be sent. They differ in nothing that a call or its result has.
_OLDER: Final = frozenset((None, b"2024-11-05", b"2025-03-26", b"2025-06-18", b"2025-11-25"))
_VERSION_HEADER, _METHOD_HEADER = b"mcp-protocol-version", b"mcp-method"
_NAME_HEADER: Final = b"mcp-name"
_HEADERS: Final = frozenset((_VERSION_HEADER, _METHOD_HEADER, _NAME_HEADER))
_PREFIX: Final = "io.modelcontextprotocol/"
_SMALLEST_ID, _LARGEST_ID = -(2**63), 2**63 - 1


class _Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """An empty object."""


class _Capabilities(Struct, frozen=True, forbid_unknown_fields=True):
    roots: _Nothing = _Nothing()
    sampling: _Nothing = _Nothing()
    elicitation: _Nothing = _Nothing()


class _Client(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    version: str
    title: str = ""


class _Meta(Struct, frozen=True, forbid_unknown_fields=True):
    """The metadata of the newest revision, without a token for progress."""

    version: Literal["2026-07-28"] = field(name=f"{_PREFIX}protocolVersion")
    capabilities: _Capabilities = field(name=f"{_PREFIX}clientCapabilities")
    client: _Client = field(name=f"{_PREFIX}clientInfo", default=_Client("", ""))


class _Params(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, Any] = {}
    meta: _Meta | msgspec.UnsetType = field(name="_meta", default=msgspec.UNSET)


class _Call(Struct, frozen=True, forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    # Not str | int: the decoder would accept 1.0 as 1.
    id: Any
    method: Literal["tools/call"]
    params: _Params


_decode: Final = msgspec.json.Decoder(_Call).decode


class PlainCalls:
    def __init__(self, tool_calls: ToolCalls, site_url: str) -> None:
        self._tool_calls = tool_calls
        self._names = {tool.name: tool.name.encode() for tool in tool_calls.tools}
        server_info = {
            "name": NAME,
            "title": server_card.TITLE,
            "version": __version__,
            "description": server_card.DESCRIPTION,
            "websiteUrl": site_url,
        }
        self._meta: Final = {f"{_PREFIX}serverInfo": server_info}

    def answer(
        self, body: bytes, headers: Sequence[Header], caller: ToolCaller
    ) -> Coroutine[Any, Any, Reply] | None:
        """The reply of a usual call; None for any other message."""
        call = _usual_call(body)
        if call is None or call.params.name not in self._names:
            return None
        sent = _routing_headers(headers)
        if sent is None:
            return None
        if call.params.meta is msgspec.UNSET:
            is_newest = False
            agrees = sent.get(_VERSION_HEADER) in _OLDER
        else:
            is_newest = True
            agrees = sent == {
                _VERSION_HEADER: _NEWEST.encode(),
                _METHOD_HEADER: _METHOD.encode(),
                _NAME_HEADER: self._names[call.params.name],
            }
        return self._reply(call, caller, is_newest=is_newest) if agrees else None

    async def _reply(self, call: _Call, caller: ToolCaller, *, is_newest: bool) -> Reply:
        result = await self._tool_calls.run(caller, call.params.name, call.params.arguments)
        assert result is not None
        shown: Json = {"content": [_block(each) for each in result["content"]]}
        shown["isError"] = result["isError"]
        if is_newest:
            shown["resultType"] = result["resultType"]
        if "structuredContent" in result:
            # The first text is the same object, encoded.
            shown["structuredContent"] = Raw(result["content"][0]["text"].encode())
        if is_newest:
            shown["_meta"] = self._meta
        return reply(200, {"jsonrpc": "2.0", "id": call.id, "result": shown})


def _usual_call(body: bytes) -> _Call | None:
    if len(body) > LARGE_BYTES:
        # It is decoded on a thread.
        return None
    try:
        call = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    is_known_id = type(call.id) is str or (
        type(call.id) is int and _SMALLEST_ID <= call.id <= _LARGEST_ID
    )
    return call if is_known_id else None


def _routing_headers(headers: Sequence[Header]) -> dict[bytes, bytes] | None:
    """The headers that say what the message is; None if one of them is repeated."""
    found = [header for header in headers if header[0] in _HEADERS]
    sent = dict(found)
    return sent if len(sent) == len(found) else None


def _block(block: Json) -> Json:
    """A part of the content with its fields in the order of the SDK, which sorts them."""
    return {name: block[name] for name in sorted(block)}
