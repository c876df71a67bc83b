"""The `bowerbird-mcp` command: an MCP server on stdin and stdout, or a check of its settings."""

import json
import os
import sys
from typing import Final

from bowerbird_mcp import __version__, bundled, configuration, http_failures
from bowerbird_mcp.bridge import Bridge
from bowerbird_mcp.configuration import BadConfigurationError, Configuration
from bowerbird_mcp.connections import Call, CallFailedError, Connections
from bowerbird_mcp.http_failures import Answer
from bowerbird_mcp.messages import encoded
from bowerbird_mcp.problems import log

_HELP: Final = f"""\
bowerbird-mcp {__version__}: your Bowerbird library for MCP clients that start a local process.

  bowerbird-mcp            run an MCP server on stdin and stdout
  bowerbird-mcp --check    check the URL of the server and the API key
  bowerbird-mcp --version  print the version

Environment variables:
  {configuration.TOKEN}    an API key of your account (required)
  {configuration.ADDRESS}      URL of the MCP server (default: {configuration.DEFAULT_ADDRESS})
  {configuration.READ_ONLY}  1 leaves out the tools that change the library
  {configuration.TOOLS}    names of the only tools to offer, separated by commas
"""
_OK: Final = 200
_USAGE_ERROR: Final = 2


def main() -> int:
    arguments = sys.argv[1:]
    if arguments in (["--help"], ["-h"]):
        sys.stdout.write(_HELP)
        return 0
    if arguments == ["--version"]:
        sys.stdout.write(f"{__version__}\n")
        return 0
    if arguments not in ([], ["--check"]):
        log(f"Unknown arguments: {' '.join(arguments)}. See bowerbird-mcp --help.")
        return _USAGE_ERROR
    try:
        settings = configuration.read(os.environ)
    except BadConfigurationError as error:
        log(str(error))
        return _USAGE_ERROR
    return _check(settings) if arguments else _serve(settings)


def _serve(settings: Configuration) -> int:
    if not settings.token:
        log(bundled.how_to_get_a_key(settings))
    for problem in bundled.unknown_tools(settings):
        log(problem)
    try:
        Bridge(settings, sys.stdout.buffer).run(sys.stdin.buffer)
    except (KeyboardInterrupt, BrokenPipeError):
        # The client has exited. A normal exit would try to flush stdout and print an error.
        os._exit(0)
    return 0


def _check(settings: Configuration) -> int:
    """Lists the tools, as a client does. A tool itself may be excluded on this connection."""
    if not settings.token:
        log(bundled.how_to_get_a_key(settings))
        return 1
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    connections = Connections(settings)
    try:
        answer = connections.post(encoded(message), {}, Call())
    except CallFailedError as error:
        log(str(error))
        return 1
    finally:
        connections.close()
    if answer.status != _OK or not _is_tool_list(answer.body):
        log(_what_is_wrong(answer, settings))
        return 1
    sys.stdout.write(f"{settings.address} answers, and the key works.\n")
    return 0


def _what_is_wrong(answer: Answer, settings: Configuration) -> str:
    if answer.status == _OK and answer.content_type == "application/json":
        return f"{settings.address} returned {answer.body.decode('utf-8', 'replace')[:300]}"
    return http_failures.sentence(answer, settings)


def _is_tool_list(body: bytes) -> bool:
    """Whether the server responded. The status is not enough: a sign-in page has 200 as well."""
    try:
        response = json.loads(body)
    except (ValueError, RecursionError):
        return False
    result = response.get("result") if isinstance(response, dict) else None
    return isinstance(result, dict) and isinstance(result.get("tools"), list)
