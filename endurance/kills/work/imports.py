"""`bowerbird import` that is killed: each file is imported again until it is complete."""

import asyncio
import json
from functools import partial
from typing import Any, Final

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.settings import Settings
from bowerbird.storage.accounts.account_removal import AccountExportStore
from endurance.kills.trials import EMAIL, Kind, Library, Trial
from tests.crash.killing import Moment, Report
from tests.support import make

_FILES: Final = 4
_NEW_PER_FILE: Final = 400
# About as long as an import takes.
_MOMENT: Final = Moment(0, 0, 0.3)
_MOST_KILLS: Final = 5


def _text(number: int, file: int) -> str:
    """Every second post changes in each file after its first."""
    first = number // _NEW_PER_FILE
    return f"words of {number} in file {file if number % 2 else first}"


def _write_files(library: Library) -> None:
    for file in range(_FILES):
        posts = [
            make.post(post_id=str(1 + number), text=_text(number, file), sort_index=1 + number)
            for number in range((file + 1) * _NEW_PER_FILE)
        ]
        for post in posts:
            post["tweet_details"]["link"] = f"https://x.com/ada/status/{post['post_id']}"
        (library.folder / f"{file}.json").write_text(json.dumps(posts))


def _import(trial: Trial) -> None:
    for file in range(_FILES):
        path = str(trial.library.folder / f"{file}.json")
        trial.until_finished(
            partial(_life, trial.library, path),
            _MOMENT,
            most_kills=_MOST_KILLS,
        )
    posts, new, changed = asyncio.run(_stored(trial.settings))
    total = _FILES * _NEW_PER_FILE
    expected = {str(1 + number): _text(number, _FILES - 1) for number in range(total)}
    assert posts == expected
    # Each post was new in one run, whichever, and each change was made in one.
    assert new == total
    assert changed == sum(file * _NEW_PER_FILE // 2 for file in range(_FILES))


def _life(library: Library, path: str, _: Report) -> None:
    library.command("import", EMAIL, path)


async def _stored(settings: Settings) -> tuple[dict[str, str], int, int]:
    """The texts of all posts, and how many posts the runs added and changed."""
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        pages = AccountExportStore(opened.database).bookmarks(account)
        found: list[dict[str, Any]] = [json.loads(one) async for page in pages for one in page]
        runs = (await ImportRuns(opened.database, system_clock).list(account, 100, None)).runs
    assert len({post["post_id"] for post in found}) == len(found)
    return (
        {post["post_id"]: post["tweet_details"]["text"] for post in found},
        sum(run.counts.new for run in runs),
        sum(run.counts.changed for run in runs),
    )


IMPORTS: Final = Kind(_import, _write_files)
