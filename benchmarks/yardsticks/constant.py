"""The ceiling: granian and Starlette, with one constant body for every request.

    python -m benchmarks.yardsticks.constant PORT ANSWER

ANSWER is a folder with `headers.json` and `body` of a real page.
"""

import sys
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from benchmarks.yardsticks import serving


def save(folder: Path, headers: dict[str, str], body: bytes) -> None:
    """Saves a real answer, which the ceiling then repeats."""
    folder.mkdir(parents=True, exist_ok=True)
    # granian adds these two headers.
    saved = {name: text for name, text in headers.items() if name not in ("date", "server")}
    (folder / "headers.json").write_bytes(msgspec.json.encode(saved))
    (folder / "body").write_bytes(body)


def app(folder: Path) -> Router:
    body = (folder / "body").read_bytes()
    headers = msgspec.json.decode((folder / "headers.json").read_bytes(), type=dict[str, str])

    async def answer(_: Request) -> Response:
        return Response(body, headers=headers)

    return Router([Route("/v1/bookmarks", answer)])


if __name__ == "__main__":
    serving.run(app(Path(sys.argv[2])), int(sys.argv[1]))
