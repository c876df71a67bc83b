"""What a tool is: its published form as data, and the code that answers it.

Nothing here, nor in the files of the tools, needs the protocol's SDK.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from bowerbird.model.accounts import Account

Json = dict[str, Any]


class Hints(Struct, frozen=True):
    """What a client may do without asking a person. A hint left out would be taken for the worst.

    No tool reaches outside of the library, so the fourth hint is the same for all.
    """

    reads: bool = False
    destroys: bool = False
    # Whether a second call with the same arguments changes nothing more.
    repeats: bool = False

    def published(self) -> Json:
        return {
            "readOnlyHint": self.reads,
            "destructiveHint": self.destroys,
            "idempotentHint": self.repeats,
            "openWorldHint": False,
        }


READS: Final = Hints(reads=True, repeats=True)
WRITES: Final = Hints()
WRITES_AGAIN: Final = Hints(repeats=True)
DESTROYS: Final = Hints(destroys=True, repeats=True)


class Tool(Struct, frozen=True, kw_only=True):
    name: str
    title: str
    description: str
    # Name of an argument -> its JSON schema.
    arguments: Mapping[str, Json]
    required: tuple[str, ...] = ()
    # The JSON schema of the answer.
    answer: Json
    hints: Hints

    def published(self) -> Json:
        """As the protocol lists it, and as spec/tools/ keeps it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": dict(self.arguments),
                "required": list(self.required),
                "additionalProperties": False,
            },
            "outputSchema": self.answer,
            "annotations": {"title": self.title, **self.hints.published()},
        }


class ToolCall(Struct, frozen=True):
    """One call of a tool: who calls, and what was sent as its arguments."""

    account: Account
    sent: Mapping[str, Any]
    # Refuses a free account whose month is used up; does nothing for the others.
    require_calls_left: Callable[[], None] = lambda: None


class ToolResult(Struct, frozen=True):
    """What a tool answers: one object, and links to what else can be read."""

    content: Json
    links: list[Json] = []
    # Whether this is the kept answer of an earlier call, which costs nothing again.
    is_replay: bool = False


Run = Callable[[ToolCall], Awaitable[ToolResult]]


class BoundTool(Struct, frozen=True):
    """A tool with the code that answers it."""

    tool: Tool
    run: Run
    # Whether a free account's month is charged with a call that sends these arguments.
    counts: Callable[[Mapping[str, Any]], bool] = lambda _: True
