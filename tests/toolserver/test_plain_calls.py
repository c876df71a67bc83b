"""Usual calls are answered without the SDK, with the same bytes. The SDK answers all others."""

import json
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bowerbird.errors import invalid
from bowerbird.toolserver.protocol.exchange import Exchange
from bowerbird.toolserver.protocol.sdk_server import Handlers, server
from bowerbird.toolserver.protocol.tool_calls import PlainCalls, ToolCaller, ToolCalls
from bowerbird.toolserver.tools import catalogue
from bowerbird.toolserver.tools.tool import (
    READS,
    BoundTool,
    Json,
    NoArguments,
    Tool,
    ToolCall,
    ToolResult,
)
from bowerbird.wire.responses.replies import Header, Reply
from tests.support.service import Service
from tests.support.toolcalls import NEWEST, OLDER, headers_of, message

pytestmark = pytest.mark.anyio

SITE = "https://bowerbird.example"
PREFIX = "io.modelcontextprotocol/"
LINK = {
    "type": "resource_link",
    "uri": f"{SITE}/file",
    "name": "bowerbird.csv",
    "title": "Export as CSV",
    "mimeType": "text/csv",
    "size": 12,
}
META: Json = {f"{PREFIX}protocolVersion": NEWEST, f"{PREFIX}clientCapabilities": {}}
CLIENT = {"name": "client", "version": "1", "title": "Client"}
NEWEST_HEADERS = {
    "mcp-protocol-version": NEWEST,
    "mcp-method": "tools/call",
    "mcp-name": "echo",
}


class Free:
    account_id = 1
    is_free = False


async def echo(call: ToolCall) -> ToolResult:
    return ToolResult({"arguments": dict(call.sent), "nothing": None, "half": 0.5})


async def link(_: ToolCall) -> ToolResult:
    return ToolResult({"status": "done"}, links=[LINK])


async def refuse(_: ToolCall) -> ToolResult:
    raise invalid("limit", "must be a number <from> 1 to 100")


def tool(name: str) -> Tool:
    return Tool(name=name, title=name, description=name, returns=NoArguments, hints=READS)


CALLS = ToolCalls(
    [BoundTool(tool(run.__name__), run) for run in (echo, link, refuse)],
    cast("Any", None),
    SITE,
)
PLAIN = PlainCalls(CALLS, SITE)
SDK = Exchange(server(Handlers(CALLS, cast("Any", None), SITE), SITE), {})


def caller() -> ToolCaller:
    return ToolCaller(cast("Any", Free()), "request")


def raw(headers: dict[str, str]) -> list[Header]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def call(name: str = "echo", **params: Any) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, **params}}


async def answers(body: Any, headers: dict[str, str]) -> tuple[Reply | None, Reply]:
    """Without the SDK, which may be None, and with it."""
    encoded = body if isinstance(body, bytes) else json.dumps(body).encode()
    answering = PLAIN.answer(encoded, raw(headers), caller())
    plain = None if answering is None else await answering
    return plain, await SDK.answer(encoded, raw(headers), caller())


VERSIONS = ({}, *({"mcp-protocol-version": version} for version in OLDER))
ARGUMENTS: tuple[Json, ...] = (
    {},
    {"text": 'quotes " and \\ and\nlines é 😀 <b>', "list": [1, 2.5, None, True, {"a": []}]},
    {"large": 2**63, "negative": -1, "small": 1e-9, "name": "x", "_meta": {}},
)


@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("headers", [*VERSIONS, NEWEST_HEADERS])
async def test_the_answer_has_the_same_bytes_as_that_of_the_sdk(
    headers: dict[str, str], arguments: Json
) -> None:
    meta = {"_meta": META} if headers is NEWEST_HEADERS else {}

    for name in ("echo", "link", "refuse"):
        own = {**headers, "mcp-name": name} if meta else headers
        plain, reference = await answers(call(name, arguments=arguments, **meta), own)

        assert plain == reference
        assert plain.status == 200


@pytest.mark.parametrize(
    "meta",
    [
        META,
        {**META, f"{PREFIX}clientInfo": CLIENT},
        {**META, f"{PREFIX}clientInfo": {"name": "", "version": ""}},
        {**META, f"{PREFIX}clientCapabilities": {"roots": {}, "sampling": {}, "elicitation": {}}},
    ],
)
async def test_the_metadata_of_most_clients_needs_no_sdk(meta: Json) -> None:
    plain, reference = await answers(call(_meta=meta), NEWEST_HEADERS)

    assert plain is not None
    assert plain == reference


@pytest.mark.parametrize("request_id", ["", "a", 0, -1, 2**63 - 1, "é\n"])
async def test_every_usual_id_is_returned(request_id: str | int) -> None:
    plain, reference = await answers({**call(), "id": request_id}, {})

    assert plain == reference
    assert json.loads(reference.body)["id"] == request_id


