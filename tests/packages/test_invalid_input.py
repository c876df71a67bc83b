"""bowerbird-mcp responds to every request and keeps running, whatever it contains."""

import threading
from contextlib import suppress
from pathlib import Path

import pytest

from bowerbird_mcp import configuration
from bowerbird_mcp.connections import Call, CallFailedError, Connections
from tests.packages.bridge_process import fake_server, faked, started
from tests.support.tool_server import stdio_environment
from tests.support.waiting import PATIENCE_S

HALF_SURROGATE = rb'{"jsonrpc":"2.0","id":"\ud800","method":"tools/list"}'
DEEPLY_NESTED = b'{"jsonrpc":"2.0","id":%b,"method":"tools/list"}' % (b"[" * 900 + b"]" * 900)


@pytest.mark.parametrize(
    "address", [f"http://{'a' * 70}.example/mcp", "http://127.0.0.1:1/v\u00f6gel"]
)
def test_every_request_to_an_unusable_address_gets_an_error(address: str, tmp_path: Path) -> None:
    with started(stdio_environment(SERVICE_URL=address, SERVICE_TOKEN="key"), tmp_path) as bridge:
        assert bridge.request("resources/list", 1)["error"]["code"] == -32000
        assert bridge.request("resources/list", 2)["id"] == 2


@pytest.mark.parametrize("token", ["", "key"])
def test_an_invalid_id_gets_a_response(token: str, tmp_path: Path) -> None:
    with fake_server() as (address, _):
        variables = {"SERVICE_URL": address, **({"SERVICE_TOKEN": token} if token else {})}
        with started(stdio_environment(**variables), tmp_path) as bridge:
            bridge.send_line(HALF_SURROGATE)
            assert bridge.response()["id"] == "\ud800"
            bridge.send_line(DEEPLY_NESTED)
            bridge.response()
            assert bridge.request("ping", 2)["id"] == 2
            assert bridge.end() == 0


def test_a_negotiated_version_that_cannot_be_a_header_does_not_stop_requests(
    tmp_path: Path,
) -> None:
    with faked(tmp_path) as (bridge, fake):
        fake.body = rb'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"a\r\nb\u00f6"}}'
        bridge.request("initialize", protocolVersion="2025-06-18")
        fake.body = b""
        assert bridge.request("tools/list", 2)["id"] == 2


def test_a_line_that_is_far_too_large_gets_an_error_with_its_id(tmp_path: Path) -> None:
    environment = stdio_environment(SERVICE_URL="http://127.0.0.1:1/mcp", SERVICE_TOKEN="key")
    with started(environment, tmp_path) as bridge:
        response = bridge.request(
            "tools/call", 8, name="list_labels", arguments={"x": "y" * 5_000_000}
        )

    assert response["id"] == 8
    assert response["error"] == {
        "code": -32600,
        "message": "The message is larger than 1024 KiB.",
    }


def test_cancelling_a_finished_call_does_not_close_the_connection_of_another() -> None:
    with fake_server() as (address, fake):
        fake.held_id = 2
        settings = configuration.read({"SERVICE_URL": address, "SERVICE_TOKEN": "key"})
        connections, first, second = Connections(settings), Call(), Call()
        connections.post(b'{"id":1}', {}, first)

        def hold() -> None:
            with suppress(CallFailedError):
                connections.post(b'{"id":2}', {}, second)

        other = threading.Thread(target=hold)
        other.start()
        assert fake.is_holding.wait(PATIENCE_S)
        assert len(fake.connections) == 1, "both calls use the same connection"

        first.cancel()

        is_still_connected = not fake.saw_disconnect.wait(0.3)
        second.cancel()
        other.join()
        assert is_still_connected


def test_the_connection_of_a_cancelled_call_is_not_used_again() -> None:
    with fake_server() as (address, _):
        settings = configuration.read({"SERVICE_URL": address, "SERVICE_TOKEN": "key"})
        connections, cancelled = Connections(settings), Call()
        cancelled.cancel()

        with pytest.raises(CallFailedError):
            connections.post(b'{"id":1}', {}, cancelled)

        assert connections.post(b'{"id":2}', {}, Call())[0] == 200
        connections.close()
