"""A real server with a small library, and the settings to call its tools."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support import make, serving
from tests.support.serving import Server

PACKAGE = Path(__file__).parents[3] / "packages" / "bowerbird-mcp" / "src"
STDIO_COMMAND = (sys.executable, "-m", "bowerbird_mcp")


@dataclass(frozen=True)
class Running:
    server: Server
    key: str
    # Ids of the posts, oldest first.
    post_ids: list[str]

    @property
    def address(self) -> str:
        return f"http://localhost:{self.server.port}/mcp"

    def environment(self, key: str | None = None) -> dict[str, str]:
        """The environment in which bowerbird-mcp connects to this server."""
        return stdio_environment(SERVICE_URL=self.address, SERVICE_TOKEN=key or self.key)


def stdio_environment(**variables: str) -> dict[str, str]:
    known = {k: v for k, v in os.environ.items() if not k.startswith("SERVICE_")}
    return {**known, "PYTHONPATH": str(PACKAGE), **variables}


@contextmanager
def running(folder: Path) -> Iterator[Running]:
    with serving.serving(folder) as server:
        key = server.new_key()
        posts = [make.post(text=f"post about owls {n}") for n in range(3)]
        file = folder / "posts.json"
        file.write_text(json.dumps(posts), encoding="utf-8")
        server.run("import", "you@example.com", str(file))
        yield Running(server, key, [post["post_id"] for post in posts])
