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
from bowerbird.toolserver.tools.arguments import vocabulary
from bowerbird.toolserver.tools.results import quoted_text

Json = dict[str, Any]

# A client loads the descriptions of all tools at once. So one tool describes an argument that
# several have, and the others list it with its type.
_FILTERS_IN: Final = "list_bookmarks"
DESCRIBED_IN: Final[Mapping[str, str]] = {
    "query": "search_bookmarks",
    **dict.fromkeys(("limit", "cursor", "response_format"), "list_bookmarks"),
    **dict.fromkeys(("sort_by", "sort_order", "label"), "list_bookmarks"),
    **dict.fromkeys(("post_ids", "filter", "dry_run", "expected_count"), "update_bookmarks"),
    "post_id": "similar_bookmarks",
    "idempotency_key": "save_bookmarks",
    "slug": "get_view_bookmarks",
    **dict.fromkeys(("base_query", "default_sort", "triage_buckets", "is_pinned"), "create_view"),
}
_OBJECT: Final[Json] = {"type": "object"}


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

    # Whether the list of tools has the fields of the result, and not only that it is an object.
    describes_result: bool = False

    @property
    def arguments(self) -> dict[str, Json]:
        """The JSON schema of each argument by its published name, required ones first."""
        properties: dict[str, Json] = schemas.inline(self.takes, Form.ARGUMENTS)["properties"]
        names = sorted(properties, key=lambda name: name not in self._required_fields)
        return {
            vocabulary.published(name): self._argument(name, properties[name])
            for name in names
            if vocabulary.field_for(name, self.takes) == name
        }

    def _argument(self, name: str, schema: Json) -> Json:
        by_default = _FILTERS_IN if name in readers(self.takes) else self.name
        described_in = DESCRIBED_IN.get(vocabulary.published(name), by_default)
        return _bounded(schema) if described_in == self.name else _brief(schema)

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
            "outputSchema": _outline(self.returns) if self.describes_result else _OBJECT,
            "annotations": self.hints.published(),
        }


def _bounded(schema: Json) -> Json:
    """Every text has a maximum length, and the fields of items only their types."""
    if schema["type"] == "array" and "properties" in schema.get("items", {}):
        items = schema["items"]
        fields = {vocabulary.published(n): _brief(one) for n, one in items["properties"].items()}
        required = [vocabulary.published(name) for name in items.get("required", ())]
        short = {"type": "object", "properties": fields, "required": required}
        return {**schema, "items": short}
    if schema["type"] != "string" or "enum" in schema or "maxLength" in schema:
        return schema
    return {**schema, "maxLength": TEXT_MAX}


def _brief(schema: Json) -> Json:
    short: Json = {name: schema[name] for name in ("type", "default", "enum") if name in schema}
    # Some clients reject an array without items.
    return {**short, "items": {"type": schema["items"]["type"]}} if "items" in schema else short


def _outline(returns: type[Struct]) -> Json:
    """Only the names of the fields and their types."""
    properties: dict[str, Json] = schemas.inline(returns, Form.RESULT)["properties"]
    return {
        "type": "object",
        "properties": {name: _types(one["type"]) for name, one in properties.items()},
    }


def _types(of: str | list[str]) -> Json:
    # Some clients reject a list of types.
    return {"type": of} if isinstance(of, str) else {"anyOf": [{"type": one} for one in of]}


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
