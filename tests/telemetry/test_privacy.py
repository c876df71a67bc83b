"""What is sent to a collector contains nothing that people wrote and nothing that names them."""

from pathlib import Path
from typing import Any

from tests.support import toolcalls
from tests.support.hosts.collector import Collector
from tests.telemetry.conftest import SECRET_TEXT, Traced, traced_server

LABEL, VIEW, QUERY, NOTE = "wombatlabel", "numbatview", "bilbyquery", "potoroonote"


def test_no_text_key_address_or_account_is_sent(
    place: dict[str, Any], receiver: Collector, tmp_path: Path
) -> None:
    with traced_server(tmp_path, receiver, **place) as traced:
        _check(traced)


def _check(traced: Traced) -> None:
    path = f"/v1/bookmarks/{traced.post_id}"
    sent = toolcalls.message("tools/call", {"name": "list_bookmarks", "arguments": {"q": QUERY}})
    answers = [
        traced.call("GET", f"/v1/bookmarks?q={SECRET_TEXT}&show_archived=true"),
        traced.call("GET", f"/v1/bookmarks?q={QUERY}%20OR%20author%3A{LABEL}"),
        traced.call("GET", f"/v1/bookmarks?tag={LABEL}&cursor={QUERY}"),
        traced.call("PATCH", path, json={"is_read": True}),
        traced.call("PATCH", path, json={"notes": NOTE, LABEL: NOTE}),
        traced.call("POST", "/v1/labels", json={"name": LABEL}),
        traced.call("POST", "/v1/views", json={"name": VIEW, "slug": VIEW}),
        traced.call("GET", f"/v1/views/{VIEW}"),
        traced.call("GET", f"/v1/{QUERY}/{LABEL}?{NOTE}"),
        traced.call("GET", f"/{QUERY}"),
        traced.call("GET", f"/unsubscribe/{QUERY}"),
        traced.call("POST", "/mcp", json=sent, headers=toolcalls.headers_of(sent)),
        traced.call("POST", "/v1/exports/json"),
    ]
    for answer in answers:
        traced.collector.of_request(answer.headers["x-request-id"])
    account = next(line["account"] for line in traced.server.log() if line.get("account"))
    assert traced.server.stop() == 0

    exported = b"".join(traced.collector.bodies)
    assert any(span.attributes.get("http.route") for span in traced.collector.spans())
    words = (SECRET_TEXT, LABEL, VIEW, QUERY, NOTE, "you@example.com", str(account), "SELECT")
    for word in (*words, traced.key, traced.key[:12], traced.post_id, "Bearer", "127.0.0.1"):
        assert word.encode() not in exported, word
    assert {type(value) for s in traced.collector.spans() for value in s.attributes.values()} == {
        str,
        int,
    }
