"""`make agent-trial`: every wish in a library of its own, and a table of what each cost."""

import json
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from endurance.agent_trial import library
from endurance.agent_trial.endpoint import Endpoint, Unusable, from_environment
from endurance.agent_trial.library_tools import LibraryTools
from endurance.agent_trial.trial import Played, play, table
from endurance.agent_trial.wishes import WISHES, Wish
from tests.support.serving import Server, serving


def main() -> int:
    try:
        endpoint, wishes = from_environment(), _chosen()
        with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
            file = Path(folder) / "posts.json"
            file.write_text(json.dumps(library.records(datetime.now(UTC))), encoding="utf-8")
            played = [_played(server, file, endpoint, wish) for wish in wishes]
    except Unusable as problem:
        print(problem, file=sys.stderr)
        return 2
    print(table(played))
    fulfilled = sum(one.is_fulfilled for one in played)
    cheap = sum(one.is_fulfilled and one.is_cheap for one in played)
    print(f"{endpoint.model}: {fulfilled} of {len(played)} fulfilled, {cheap} within the budget.")
    return 0 if fulfilled == len(played) else 1


def _chosen() -> tuple[Wish, ...]:
    names = [name.strip() for name in os.environ.get("AGENT_WISHES", "").split(",") if name.strip()]
    known = {wish.name: wish for wish in WISHES}
    if unknown := [name for name in names if name not in known]:
        raise Unusable(f"No wish is named '{unknown[0]}'. Wishes: {', '.join(known)}.")
    return tuple(known[name] for name in names) or WISHES


def _played(server: Server, file: Path, endpoint: Endpoint, wish: Wish) -> Played:
    email = f"{WISHES.index(wish)}@example.com"
    server.run("account", "create", email, "--plan", "pro")
    server.run("import", email, str(file))
    key = server.run("key", "create", email).splitlines()[-1]
    one = play(wish, endpoint, LibraryTools(f"http://localhost:{server.port}/mcp", key))
    print(f"{wish.name}: {one.calls} calls, {one.tokens:,} tokens", file=sys.stderr)
    return one


if __name__ == "__main__":
    sys.exit(main())
