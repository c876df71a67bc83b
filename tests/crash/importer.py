"""Imports chunks into a library and is killed in every round.

Run as `python -m tests.crash.importer EMAIL ROUNDS ACKNOWLEDGED`. Each round is a forked process
that is killed with SIGKILL at a random moment. Until then it records every acknowledged chunk.
"""

import asyncio
import os
import random
import sys
from typing import Any

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.imports.intake import Intake
from bowerbird.sources import own_json
from tests.crash import killing
from tests.support import make

CHUNK = 20
# Every chunk changes these posts again, so that counters and labels go up and down.
SHARED = 5
MOST_CHUNKS = 6
A_CHUNK_S = 0.05


def chunk_of(name: int, chance: random.Random) -> list[dict[str, Any]]:
    """New posts with the chunk's name as id prefix, and the posts shared by all chunks."""
    own = [f"{name}{number:02d}" for number in range(CHUNK)]
    shared = [str(number + 1) for number in range(SHARED)]
    return [
        make.post(
            post_id=post_id,
            text=f"words of {post_id} in chunk {name}",
            is_read=chance.random() < 0.5,
            is_archived=chance.random() < 0.3,
            tags=chance.sample(["red", "green", "blue", f"tag {name % 7}"], chance.randrange(4)),
        )
        for post_id in [*own, *shared]
    ]


async def write_until_killed(
    email: str, first: int, acknowledged: int, chance: random.Random, report: killing.Report
) -> None:
    async with opened_library(settings_from_environment()) as opened:
        account = await Accounts(opened.database, system_clock).find(email)
        intake = Intake(opened.database, system_clock)
        for name in range(first, first + 10_000):
            records = [make.raw(record) for record in chunk_of(name, chance)]
            await intake.take(account, [own_json.whole_post(record) for record in records])
            os.write(acknowledged, f"{name}\n".encode())
            report()


def one_life(email: str, number: int, acknowledged: int, chance: random.Random) -> None:
    """Starts a process and kills it at a random moment."""
    first = 1_000_000 + 10_000 * number
    has_ended = killing.one_life(
        lambda report: asyncio.run(write_until_killed(email, first, acknowledged, chance, report)),
        chance,
        killing.Moment(0, MOST_CHUNKS - 1, A_CHUNK_S),
    )
    if has_ended:
        sys.exit(f"round {number} ended by itself")


def main() -> None:
    email, rounds, file = sys.argv[1:]
    acknowledged = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in range(int(rounds)):
        chance = random.Random(number)  # noqa: S311 - a repeatable choice, not a secret
        one_life(email, number, acknowledged, chance)


if __name__ == "__main__":
    main()
