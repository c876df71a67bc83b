"""A tool: its published form as data, and the function that runs it.

The modules of this package do not import the SDK of the protocol.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.library.access.call_allowance import CallCharge
from bowerbird.model.accounts import Account
from bowerbird.requests import schemas
from bowerbird.requests.filters import readers
from bowerbird.requests.limits import TEXT_MAX
from bowerbird.requests.schemas import Form
from bowerbird.toolserver.tools import quoted_text, vocabulary

Json = dict[str, Any]


class Hints(Struct, frozen=True):
    """Tells a client which calls to confirm with the user. It assumes the worst without a hint.

    No tool reaches outside the library, so the fourth hint is the same for all.
    """

    is_read_only: bool = False
    is_destructive: bool = False
    is_idempotent: bool = False

    def published(self) -> Json:
        return {
            "readOnlyHint": self.is_read_only,
            "destructiveHint": self.is_destructive,
            "idempotentHint": self.is_idempotent,
            "openWorldHint": False,
        }


READS: Final = Hints(is_read_only=True, is_idempotent=True)
WRITES: Final = Hints()
WRITES_IDEMPOTENTLY: Final = Hints(is_idempotent=True)
DESTROYS: Final = Hints(is_destructive=True, is_idempotent=True)


class NoArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of a tool that takes none."""


class Tool(Struct, frozen=True, kw_only=True):
    name: str
    title: str
    description: str
    takes: type[Struct] = NoArguments
    # The JSON schema of the result.
    returns: Json
    hints: Hints

    # Whether it describes the filters. Other tools only list them, because a client loads all
    # descriptions at once.
    describes_filters: bool = False

    @property
    def arguments(self) -> dict[str, Json]:
        """The JSON schema of each argument by its published name, required ones first."""
        properties: dict[str, Json] = schemas.inline(self.takes, Form.ARGUMENTS)["properties"]
        filters = () if self.describes_filters else readers(self.takes)
        names = sorted(properties, key=lambda name: name not in self._required_fields)
        return {
            vocabulary.published(name): (_brief if name in filters else _bounded)(properties[name])
            for name in names
            if vocabulary.field_for(name, self.takes) == name
        }

    @property
    def required(self) -> list[str]:
        return [vocabulary.published(name) for name in self._required_fields]

    @property
    def _required_fields(self) -> list[str]:
        names: list[str] = schemas.inline(self.takes, Form.ARGUMENTS).get("required", [])
        return names

    def published(self) -> Json:
        """The tool as the protocol lists it and as spec/tools/ stores it."""
        # Other names are not excluded, because older ones are accepted.
        required = {"required": self.required} if self.required else {}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": self.arguments,
                **required,
            },
            "outputSchema": _outline(self.returns),
            "annotations": self.hints.published(),
        }


def _bounded(schema: Json) -> Json:
    """Every text has a maximum length."""
    if schema["type"] != "string" or "enum" in schema or "maxLength" in schema:
        return schema
    return {**schema, "maxLength": TEXT_MAX}


def _brief(schema: Json) -> Json:
    return {name: schema[name] for name in ("type", "default") if name in schema}


def _outline(schema: Json) -> Json:
    """Only the names of the fields and their types, which is what clients check results with."""
    fields = {
        name: {key: one[key] for key in ("type", "anyOf") if key in one}
        for name, one in schema["properties"].items()
    }
    return {"type": "object", "properties": fields}


class ToolCall(Struct, frozen=True):
    """One call of a tool: the account, and the arguments as the client sent them."""

    account: Account
    sent: Mapping[str, Any]
    # The call that a write of a free account pays for, unless it is a replay.
    charge: CallCharge | None = None


class ToolResult(Struct, frozen=True):
    """The result of a tool: one object, and links to related resources."""

    content: Json
    links: list[Json] = []

    def __post_init__(self) -> None:
        # Here, so that no tool can show a hidden character.
        msgspec.structs.force_setattr(self, "content", quoted_text.shown(self.content))


Run = Callable[[ToolCall], Coroutine[Any, Any, ToolResult]]


class BoundTool(Struct, frozen=True):
    """A tool with the function that runs it."""

    tool: Tool
    run: Run
    # Whether a call with these arguments counts against a free account's monthly calls.
    counts: Callable[[Mapping[str, Any]], bool] = lambda _: True
