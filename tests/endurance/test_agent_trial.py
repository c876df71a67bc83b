"""The trial of a language model, rehearsed with a scripted one on the loopback interface."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from endurance.agent_trial import __main__ as trial
from endurance.agent_trial.endpoint import Unusable, from_environment

KEY = "sk-never-shown"
# What the model does for a wish that has these words: calls, then a reply.
SCRIPT: dict[str, list[Any]] = {
    "How many posts": [("count_bookmarks", {}), "40 posts are unread."],
    "database and databases": [
        ("merge_labels", {"from": "database", "into": "databases"}),
        "Done.",
    ],
    "Take back": [("list_changes", {"limit": None}), ("undo_change", None), "Undone."],
    "have the most likes": ["I would rather not say."],
}


class Scripted(BaseHTTPRequestHandler):
    seen: ClassVar[list[dict[str, Any]]] = []
    status: ClassVar[int] = 200

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append({**asked, "key": self.headers["Authorization"], "path": self.path})
        body = json.dumps({"choices": [{"message": _next(asked["messages"])}]})
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write((body if self.status == 200 else f"Bad key {KEY}").encode())

    def log_message(self, *_: Any) -> None:
        pass


def _next(messages: list[dict[str, Any]]) -> dict[str, Any]:
    wish = messages[1]["content"]
    [steps] = [steps for words, steps in SCRIPT.items() if words in wish]
    step = steps[sum(message["role"] == "tool" for message in messages)]
    if isinstance(step, str):
        return {"role": "assistant", "content": step}
    name, arguments = step
    sent = {"change_id": wish.split()[4].rstrip(".")} if arguments is None else arguments
    function = {"name": name, "arguments": json.dumps(sent)}
    return {"role": "assistant", "tool_calls": [{"id": "1", "function": function}]}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Scripted]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Scripted.seen.clear()
    Scripted.status = 200
    monkeypatch.setenv("AGENT_URL", f"http://127.0.0.1:{server.server_port}/v1/")
    monkeypatch.setenv("AGENT_MODEL", "scripted")
    monkeypatch.setenv("AGENT_KEY", KEY)
    monkeypatch.setenv("AGENT_STRICT", "1")
    monkeypatch.delenv("AGENT_WISHES", raising=False)
    yield Scripted
    server.shutdown()
    server.server_close()


def test_wishes_are_played_and_judged(
    model: type[Scripted], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = "number of unread posts, merge labels, undo labels by ids, most liked"
    monkeypatch.setenv("AGENT_WISHES", names)

    status = trial.main()

    printed = capsys.readouterr()
    rows = [line for line in printed.out.splitlines() if line.startswith("|")][2:]
    verdicts = [(row.split("|")[2].strip(), row.split("|")[5].strip()) for row in rows]
    assert verdicts == [("yes", "yes"), ("yes", "yes"), ("yes", "no"), ("no", "yes")]
    assert "scripted: 3 of 4 fulfilled, 2 within the budget." in printed.out
    assert status == 1
    assert KEY not in printed.out + printed.err
    assert {(seen["key"], seen["path"]) for seen in model.seen} == {
        (f"Bearer {KEY}", "/v1/chat/completions")
    }
    first = model.seen[0]
    assert "How to start" in first["messages"][0]["content"]
    assert all(tool["function"]["strict"] for tool in first["tools"])


def test_an_endpoint_that_refuses_is_named_without_the_key(
    model: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    model.status = 401
    endpoint = from_environment()

    with pytest.raises(Unusable, match=r"^The endpoint answered 401\.$"):
        endpoint.reply([{"role": "system"}, {"role": "user", "content": "How many posts"}], [])
    assert KEY not in repr(endpoint)

    monkeypatch.setenv("AGENT_URL", "ftp://example.com")
    with pytest.raises(Unusable, match="Set AGENT_URL"):
        from_environment()


def test_an_unknown_wish_is_named(
    model: type[Scripted], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENT_WISHES", "world peace")

    assert trial.main() == 2
    assert "No wish is named 'world peace'." in capsys.readouterr().err
    assert model.seen == []
