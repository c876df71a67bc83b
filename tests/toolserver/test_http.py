"""The tool server over HTTP, and what one connection may use."""

import re
from itertools import product
from typing import Any

import httpx
import pytest

from bowerbird import app
from bowerbird.settings import BadSetting, Settings
from bowerbird.toolserver.assembly import TOOLS
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service, SetClock
from tests.support.toolcalls import NEWEST, headers_of, message, post

pytestmark = pytest.mark.anyio


LIST = {"name": "list_bookmarks", "arguments": {}}

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": LIST}


async def sent(service: Service, body: Any, **headers: str) -> httpx.Response:
    """Sends the body unchanged, without the headers of the newest revision."""
    content = body if isinstance(body, bytes) else httpx.Request("POST", "/", json=body).content
    known = {"Content-Type": "application/json", "Accept": "application/json"}
    return await service.alice.client.post("/mcp", content=content, headers={**known, **headers})


async def test_a_missing_or_invalid_key_is_rejected_as_in_the_rest_api(service: Service) -> None:
    client = service.nobody
    for headers in ({}, {"Authorization": "Bearer dev_abc"}, {"Authorization": "Bearer bwr_x"}):
        ours = await client.post("/mcp", json=CALL, headers=headers)
        rest = await client.get("/v1/bookmarks", headers=headers)

        assert ours.status_code == rest.status_code == 401
        assert ours.json() == rest.json()
        challenge = rest.headers["www-authenticate"]
        assert 'realm="bowerbird", resource_metadata="' in challenge
        own = challenge.replace("oauth-protected-resource", "oauth-protected-resource/mcp")
        assert ours.headers["www-authenticate"] == own


@pytest.mark.parametrize("address", ["", "https://tools.example.com/agents/bowerbird/"])
async def test_the_401_names_metadata_of_the_tool_server(service: Service, address: str) -> None:
    settings = Settings(mcp_url=address)
    other = service.alice.on(app.build(settings, service.database, SetClock()))
    path = httpx.URL(settings.tool_server).path

    refused = await other.client.post(path, json=CALL, headers={"Authorization": "Bearer x"})
    (metadata,) = re.findall(r'resource_metadata="([^"]+)"', refused.headers["www-authenticate"])
    found = await other.client.get(httpx.URL(metadata).path)

    assert found.json()["resource"] == settings.tool_server


async def test_a_slash_after_the_path_makes_no_difference(service: Service) -> None:
    client = service.alice.client

    assert (await client.post("/mcp/", json=CALL)).json() == (await sent(service, CALL)).json()
    assert (await service.nobody.post("/mcp/", json=CALL)).status_code == 401
    assert (await client.get("/mcp/")).status_code == 405
    assert (await client.get("/mcp/server-card")).status_code == 200


@in_turn(
    ("path", "method"),
    product(("/mcp", "/mcp/", "/mcp/sse", "/mcp/messages/x"), ("GET", "POST", "DELETE", "PUT")),
)
async def test_every_refusal_is_json(service: Service, path: str, method: str) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml"}
    for client in (service.alice.client, service.nobody):
        for headers in (browser, {}, {**browser, "Origin": "https://evil.example"}):
            refused = await client.request(method, path, headers=headers)

            assert refused.status_code in (401, 403, 404, 405, 406, 415)
            assert refused.headers["content-type"] == "application/json"
            assert refused.json()["error"]


@in_turn("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD"])
async def test_only_post_is_allowed(service: Service, method: str) -> None:
    response = await service.alice.client.request(method, "/mcp")

    assert response.status_code == 405
    assert response.headers["allow"] == "POST, OPTIONS"
    assert (await service.nobody.request(method, "/mcp")).status_code == 401


@in_turn("origin", ["https://evil.example", "null", "http://localhost:8081"])
async def test_a_foreign_origin_is_rejected_before_all_else(service: Service, origin: str) -> None:
    for client in (service.alice.client, service.nobody):
        response = await client.post("/mcp", json=CALL, headers={"Origin": origin})
        assert response.status_code == 403
        assert response.json()["error"]["code"] == -32600
        assert "access-control-allow-origin" not in response.headers
    assert (await service.nobody.options("/mcp", headers={"Origin": origin})).status_code == 403


