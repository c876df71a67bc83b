"""What is answered without a key: who we are, what we could do, and how to get a key.

Never the sandbox: a model would take its posts for the user's own.
"""

import json
import pkgutil
from typing import Any, Final

from bowerbird_mcp import __version__
from bowerbird_mcp.configuration import TOKEN, Configuration
from bowerbird_mcp.messages import METHOD_NOT_FOUND, Json, failure, result, version_in

_OLDER: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_NEWEST: Final = "2026-07-28"
_OURSELVES: Final = {"name": "bowerbird", "title": "Bowerbird", "version": __version__}


def answer(message: Json, configuration: Configuration) -> Json:
    request_id, method = message["id"], message["method"]
    made: Json
    if method == "initialize":
        made = _initialized(message)
    elif method == "server/discover":
        made = {"supportedVersions": [_NEWEST], "capabilities": {"tools": {}}, **_fresh()}
    elif method == "tools/list":
        made = {"tools": catalogue(), **(_fresh() if version_in(message) else {})}
    elif method == "tools/call":
        made = {"content": [{"type": "text", "text": advice(configuration)}], "isError": True}
    elif method == "ping":
        made = {}
    else:
        return failure(request_id, METHOD_NOT_FOUND, advice(configuration))
    if version_in(message):
        meta = {"io.modelcontextprotocol/serverInfo": _OURSELVES}
        made = {"resultType": "complete", "_meta": meta, **made}
    return result(request_id, made)


def advice(configuration: Configuration) -> str:
    return (
        f"UNAUTHORIZED: {TOKEN} is not set, so the library cannot be reached. Make an API key at "
        f"{configuration.key_page}, or at /keys of the service's web site where that has another "
        f"address (or with `bowerbird key create`), put it into {TOKEN} in the settings with which "
        "your client starts bowerbird-mcp, and start it anew."
    )


def catalogue() -> list[Any]:
    """The tools as the server of the same release lists them."""
    tools: list[Any] = json.loads(pkgutil.get_data("bowerbird_mcp", "tools.json") or b"[]")
    return tools


def _initialized(message: Json) -> Json:
    params = message.get("params")
    asked = params.get("protocolVersion") if isinstance(params, dict) else None
    return {
        "protocolVersion": asked if asked in _OLDER else _OLDER[-1],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": _OURSELVES,
    }


def _fresh() -> Json:
    """Not to be kept: with a key the answer is another."""
    return {"ttlMs": 0, "cacheScope": "private"}
