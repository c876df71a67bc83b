"""Reads the arguments of a tool call into the struct that the tool declares."""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from msgspec import Struct

from bowerbird import errors
from bowerbird.library.access import plans
from bowerbird.model.accounts import Account
from bowerbird.requests import decoding
from bowerbird.requests.gates import Gate, gates_for
from bowerbird.toolserver.tools.tool import Tool, ToolCall

T = TypeVar("T", bound=Struct)

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_FLAGS: Final = {"true": True, "false": False}


def read(tool: Tool, call: ToolCall, takes: type[T], **gates: Gate) -> T:
    """The arguments of a call. The plan is checked first, by the arguments that were sent.

    `gates` has the plan gates that depend on the value of an argument.
    """
    check_plan(call.account, takes, call.sent, gates)
    schemas = tool.arguments
    values = {
        name: _normal(value, schemas.get(name, {}).get("type"))
        for name, value in call.sent.items()
        # null means not sent, but an unknown argument is refused whatever its value.
        if value is not None or name not in takes.__struct_encode_fields__
    }
    _check_lengths(tool, values)
    return decoding.convert(values, takes)


def check_plan(
    account: Account, takes: type[Struct], sent: Mapping[str, Any], gates: Mapping[str, Gate]
) -> None:
    plans.check_fields(account, {**gates_for(takes, named(sent)), **gates})


def named(sent: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were sent with a value."""
    return {name: value for name, value in sent.items() if value not in (None, "", [])}


def _normal(value: Any, kind: str | None) -> Any:
    """Models also write 20.0 or "20" for 20, and "true" for true."""
    if kind == "integer":
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and _WHOLE.fullmatch(value):
            return int(value)
    if kind == "boolean" and isinstance(value, str):
        return _FLAGS.get(value.lower(), value)
    return value


def _check_lengths(tool: Tool, values: Mapping[str, Any]) -> None:
    schemas = tool.arguments
    for name, value in values.items():
        most = schemas.get(name, {}).get("maxLength")
        if isinstance(value, str) and most is not None and len(value) > most:
            raise errors.invalid(name, f"must have at most {most:,} characters, got {len(value):,}")