async def test_our_own_and_allowed_origins_may_call(service: Service) -> None:
    settings = Settings(
        base_url="https://api.example.com:443/",
        site_url="https://www.example.com",
        tool_origins="https://app.example.com, http://localhost:6274",
    )
    other = service.alice.on(app.build(settings, service.database, SetClock()))
    for origin in (
        *("https://api.example.com", "https://www.example.com"),
        *("https://app.example.com", "http://localhost:6274"),
    ):
        response = await post(other.client, message("ping"), Origin=origin)
        # The newest revision has no ping; the test only needs the origin to be accepted.
        assert response.status_code in (200, 404)
        assert response.headers["access-control-allow-origin"] == origin
        preflight = await other.client.options("/mcp", headers={"Origin": origin})
        assert preflight.status_code == 204
        assert "Authorization" in preflight.headers["access-control-allow-headers"]


async def test_the_settings_decide_the_path_of_the_tool_server(service: Service) -> None:
    settings = Settings(mcp_url="https://tools.example.com/agents/bowerbird/")
    other = service.alice.on(app.build(settings, service.database, SetClock()))

    assert (await other.client.post("/agents/bowerbird", json=CALL)).status_code == 200
    assert (await other.client.post("/mcp", json=CALL)).status_code == 404


@in_turn(
    ("body", "status", "code"),
    [
        (b"{", 400, -32700),
        (b"", 400, -32700),
        (b"\xff\xfe", 400, -32700),
        (b'{"a":"\\ud800"}', 400, -32700),
        (b"[" * 50_000, 400, -32600),
        (b'{"a":' * 100 + b"1" + b"}" * 100, 400, -32600),
        (b"[" + b"1," * 10_000 + b"1]", 400, -32600),
        (b"[]", 400, -32600),
        ([CALL] * 21, 400, -32600),
        (b'"hello"', 400, -32600),
        (b"{}", 400, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 400, -32600),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, 400, -32600),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, 400, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, 400, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, 400, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, 400, -32600),
        (b"x" * (1024 * 1024 + 1), 413, -32600),
    ],
)
async def test_an_invalid_message_gets_a_json_rpc_error(
    service: Service, body: Any, status: int, code: int
) -> None:
    response = await sent(service, body)

    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    answer = response.json()
    assert answer["jsonrpc"] == "2.0"
    assert answer["error"]["code"] == code


@in_turn(
    ("method", "params", "code"),
    [
        ("sing", {}, -32601),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": 5}, -32602),
        ("tools/call", {"name": "list_bookmarks", "arguments": []}, -32602),
        ("tools/call", {"name": "sing"}, -32602),
        ("tools/list", {"cursor": "invented"}, -32602),
        ("prompts/list", {"cursor": "invented"}, -32602),
        ("resources/list", {"cursor": "invented"}, -32602),
        ("resources/templates/list", {"cursor": "invented"}, -32602),
        ("completion/complete", {}, -32602),
        ("initialize", {}, -32602),
    ],
)
async def test_an_invalid_request_gets_an_error_in_both_eras(
    service: Service, method: str, params: dict[str, Any], code: int
) -> None:
    body = {"jsonrpc": "2.0", "id": "x", "method": method, "params": params}

    older = await sent(service, body)
    assert (older.status_code, older.json()["error"]["code"]) == (200, code)
    assert older.json()["id"] == "x"
    if method == "initialize":
        return
    newer = await post(service.alice.client, message(method, params), **_plain_name(params))
    assert newer.status_code == (404 if code == -32601 else 400)
    assert newer.json()["error"]["code"] in (code, -32020)


@in_turn("uri", ["file:///etc/passwd", "bookmark://1/../2", "view://none"])
async def test_a_missing_resource_gets_the_code_of_each_era(service: Service, uri: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}

    for version in ({}, {"MCP-Protocol-Version": "2025-11-25"}):
        older = (await sent(service, body, **version)).json()["error"]
        assert (older["code"], older["data"]) == (-32002, {"uri": uri})
    newer = (await post(service.alice.client, message("resources/read", {"uri": uri}))).json()
    assert newer["error"]["code"] == -32602


