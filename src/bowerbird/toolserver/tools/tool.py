"""A tool: its published form as data, and the function that runs it.

The modules of this package do not import the SDK of the protocol.
"""

from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.library.access.call_allowance import CallCharge
from bowerbird.model.accounts import Account
from bowerbird.requests import schemas
from bowerbird.requests.schemas import Form
from bowerbird.toolserver.tools import vocabulary
from bowerbird.toolserver.tools.results import quoted_text

Json = dict[str, Any]

# What every client assumes anyway.
_USUAL: Final = (("default", False), ("minimum", 0), ("minimum", 1), ("minItems", 1))
_UNLISTED: Final = ("additionalProperties", "minLength", "maxLength", "pattern")


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
    # Leaves out the fields that have their default.
    returns: type[Struct]
    # If it returns something else for posts that post_ids names.
    returns_by_ids: type[Struct] | None = None
    hints: Hints

    @property
    def arguments(self) -> dict[str, Json]:
        """The JSON schema of each argument by its published name, required ones first."""
        properties: dict[str, Json] = _schema(self.takes)["properties"]
        names = sorted(properties, key=lambda name: name not in self.required)
        return {name: properties[name] for name in names}

    @property
    def required(self) -> list[str]:
        names: list[str] = _schema(self.takes).get("required", [])
        return names

    def published(self) -> Json:
        """The tool as the protocol lists it. Its result describes itself: see `documented`."""
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
            "annotations": self.hints.published(),
        }

    def documented(self) -> Json:
        """The tool as spec/tools/ stores it: also with the schema of its result."""
        kinds = [kind for kind in (self.returns, self.returns_by_ids) if kind is not None]
        results = [schemas.inline(kind, Form.RESULT) for kind in kinds]
        return {**self.published(), "outputSchema": {"type": "object", "anyOf": results}}


@cache
def _schema(takes: type[Struct]) -> Json:
    return _in_published_words(schemas.inline(takes, Form.ARGUMENTS))


def _in_published_words(schema: Json) -> Json:
    """The schema with the published names of fields, also in the objects inside it.

    Without the lengths and patterns of texts: a text that does not fit is refused with a sentence,
    and not every client accepts the keywords.
    """
    shown = {name: part for name, part in schema.items() if name not in _UNLISTED}
    shown = {n: part for n, part in shown.items() if (n, part) not in _USUAL}
    if "items" in shown:
        shown["items"] = _in_published_words(shown["items"])
    if "properties" in shown:
        fields: dict[str, Json] = shown["properties"]
        names = {name: vocabulary.published(name) for name in fields}
        shown["properties"] = {
            names[name]: _in_published_words(field)
            for name, field in fields.items()
            # An older name of another field is accepted, but not listed.
            if names[name] == name or names[name] not in fields
        }
    if "required" in shown:
        shown["required"] = [vocabulary.published(name) for name in shown["required"]]
    return shown


class ToolCall(Struct, frozen=True):
    """One call of a tool: the account, and the arguments as the client sent them."""

    account: Account
    sent: Mapping[str, Any]
    # The call that a write of a free account pays for, unless it is a replay.
    charge: CallCharge | None = None


class ToolResult(Struct, frozen=True):
    """What a call returns: one object, and links to related resources."""

    # A struct, or its JSON if it was stored with an idempotency key.
    content: Struct | Json
    links: list[Json] = []

    def __post_init__(self) -> None:
        # Here, so that no tool can show a hidden character.
        shown = quoted_text.shown(msgspec.to_builtins(self.content))
        msgspec.structs.force_setattr(self, "content", shown)


Run = Callable[[ToolCall], Coroutine[Any, Any, ToolResult]]


class BoundTool(Struct, frozen=True):
    """A tool with the function that runs it."""

    tool: Tool
    run: Run
    # Whether a call with these arguments counts against a free account's monthly calls.
    counts: Callable[[Mapping[str, Any]], bool] = lambda _: True
