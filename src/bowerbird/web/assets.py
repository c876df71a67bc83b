"""Style sheets, scripts and images. Their paths contain a hash, so browsers cache them forever."""

import hashlib
import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from bowerbird.wire.responses.documents import FOREVER, Document

_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
}
# In scripts, comments stand on lines of their own. They are a fifth of what browsers would load.
_COMMENTS: Final = re.compile(
    rb"^[ \t]*(?://[^\n]*|/\*\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n", re.MULTILINE
)


@cache
def files() -> dict[str, Document]:
    """Path -> file. A fixed table instead of a folder lookup, so no path can reach other files."""
    return {
        _path(name, body): Document(body, _type(name), FOREVER) for name, body in _static_files()
    }


@cache
def paths() -> dict[str, str]:
    """File name in `static/` -> path."""
    return {name: _path(name, body) for name, body in _static_files()}


def icon() -> Document:
    """The logo at a path that never changes, for documents that link to it."""
    return Document(dict(_static_files())["mark.svg"], _TYPES["svg"], b"public, max-age=86400")


@cache
def _static_files() -> tuple[tuple[str, bytes], ...]:
    folder = resources.files("bowerbird.web").joinpath("static")
    found = [entry for entry in folder.iterdir() if entry.name.rpartition(".")[2] in _TYPES]
    return tuple((entry.name, _sent(entry)) for entry in sorted(found, key=lambda e: e.name))


def _sent(file: Traversable) -> bytes:
    body = file.read_bytes()
    return _COMMENTS.sub(b"", body) if file.name.endswith(".js") else body


def _type(name: str) -> str:
    return _TYPES[name.rpartition(".")[2]]


def _path(name: str, body: bytes) -> str:
    stem, _, kind = name.rpartition(".")
    return f"/static/{stem}.{hashlib.blake2b(body, digest_size=6).hexdigest()}.{kind}"
