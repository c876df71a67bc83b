"""Responses without a server: what a server of the same release offers, and why calls fail.

It does not use the sandbox, because a model would mistake its posts for the user's.
"""

import json
import pkgutil
from typing import Any, Final

from bowerbird_mcp import __version__
from bowerbird_mcp.configuration import TOKEN, TOOLS, Configuration
from bowerbird_mcp.messages import METHOD_NOT_FOUND, Json, failure, result, version_in

_OLDER_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_NEWEST_VERSION: Final = "2026-07-28"
_SERVER_INFO: Final = {"name": "bowerbird", "title": "Bowerbird", "version": __version__}
# What a client sends when it starts. Without these responses it would give up.
STARTING: Final = (
    "initialize",
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/templates/list",
    "ping",
)
_CAPABILITIES: Final = {
    "completions": {},
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}
_CACHEABLE: Final = ("server/discover", "tools/list", "prompts/list", "resources/templates/list")
# The field of protocol.json that each method lists.
_LISTED: Final = {"prompts/list": "prompts", "resources/templates/list": "resourceTemplates"}


def respond(
    message: Json, configuration: Configuration, problem: str, code: int = METHOD_NOT_FOUND
) -> Json:
    """Responds from the catalogue. A call or another method gets the problem."""
    request_id, method = message["id"], message["method"]
    content: Json
    if method == "initialize":
        content = _initialize(message)
    elif method == "server/discover":
        content = {
            "supportedVersions": [_NEWEST_VERSION],
            "capabilities": _CAPABILITIES,
            "instructions": _protocol()["instructions"],
        }
    elif method == "tools/list":
        content = {"tools": catalogue(configuration)}
    elif method in ("prompts/list", "resources/templates/list"):
        content = {_LISTED[method]: _protocol()[_LISTED[method]]}
    elif method == "tools/call":
        content = {"content": [{"type": "text", "text": problem}], "isError": True}
    elif method == "ping":
        content = {}
    else:
        return failure(request_id, code, problem)
    if version_in(message):
        meta = {"io.modelcontextprotocol/serverInfo": _SERVER_INFO}
        cached = _not_cacheable() if method in _CACHEABLE else {}
        content = {"resultType": "complete", "_meta": meta, **content, **cached}
    return result(request_id, content)


def how_to_get_a_key(configuration: Configuration) -> str:
    return (
        f"UNAUTHORIZED: {TOKEN} is not set, so the library is not accessible. Create an API key at "
        f"{configuration.key_page} (or at /keys of the website, if that has another address), or "
        f"with `bowerbird key create`. Set {TOKEN} to the key in your client's configuration of "
        "bowerbird-mcp, and restart it."
    )


def catalogue(configuration: Configuration) -> list[Any]:
    """The tools that a server of the same release lists on this connection."""
    return [
        tool
        for tool in _stored("tools.json")
        if configuration.allows(tool["name"], is_reading=tool["annotations"]["readOnlyHint"])
    ]


def unknown_tools(configuration: Configuration) -> list[str]:
    """A sentence for each chosen tool that this release does not have; a newer server may."""
    known = [tool["name"] for tool in _stored("tools.json")] if configuration.tools else []
    return [
        f"{TOOLS}: bowerbird-mcp knows no tool {name!r}.{_suggestion(name, known)}"
        for name in configuration.tools
        if name not in known
    ]


def _suggestion(name: str, known: list[str]) -> str:
    import difflib  # noqa: PLC0415 - slow to import, and rarely needed

    similar = difflib.get_close_matches(name, known, 1)
    return f" Did you mean {similar[0]!r}?" if similar else ""


def _protocol() -> Json:
    content: Json = _stored("protocol.json")
    return content


def _stored(name: str) -> Any:
    return json.loads(pkgutil.get_data("bowerbird_mcp", name) or b"null")


def _initialize(message: Json) -> Json:
    params = message.get("params")
    requested = params.get("protocolVersion") if isinstance(params, dict) else None
    return {
        "protocolVersion": requested if requested in _OLDER_VERSIONS else _OLDER_VERSIONS[-1],
        "capabilities": _CAPABILITIES,
        "serverInfo": _SERVER_INFO,
        "instructions": _protocol()["instructions"],
    }


def _not_cacheable() -> Json:
    """The response may differ once the server responds itself."""
    return {"ttlMs": 0, "cacheScope": "private"}
