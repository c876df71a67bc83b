"""Refusals of requests that no router has seen, in the form of the part that they were sent to."""

from typing import Final

from bowerbird.errors import Refusal
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import CORS, ENVIRONMENT, Reply

SANDBOX: Final = "/v1/sandbox"
_API: Final = "/v1/"


def refusal(refused: Refusal, upgrade_url: str, path: str) -> Reply:
    """`path`: as far as it was read."""
    if path == SANDBOX or path.startswith(f"{SANDBOX}/"):
        # Every response of the sandbox says that it is one.
        reply = envelope.marked_refusal(refused, upgrade_url)
        return Reply(reply.status, [*reply.headers, ENVIRONMENT, *CORS], reply.body)
    reply = envelope.refusal(refused, upgrade_url)
    if path.startswith(_API):
        return Reply(reply.status, [*reply.headers, *CORS], reply.body)
    return reply
