"""Plays one wish: the model calls tools until it replies, and the library shows what it did."""

import json
from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

from endurance.agent_trial.endpoint import Endpoint
from endurance.agent_trial.library_tools import LibraryTools
from endurance.agent_trial.schemas import function
from endurance.agent_trial.wishes import Wish

Json = dict[str, Any]

# A model that has not finished by then will not.
_ROUNDS_MAX: Final = 12
_NO_OBJECT: Final = "INVALID_REQUEST: The arguments are not a JSON object. Call again."


class Played(Struct, frozen=True):
    wish: Wish
    calls: int
    tokens: int
    is_fulfilled: bool

    @property
    def is_cheap(self) -> bool:
        return self.calls <= self.wish.calls and self.tokens <= self.wish.tokens


def play(wish: Wish, endpoint: Endpoint, tools: LibraryTools) -> Played:
    text, last = wish.text, Json()
    for name, arguments in wish.before:
        last = tools.content(name, arguments)
    text = text.replace("{change_id}", last.get("change_id", ""))
    functions = [function(tool, is_strict=endpoint.is_strict) for tool in tools.listed()]
    messages: list[Json] = [
        {"role": "system", "content": tools.instructions()},
        {"role": "user", "content": f"{text} Do it now, without asking me again."},
    ]
    calls = characters = 0
    reply = ""
    for _ in range(_ROUNDS_MAX):
        message = endpoint.reply(messages, functions)
        messages.append(message)
        asked = message.get("tool_calls") or []
        if not asked:
            reply = str(message.get("content") or "")
            break
        for one in asked:
            name, sent = one["function"]["name"], one["function"]["arguments"]
            result = _result(tools, name, sent)
            calls += 1
            characters += len(name) + len(sent) + len(result)
            messages.append({"role": "tool", "tool_call_id": one["id"], "content": result})
    return Played(wish, calls, round(characters / 4), _is_fulfilled(wish, reply, tools))


def _result(tools: LibraryTools, name: str, sent: str) -> str:
    try:
        arguments = json.loads(sent or "{}")
    except ValueError:
        return _NO_OBJECT
    return tools.call(name, arguments) if isinstance(arguments, dict) else _NO_OBJECT


def _is_fulfilled(wish: Wish, reply: str, tools: LibraryTools) -> bool:
    if not reply.strip() or (wish.says and not any(word in reply for word in wish.says)):
        return False
    if wish.then is None:
        return True
    tool, arguments, fields = wish.then
    found = tools.content(tool, arguments)
    return all(found.get(name) == value for name, value in fields.items())


def table(played: Iterable[Played]) -> str:
    rows = [
        f"| {one.wish.name} | {_said(is_yes=one.is_fulfilled)} | {one.calls} of {one.wish.calls} "
        f"| {one.tokens:,} of {one.wish.tokens:,} | {_said(is_yes=one.is_cheap)} |\n"
        for one in played
    ]
    head = (
        "| Wish | Fulfilled | Calls | Tokens | Within budget |\n| --- | --- | --- | --- | --- |\n"
    )
    return head + "".join(rows)


def _said(*, is_yes: bool) -> str:
    return "yes" if is_yes else "no"
