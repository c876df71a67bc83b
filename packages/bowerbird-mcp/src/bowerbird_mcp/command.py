"""The command `bowerbird-mcp`: a tool server on stdin and stdout, or a check of its settings."""

import json
import os
import sys
from typing import Final

from bowerbird_mcp import __version__, configuration, keyless
from bowerbird_mcp.configuration import BadAddressError, Configuration
from bowerbird_mcp.connections import Connections, Exchange, Gone
from bowerbird_mcp.messages import encoded
from bowerbird_mcp.pump import Pump, note

_HELP: Final = f"""\
bowerbird-mcp {__version__}: your library of saved posts, for clients that start a local process.

  bowerbird-mcp            speak the Model Context Protocol on stdin and stdout
  bowerbird-mcp --check    say whether server and key work
  bowerbird-mcp --version  print the release

  {configuration.TOKEN}    an API key of your account
  {configuration.ADDRESS}      address of the tool server; {configuration.LOCAL} when not set
"""
_OK: Final = 200
_WRONG_USE: Final = 2


def main() -> int:
    words = sys.argv[1:]
    if words in (["--help"], ["-h"]):
        sys.stdout.write(_HELP)
        return 0
    if words == ["--version"]:
        sys.stdout.write(f"{__version__}\n")
        return 0
    if words not in ([], ["--check"]):
        note(f"{' '.join(words)!r} is not known; try --help")
        return _WRONG_USE
    try:
        known = configuration.read(os.environ)
    except BadAddressError as error:
        note(str(error))
        return _WRONG_USE
    return _check(known) if words else _serve(known)


def _serve(known: Configuration) -> int:
    if not known.token:
        note(keyless.advice(known))
    try:
        Pump(known, sys.stdout.buffer).run(sys.stdin.buffer)
    except (KeyboardInterrupt, BrokenPipeError):
        # The client is gone; nothing is left to say, and nothing may be said at the exit either.
        os._exit(0)
    return 0


def _is_result(body: bytes) -> bool:
    """Whether the call was answered; a page that asks to sign in is a success of HTTP too."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return False
    result = said.get("result") if isinstance(said, dict) else None
    return isinstance(result, dict) and "content" in result and not result.get("isError")


def _check(known: Configuration) -> int:
    """A call that costs nothing, as a client would make it."""
    if not known.token:
        note(keyless.advice(known))
        return 1
    call = {"name": "count_bookmarks", "arguments": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    connections = Connections(known)
    try:
        status, _, body = connections.post(encoded(message), {}, Exchange())
    except Gone as gone:
        note(str(gone))
        return 1
    finally:
        connections.close()
    if status != _OK or not _is_result(body):
        note(f"{known.address} answered {status}: {body.decode('utf-8', 'replace')[:300]}")
        return 1
    sys.stdout.write(f"{known.address} answers, and the key works.\n")
    return 0
