"""Reads settings from environment variables, and secrets from the files that these name."""

import difflib
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from bowerbird.settings.values import PREFIX, BadSetting

_GONE: Final = {
    "BOWERBIRD_SIGNUP_PLAN": "was replaced by BOWERBIRD_DEFAULT_PLAN",
    "BOWERBIRD_HTTP2_PORT": "was removed; a proxy reaches the service over HTTP/1.1 only",
}


def read(env: Mapping[str, str], table: Any) -> dict[str, Any]:
    """The values of all variables that start with the prefix, by the name of their field."""
    known = {PREFIX + f.name.upper(): f for f in fields(table)}
    values: dict[str, Any] = {}
    for variable, given in env.items():
        if not variable.startswith(PREFIX):
            continue
        name, text = _resolve(variable, given, known)
        values[known[name].name] = _convert(name, text, type(known[name].default))
    return values


def without_settings() -> dict[str, str]:
    """The environment for another process, which needs none of our secrets."""
    return {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}


def _resolve(variable: str, given: str, known: Mapping[str, Any]) -> tuple[str, str]:
    """The setting of a variable, and its text. NAME_FILE contains the path of a secret's file."""
    if variable in known:
        return variable, given
    if variable in _GONE:
        raise BadSetting(f"{variable} {_GONE[variable]}. See docs/settings.md.")
    name = variable.removesuffix("_FILE")
    if name == variable or name not in known or not known[name].metadata["secret"]:
        near = difflib.get_close_matches(variable, known, n=1, cutoff=0)
        raise BadSetting(
            f"{variable} is not a setting. Did you mean {near[0]}? See docs/settings.md."
        )
    try:
        return name, Path(given).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{variable}: cannot read {given!r}: {error}.") from None


def _convert(name: str, text: str, kind: type) -> object:
    if not text and issubclass(kind, Path):
        raise BadSetting(
            f"{name} is empty. Leave it out for the folder data, or set it to . for the current "
            "folder."
        )
    try:
        return kind(text)
    except ValueError:
        unit = " of seconds" if name.endswith("_S") else ""
        raise BadSetting(f"{name}={text!r} must be a whole number{unit}.") from None
