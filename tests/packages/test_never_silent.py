"""Whatever a line holds and whatever goes wrong, bowerbird-mcp answers it and lives on."""

import threading
from contextlib import suppress
from pathlib import Path

import pytest

from bowerbird_mcp import configuration
from bowerbird_mcp.connections import Connections, Exchange, Gone
from tests.packages.pumping import odd_server, pumped
from tests.support.tool_server import pump_environment

HALF = rb'{"jsonrpc":"2.0","id":"\ud800","method":"tools/list"}'
DEEP = b'{"jsonrpc":"2.0","id":%b,"method":"tools/list"}' % (b"[" * 900 + b"]" * 900)


@pytest.mark.parametrize(
    "address", [f"http://{'a' * 70}.example/mcp", "http://127.0.0.1:1/v\u00f6gel"]
)
def test_an_address_that_cannot_be_called_is_told_with_each_request(
    address: str, tmp_path: Path
) -> None:
    with pumped(pump_environment(SERVICE_URL=address, SERVICE_TOKEN="key"), tmp_path) as pump:
        assert pump.ask("tools/list", 1)["error"]["code"] == -32000
        assert pump.ask("tools/list", 2)["id"] == 2


@pytest.mark.parametrize("token", ["", "key"])
def test_half_of_a_character_as_an_id_is_answered(token: str, tmp_path: Path) -> None:
    with odd_server() as (address, _):
        known = {"SERVICE_URL": address, **({"SERVICE_TOKEN": token} if token else {})}
        with pumped(pump_environment(**known), tmp_path) as pump:
            pump.send_line(HALF)
            assert pump.answer()["id"] == "\ud800"
            pump.send_line(DEEP)
            pump.answer()
            assert pump.ask("ping", 2)["id"] == 2
            assert pump.end() == 0


def test_a_revision_that_fits_in_no_header_is_no_reason_to_fall_silent(tmp_path: Path) -> None:
    with odd_server() as (address, odd):
        environment = pump_environment(SERVICE_URL=address, SERVICE_TOKEN="key")
        odd.body = rb'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"a\r\nb\u00f6"}}'
        with pumped(environment, tmp_path) as pump:
            pump.ask("initialize", protocolVersion="2025-06-18")
            odd.body = b""
            assert pump.ask("tools/list", 2)["id"] == 2


def test_a_line_that_is_far_too_large_is_refused_under_its_id(tmp_path: Path) -> None:
    environment = pump_environment(SERVICE_URL="http://127.0.0.1:1/mcp", SERVICE_TOKEN="key")
    with pumped(environment, tmp_path) as pump:
        answer = pump.ask("tools/call", 8, name="list_labels", arguments={"x": "y" * 5_000_000})

    assert answer["id"] == 8
    assert answer["error"] == {
        "code": -32600,
        "message": "The message is larger than 1024 KiB.",
    }


def test_a_call_that_was_answered_gives_up_nobody_elses_connection() -> None:
    with odd_server() as (address, odd):
        odd.holds = 2
        known = configuration.read({"SERVICE_URL": address, "SERVICE_TOKEN": "key"})
        connections, first, second = Connections(known), Exchange(), Exchange()
        connections.post(b'{"id":1}', {}, first)

        def held() -> None:
            with suppress(Gone):
                connections.post(b'{"id":2}', {}, second)

        other = threading.Thread(target=held)
        other.start()
        assert odd.is_holding.wait(10)
        assert len(odd.connections) == 1, "they share a connection, one after the other"

        first.give_up()

        is_alone = not odd.saw_it_go.wait(0.3)
        second.give_up()
        other.join()
        assert is_alone


def test_a_connection_that_was_given_up_is_used_by_nobody() -> None:
    with odd_server() as (address, _):
        known = configuration.read({"SERVICE_URL": address, "SERVICE_TOKEN": "key"})
        connections, given_up = Connections(known), Exchange()
        given_up.give_up()

        with pytest.raises(Gone):
            connections.post(b'{"id":1}', {}, given_up)

        assert connections.post(b'{"id":2}', {}, Exchange())[0] == 200
        connections.close()
