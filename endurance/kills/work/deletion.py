"""The deletion of an account that is killed: what it has started is finished later."""

import asyncio
import json
from typing import Any, Final

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import AccountDeletion, Accounts
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.files import Files
from endurance.kills.trials import EMAIL, Kind, Library, Trial
from tests.crash.killing import Moment, Report
from tests.support import make
from tests.support.imports import dump_of

_LEAVING: Final = "leaving@example.com"
_STAYS: Final = 200
_LEAVES: Final = 1_000
_FILES: Final = 20
_FEW: Final = 10


def _fill(library: Library) -> tuple[int, dict[str, Any]]:
    """The owner stays. Returns the id of the other account, and all that the owner has."""
    library.command("account", "create", _LEAVING)
    for email, count in ((EMAIL, _STAYS), (_LEAVING, _LEAVES)):
        file = library.folder / "posts.json"
        file.write_text(json.dumps([make.post(tags=["kept"]) for _ in range(count)]))
        library.command("import", email, str(file))
    account_id, rows = asyncio.run(_start(library.settings))
    for folder in ("media", "exports"):
        for number in range(_FILES):
            place = _folder(library, folder, account_id) / str(number)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(b"content")
    return account_id, rows


async def _start(settings: Settings) -> tuple[int, dict[str, Any]]:
    async with opened_library(settings) as opened:
        accounts = Accounts(opened.database, system_clock)
        leaving = (await accounts.find(_LEAVING)).account_id
        rows = await dump_of(opened.database, await accounts.find(EMAIL))
        await AccountDeletion(opened.database).start(leaving)
        return leaving, rows


def _delete(trial: Trial) -> None:
    account_id, rows = trial.state
    trial.until_finished(lambda report: asyncio.run(_complete(report)), Moment(0, 1, 0.02))
    assert asyncio.run(_left(trial.settings)) == ([EMAIL], rows)
    for folder in ("media", "exports"):
        place = _folder(trial.library, folder, account_id)
        assert not [path for path in place.rglob("*") if path.is_file()]


async def _complete(report: Report) -> None:
    """Does what the recurring task of a worker does."""
    settings = settings_from_environment()
    async with opened_library(settings) as opened:
        deletion = AccountDeletion(opened.database)
        for account_id in await AccountStore(opened.database).partly_deleted(_FEW):
            await deletion.complete(
                account_id, Files(settings), lambda _done, _total: _tell(report)
            )


def _tell(report: Report) -> None:
    report()


async def _left(settings: Settings) -> tuple[list[str], dict[str, Any]]:
    async with opened_library(settings) as opened:
        accounts = Accounts(opened.database, system_clock)
        emails = [member.email for member in await accounts.all()]
        return emails, await dump_of(opened.database, await accounts.find(EMAIL))


def _folder(library: Library, name: str, account_id: int) -> Any:
    return library.settings.data_dir / "files" / name / str(account_id)


DELETION: Final = Kind(_delete, _fill)
