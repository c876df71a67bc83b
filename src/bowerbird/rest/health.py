"""The health checks: whether the process runs, and whether it can answer requests."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from bowerbird.errors import Refusal
from bowerbird.storage.database import Database


def router(database: Database, paths: Sequence[str]) -> Router:
    async def alive(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def ready(_: Request) -> Response:
        try:
            await database.require_ready()
        except Refusal as refused:
            return PlainTextResponse(f"{refused}\n", 503, headers=refused.headers)
        return PlainTextResponse("ready\n")

    return Router(
        [Route(path, ready if path == "/readyz" else alive) for path in paths],
        redirect_slashes=False,
    )