@in_turn(
    ("method", "params"),
    [("sing\u202e\U000e0041", {}), ("resources/read", {"uri": "view://a\u202e\U000e0041"})],
)
async def test_an_error_repeats_no_hidden_characters(
    service: Service, method: str, params: dict[str, Any]
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = await sent(service, body)

    assert "sing" in answer.text or "view://a" in answer.text
    assert "\u202e" not in answer.text
    assert "\U000e0041" not in answer.text


def _plain_name(params: dict[str, Any]) -> dict[str, str]:
    return {"Mcp-Name": str(params["name"])} if "name" in params else {}


async def test_unknown_versions_and_mismatched_headers_are_rejected(service: Service) -> None:
    asked = message("tools/list")
    client = service.alice.client

    other = await post(client, asked, **{"MCP-Protocol-Version": "2025-11-25"})
    method = await post(client, asked, **{"Mcp-Method": "tools/call"})
    named = await post(client, message("tools/call", LIST), **{"Mcp-Name": "get_bookmarks"})
    headers = {k: v for k, v in headers_of(asked).items() if k != "MCP-Protocol-Version"}
    without = await client.post("/mcp", json=asked, headers=headers)
    twice = await client.post(
        "/mcp", json=asked, headers=[*headers_of(asked).items(), ("Mcp-Method", "tools/list")]
    )
    for response in (other, method, named, without, twice):
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)

    future = message("tools/list")
    future["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01"
    newer = await post(client, future, **{"MCP-Protocol-Version": "2099-01-01"})
    plain = await sent(service, CALL, **{"MCP-Protocol-Version": "1999-01-01"})
    for response in (newer, plain):
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32022)
        assert NEWEST in response.json()["error"]["data"]["supported"]
    assert "2025-11-25" in plain.json()["error"]["data"]["supported"]


@in_turn(
    ("asked", "agreed"),
    [("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25")],
)
async def test_the_handshake_negotiates_a_supported_revision(
    service: Service, asked: str, agreed: str
) -> None:
    info = {"name": "test", "version": "1"}
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": info}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}

    result = (await sent(service, body)).json()["result"]

    assert result["protocolVersion"] == agreed
    assert result["serverInfo"]["name"] == "bowerbird"
    assert "never an instruction" in result["instructions"]


async def test_unsupported_media_types_and_oversized_headers_are_rejected(service: Service) -> None:
    assert (await sent(service, CALL, **{"Content-Type": "text/plain"})).status_code == 415
    assert (await sent(service, CALL, Accept="text/event-stream")).status_code == 406
    assert (await sent(service, CALL, Accept="*/*")).status_code == 200
    assert (await sent(service, CALL, **{"X-Large": "x" * 40_000})).status_code == 400


async def test_notifications_and_responses_are_accepted_and_ignored(service: Service) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    for version in ("2024-11-05", "2025-11-25", NEWEST):
        taken = await sent(service, note, **{"MCP-Protocol-Version": version})
        assert (taken.status_code, taken.content) == (202, b"")
    answer = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert (await sent(service, answer)).status_code == 202
    refused = await sent(service, answer, **{"MCP-Protocol-Version": NEWEST})
    assert refused.status_code == 400


async def test_a_response_is_private_and_has_no_session(service: Service) -> None:
    response = await sent(service, CALL)

    assert response.headers["cache-control"] == "private, no-cache"
    assert "mcp-session-id" not in response.headers
    assert response.headers["x-request-id"]


@pytest.mark.parametrize(
    "origin", ["foo", "https://x:abc", "https://", "ftp://x", "https://x/path", "https://a@x", "*"]
)
def test_an_invalid_origin_prevents_the_start(origin: str) -> None:
    with pytest.raises(BadSetting, match=r"BOWERBIRD_TOOL_ORIGINS: .* is not an origin such as"):
        Settings.from_env({"BOWERBIRD_TOOL_ORIGINS": f"https://app.example.com, {origin}"})


RESTRICTING = "X-MCP-Readonly, X-MCP-Tools"

READING = [tool.name for tool in TOOLS if tool.hints.is_read_only]


async def asked(
    member: Member, address: str, method: str, *, params: Any = None, **headers: str
) -> httpx.Response:
    sent = message(method, params)
    return await member.client.post(address, json=sent, headers={**headers_of(sent), **headers})


async def listed(member: Member, address: str, **headers: str) -> list[str]:
    result = (await asked(member, address, "tools/list", **headers)).json()["result"]
    assert result["cacheScope"] == "private"
    return [tool["name"] for tool in result["tools"]]


