"""Plan gates: which fields of a request need a paid plan."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any

from msgspec import Struct

from bowerbird.requests.fields import metadata_of


class Gate(StrEnum):
    FILTERING = "filtering"
    PAGING = "paging"
    MEANING = "meaning"
    LABELLING = "labelling"


@cache
def gates_of(kind: type[Struct]) -> dict[str, Gate]:
    """The gated fields of a request, by their names on the wire."""
    gated = ((name, meta.get("gate")) for name, meta in metadata_of(kind).items())
    return {name: gate for name, gate in gated if gate is not None}


def gates_for(kind: type[Struct], sent: Mapping[str, Any] | Iterable[str]) -> dict[str, Gate]:
    """The gates that these fields of a request have to pass, and their values if they are given."""
    gates = gates_of(kind)
    found = {name: gates[name] for name in sorted(sent) if name in gates}
    if isinstance(sent, Mapping):
        for name, meta in metadata_of(kind).items():
            if "gates_in" in meta and isinstance(sent.get(name), str):
                found |= meta["gates_in"](sent[name])
    return found
