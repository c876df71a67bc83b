"""Runs the rules of all accounts until it is killed, or until nothing is due.

Run as `python -m tests.crash.rule_runner [TURNS]`. Prints a line after each transaction. After that
many, it waits at the end of the next one until it is killed.
"""

import asyncio
import sys

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.library.labels.suggestions import LabelSuggestions
from bowerbird.library.rules import passes
from bowerbird.library.rules.matching import RuleNearness
from bowerbird.library.rules.running import RuleRuns
from bowerbird.library.vectors.semantic_search import SemanticSearch
from tests.crash import killing


async def run(report: killing.Report) -> None:
    async def progress(_done: int, _total: int) -> None:
        report()

    passes.POSTS_PER_TURN = 20  # type: ignore[misc]
    async with opened_library(settings_from_environment()) as opened:
        meaning = SemanticSearch(opened.database)
        suggest = LabelSuggestions(opened.database, meaning).of_posts
        near = RuleNearness(suggest, meaning, system_clock)
        runs = RuleRuns(opened.database, system_clock, near)
        while due := await runs.due_accounts(0):
            await runs.run(due[0], progress)


if __name__ == "__main__":
    turns = int(sys.argv[1]) if sys.argv[1:] else None
    report = killing.up_to(turns, lambda: print("turn", flush=True))  # noqa: T201 - the test reads it
    asyncio.run(run(report))