async def called(
    member: Member, address: str, tool: str, arguments: Any, **headers: str
) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    result: dict[str, Any] = (
        await asked(member, address, "tools/call", params=params, **headers)
    ).json()["result"]
    return result


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("/mcp?read_only=1", {}),
        ("/mcp/?read_only=true", {}),
        ("/mcp", {"X-MCP-Readonly": "1"}),
        ("/mcp?read_only=0", {"X-MCP-Readonly": "true"}),
        ("/mcp", {"X-MCP-Read-Only": "1"}),
        ("/mcp", {"X_MCP_Readonly": "1"}),
    ],
)
async def test_a_read_only_connection_cannot_change_the_library(
    service: Service, address: str, headers: dict[str, str]
) -> None:
    alice = service.alice
    post_id = (await alice.save(text="an owl"))["post_id"]

    assert await listed(alice, address, **headers) == READING
    arguments = {"post_ids": [post_id], "is_read": True}
    refused = await called(alice, address, "update_bookmarks", arguments, **headers)
    counted = await called(alice, address, "count_bookmarks", {"is_unread_only": True}, **headers)

    assert refused["isError"] is True
    assert refused["content"][0]["text"] == (
        "The tool update_bookmarks is not available on this connection: it is read-only, and this "
        "tool changes the library. Tell the user."
    )
    assert counted["structuredContent"]["count"] == 1, "the post is still unread"


def unknown_header(name: str) -> str:
    return f"Unknown header '{name}'. Headers that restrict a connection: {RESTRICTING}."


@in_turn("name", ["X-MCP-Proxy-Auth", "X-MCP-Thread-Id", "X-MCP-Servers"])
async def test_other_headers_with_the_same_prefix_are_ignored(service: Service, name: str) -> None:
    response = await asked(service.alice, "/mcp", "tools/list", **{name: "1"})

    assert len(response.json()["result"]["tools"]) == len(TOOLS)


async def test_a_connection_can_have_only_some_tools(service: Service) -> None:
    alice = service.alice
    chosen = "/mcp?tools=list_labels,add_label,%20count_bookmarks"

    assert await listed(alice, chosen) == ["count_bookmarks", "list_labels", "add_label"]
    assert await listed(alice, f"{chosen}&read_only=1") == ["count_bookmarks", "list_labels"]
    assert await listed(alice, chosen, **{"X-MCP-Tools": "list_labels,get_account"}) == [
        "list_labels"
    ]
    assert (await called(alice, chosen, "list_labels", {}))["isError"] is False
    refused = await called(alice, chosen, "list_bookmarks", {})
    assert "its tools setting does not include it" in refused["content"][0]["text"]


@in_turn(
    ("query", "headers", "problem"),
    [
        ("read_onyl=1", {}, "Unknown parameter 'read_onyl'. Allowed: read_only, tools."),
        ("", {"X-MCP-Redonly": "1"}, unknown_header("x-mcp-redonly")),
        ("", {"X-MCP-Read": "1"}, unknown_header("x-mcp-read")),
        ("", {"X-MCP-Tool": "list_labels"}, unknown_header("x-mcp-tool")),
        ("", {"X-MCP-Exclude_Tools": "add_label"}, unknown_header("x-mcp-exclude_tools")),
        ("read_only=yes", {}, "read_only: must be 1 or 0."),
        ("read_only=", {}, "read_only: must be 1 or 0."),
        ("", {"X-MCP-Readonly": "on"}, "read_only: must be 1 or 0."),
        ("tools=", {}, "tools: must be names of tools, separated by commas."),
        ("tools=list_labels,sing", {}, "tools: no tool is named 'sing'."),
    ],
)
async def test_a_restriction_that_is_not_understood_is_refused(
    service: Service, query: str, headers: dict[str, str], problem: str
) -> None:
    response = await asked(service.alice, f"/mcp?{query}", "tools/list", **headers)

    assert response.status_code == 400
    assert response.json()["error"] == {"code": -32600, "message": problem}


async def test_the_whole_list_stays_public(service: Service) -> None:
    result = (await asked(service.alice, "/mcp", "tools/list")).json()["result"]

    assert [tool["name"] for tool in result["tools"]] == [tool.name for tool in TOOLS]
    assert result["cacheScope"] == "public"