UNUSUAL: tuple[tuple[Any, dict[str, str]], ...] = (
    (b"", {}),
    (b"{}", {}),
    (b"\xff", {}),
    ([call()], {}),
    ({**call(), "more": 1}, {}),
    ({**call(), "jsonrpc": "1.0"}, {}),
    ({**call(), "method": "tools/list"}, {}),
    ({**call(), "id": 1.0}, {}),
    ({**call(), "id": None}, {}),
    ({**call(), "id": True}, {}),
    ({**call(), "id": 2**64}, {}),
    ({key: value for key, value in call().items() if key != "id"}, {}),
    ({**call(), "params": []}, {}),
    (call("unknown"), {}),
    (call(arguments=None), {}),
    (call(arguments=[]), {}),
    (call(task={}), {}),
    (call(_meta=None), {}),
    (call(_meta={}), {}),
    (call(_meta={"progressToken": 1}), {}),
    (call(), {"mcp-protocol-version": NEWEST}),
    (call(), {"mcp-protocol-version": "2000-01-01"}),
    (call(_meta=META), {}),
    (call(_meta=META), {"mcp-protocol-version": "2025-11-25"}),
    (call(_meta=META), {**NEWEST_HEADERS, "mcp-method": "tools/list"}),
    (call(_meta=META), {**NEWEST_HEADERS, "mcp-name": "link"}),
    (call(_meta={**META, "progressToken": 1}), NEWEST_HEADERS),
    (call(_meta={**META, f"{PREFIX}logLevel": "debug"}), NEWEST_HEADERS),
    (call(_meta={**META, f"{PREFIX}clientInfo": {}}), NEWEST_HEADERS),
    (call(_meta={**META, f"{PREFIX}clientCapabilities": []}), NEWEST_HEADERS),
    (call(arguments={"a": "x" * 65_536}), {}),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}', {}),
)


@pytest.mark.parametrize(("body", "headers"), UNUSUAL)
async def test_every_other_message_is_left_to_the_sdk(body: Any, headers: dict[str, str]) -> None:
    encoded = body if isinstance(body, bytes) else json.dumps(body).encode()

    assert PLAIN.answer(encoded, raw(headers), caller()) is None


async def test_a_repeated_header_is_left_to_the_sdk() -> None:
    body = json.dumps(call(_meta=META)).encode()
    headers = [*raw(NEWEST_HEADERS), (b"mcp-name", b"echo")]

    assert PLAIN.answer(body, headers, caller()) is None


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=4) | st.just({}),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(("name", "arguments", "_meta", "progressToken")), inner)
    ),
    max_leaves=4,
)
FIELDS = st.fixed_dictionaries(
    {
        "jsonrpc": st.just("2.0") | JSON,
        "id": st.integers() | st.text(max_size=3) | JSON,
        "method": st.just("tools/call") | st.just("ping"),
        "params": st.fixed_dictionaries(
            {"name": st.sampled_from(("echo", "link", "refuse", "unknown")) | JSON},
            optional={
                "arguments": st.dictionaries(st.text(max_size=3), JSON, max_size=2) | JSON,
                "_meta": st.just(META)
                | JSON
                | st.dictionaries(st.sampled_from((*META, f"{PREFIX}clientInfo")), JSON),
            },
        ),
    },
    optional={"more": JSON},
)
HEADERS = st.sampled_from((*VERSIONS, NEWEST_HEADERS, {"mcp-protocol-version": "x"}))


@settings(max_examples=300, deadline=None)
@given(FIELDS, HEADERS)
async def test_any_message_has_the_same_answer(body: Json, headers: dict[str, str]) -> None:
    plain, reference = await answers(body, headers)

    assert plain is None or plain == reference


async def test_no_tool_repeats_an_argument_in_a_header() -> None:
    """The SDK compares such arguments with their headers; the plain way does not."""
    published = msgspec.json.encode([tool.published() for tool in catalogue.TOOLS])

    assert b"x-mcp-header" not in published


@pytest.mark.parametrize("name", ["list_bookmarks", "count_bookmarks", "list_labels"])
async def test_real_tools_answer_with_the_same_bytes(service: Service, name: str) -> None:
    await service.alice.save()
    sent = {**message("tools/call", {"name": name, "arguments": {}}), "id": 7}
    client, headers = service.alice.client, headers_of(sent)

    plain = await client.post("/mcp", json=sent, headers=headers)
    reference = await client.post("/mcp", json={**sent, "more": 1}, headers=headers)

    assert plain.status_code == 200
    assert plain.content == reference.content
    assert plain.headers["content-type"] == reference.headers["content-type"]
