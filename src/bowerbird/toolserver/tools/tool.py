"""A tool: its published form as data, and the code that runs it.

Nothing here or in the files of the tools needs the protocol's SDK.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.requests import schemas
from bowerbird.requests.limits import TEXT_MAX
from bowerbird.requests.schemas import Form

Json = dict[str, Any]


class Hints(Struct, frozen=True):
    """What a client may do without asking a person. Clients assume the worst of a missing hint.

    No tool reaches outside the library, so the fourth hint is the same for all.
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


class NoArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of a tool that takes none."""


class Tool(Struct, frozen=True, kw_only=True):
    name: str
    title: str
    description: str
    takes: type[Struct] = NoArguments
    # The JSON schema of the answer.
    answer: Json
    hints: Hints

    @property
    def arguments(self) -> dict[str, Json]:
        """Name of each argument -> its JSON schema, always with a bound."""
        properties: dict[str, Json] = schemas.inline(self.takes, Form.ARGUMENTS)["properties"]
        return {name: _bounded(schema) for name, schema in properties.items()}

    def published(self) -> Json:
        """The tool as the protocol lists it and as spec/tools/ stores it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": self.arguments,
                "required": schemas.inline(self.takes, Form.ARGUMENTS).get("required", []),
                "additionalProperties": False,
            },
            "outputSchema": self.answer,
            "annotations": {"title": self.title, **self.hints.published()},
        }


def _bounded(schema: Json) -> Json:
    if schema["type"] != "string" or "enum" in schema or "maxLength" in schema:
        return schema
    return {**schema, "maxLength": TEXT_MAX}


class ToolCall(Struct, frozen=True):
    """One call of a tool: the account, and the arguments as they were sent."""

    account: Account
    sent: Mapping[str, Any]
    # Refuses a free account that has used up its monthly calls.
    require_calls_left: Callable[[], None] = lambda: None


class ToolResult(Struct, frozen=True):
    """The answer of a tool: one object, and links to related resources."""

    content: Json
    links: list[Json] = []
    # Whether this is the stored answer of an earlier call, which costs no call.
    is_replay: bool = False


Run = Callable[[ToolCall], Awaitable[ToolResult]]


class BoundTool(Struct, frozen=True):
    """A tool with the code that runs it."""

    tool: Tool
    run: Run
    # Whether a call with these arguments costs a free account one of its monthly calls.
    counts: Callable[[Mapping[str, Any]], bool] = lambda _: True
