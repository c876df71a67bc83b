"""A library for tests of the command line: settings in variables, and a real database."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import asyncpg
from click.testing import CliRunner

from bowerbird.cli import program
from bowerbird.cli.context import opened_library
from bowerbird.library.imports.intake import Intake
from bowerbird.model.accounts import Membership
from bowerbird.model.keys import new_account_id
from bowerbird.settings import Settings
from bowerbird.sources import own_json
from bowerbird.storage.accounts.accounts import AccountStore

ROOT = Path(__file__).parents[2]
EMAIL = "alice@example.com"

# Imports posts until a file appears, and fails if a single one is refused.
WRITER = """
import os, sys
from pathlib import Path
from tests.cli.libraries import Library
library = Library({k: v for k, v in os.environ.items() if k.startswith("BOWERBIRD_")})
print("ready", flush=True)
number = 1000
while not Path(sys.argv[1]).exists():
    library.fill(3, first=number)
    number += 3
print(number)
"""


@dataclass(frozen=True)
class Ran:
    """The exit code of a command, its whole output, and its standard output alone."""

    code: int
    text: str
    out: str


@dataclass(frozen=True)
class Library:
    environment: dict[str, str]

    @property
    def settings(self) -> Settings:
        return Settings.from_env(self.environment)

    @property
    def folder(self) -> Path:
        return self.settings.data_dir

    def run(self, *arguments: object, answer: str | None = None) -> Ran:
        """Runs a command in this process; the sentence of a failure is part of its output."""
        result = CliRunner(env=self.environment).invoke(
            program, [str(a) for a in arguments], input=answer
        )
        is_exit = result.exception is None or isinstance(result.exception, SystemExit)
        text = result.output if is_exit else f"Error: {result.exception}"
        return Ran(result.exit_code, text, result.stdout)

    def start(
        self, *arguments: object, script: str | None = None, **options: Any
    ) -> subprocess.Popen[str]:
        """Starts a command, or a script, as a separate process."""
        program = ["-m", "bowerbird"] if script is None else ["-c", script]
        return subprocess.Popen(
            [sys.executable, *program, *map(str, arguments)],
            env={**os.environ, **self.environment},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def fill(self, count: int, *, email: str = EMAIL, first: int = 1) -> None:
        self.fill_each(count, [email], first=first)

    def fill_each(self, count: int, emails: Iterable[str], *, first: int = 1) -> None:
        """Opens the library once for all of them."""
        posts = [post(number) for number in range(first, first + count)]
        asyncio.run(self._fill(emails, posts))

    async def _fill(self, emails: Iterable[str], posts: Sequence[bytes]) -> None:
        async with opened_library(self.settings) as opened:
            accounts = AccountStore(opened.database)
            intake = Intake(opened.database, opened.clock)
            for email in emails:
                membership = Membership(new_account_id(), email, "pro", 0, opened.clock())
                await accounts.create(membership, email)
                account_id = await accounts.id_of_email(email)
                assert account_id is not None
                account = await accounts.by_id(account_id, 202601)
                assert account is not None
                await intake.take(account, [own_json.whole_post(raw) for raw in posts])

    def add_other_rows(self, count: int, *, email: str = EMAIL) -> None:
        """Adds stored responses, deleted posts, jobs, digests, imports and a Smart View."""
        account_id = self.value(f"SELECT account_id FROM person WHERE email = '{email}'")  # noqa: S608 - ours
        blob = "x'7b7d'" if self.settings.is_sqlite else "'\\x7b7d'"
        numbers = range(count)
        responses = ", ".join(
            f"({account_id}, 'k{n}', {blob}, 200, '[]', {blob}, 0)" for n in numbers
        )
        trash = ", ".join(f"({account_id}, '9{n:05d}', {blob}, {n})" for n in numbers)
        view = f"({account_id}, 'v', 'V', '', '{{\"q\": \"birds\"}}', 'null', '[]', 0, 0, 1, TRUE)"
        self.sql(f"INSERT INTO idempotency VALUES {responses}")  # noqa: S608 - ours
        self.sql(f"INSERT INTO trash VALUES {trash}")  # noqa: S608 - ours
        self.sql(f"INSERT INTO smart_view VALUES {view}")  # noqa: S608 - ours
        self.sql(f"INSERT INTO deleted_view VALUES ({account_id}, 'd', '{{}}', 0)")  # noqa: S608 - ours
        self.add_rules(account_id)
        self.add_jobs(account_id, *(f"j{number}" for number in numbers))
        self.add_digests(account_id, count)
        self.add_imports(account_id, count)

    def add_rules(self, account_id: int) -> None:
        """Adds a rule, how far it is, and what it did."""
        body = '{"when": "arrives", "actions": [{"do": "stop"}]}'
        values = f"({account_id}, 'r', 1, 'R', '{body}', TRUE, 0, 0, 0, 0, NULL, 0, '')"
        self.sql(f"INSERT INTO rule VALUES {values}")  # noqa: S608 - ours
        self.sql(f"INSERT INTO rule_state VALUES ({account_id}, TRUE, 1, 0, NULL)")  # noqa: S608 - ours
        self.sql(f"INSERT INTO rule_log VALUES ({account_id}, 1, 'r', 0, '{{}}')")  # noqa: S608 - ours

    def add_imports(self, account_id: int, count: int) -> None:
        """Adds runs of imports, each with a change and a label, and marks of deleted posts."""
        blob = "x'7b7d'" if self.settings.is_sqlite else "'\\x7b7d'"
        numbers = range(1, count + 1)
        rows = {
            "deletion": (f"'8{n:05d}', {n}, 0, 2, 3" for n in numbers),
            "import_run": (
                f"{n}, 'r{n}', 'x', 'full', 'c', '', 'finished', 'end', '', 1, 2,"
                " 1, 0, 0, 0, 0, 0, 0, 0, 3, 4"
                for n in numbers
            ),
            "import_change": (f"{n}, 1, {blob}" for n in numbers),
            "import_label": (f"{n}, 1, 'a'" for n in numbers),
            "replaced_annotation": (f"'7{n:05d}', 'note', {blob}, 0" for n in numbers),
            "unindexed_note": (f"{n}" for n in numbers),
        }
        for table, values in rows.items():
            joined = ", ".join(f"({account_id}, {row})" for row in values)
            self.sql(f"INSERT INTO {table} VALUES {joined}")  # noqa: S608 - ours

    def add_digests(self, account_id: int, count: int) -> None:
        """Adds one digest per day from 1 January 2026."""
        text = '{"saved_count": 1, "saved": ["1"], "introduction": "Hello."}'
        blob = f"x'{text.encode().hex()}'" if self.settings.is_sqlite else f"'{text}'"
        rows = ", ".join(
            f"({account_id}, 'daily', {day}, {day + 1}, 'UTC', 0, {blob}, 'none', 0, 0, '')"
            for day in range(20_454, 20_454 + count)
        )
        self.sql(f"INSERT INTO digest VALUES {rows}")  # noqa: S608 - ours

    def add_jobs(self, account_id: int, *job_ids: str, state: str = "failed") -> None:
        """Adds ended jobs, or pending ones of a kind that no worker runs."""
        blob = "x'7b7d'" if self.settings.is_sqlite else "'\\x7b7d'"
        ended = "NULL" if state == "pending" else "3"
        rows = ", ".join(
            f"({account_id}, '{job_id}', 'errand', NULL, {blob}, 10, '{state}', 3, 3, 0, 1, 2,"
            f" NULL, 'It broke.', 1, 2, {ended}, NULL)"
            for job_id in job_ids
        )
        self.sql(f"INSERT INTO job VALUES {rows}")  # noqa: S608 - ours

    def add_version_use(self, *, email: str = EMAIL, last_day: int = 20_000) -> None:
        """Adds a call of v1, and the email about its end."""
        account_id = self.value(f"SELECT account_id FROM person WHERE email = '{email}'")  # noqa: S608 - ours
        self.sql(f"INSERT INTO version_use VALUES ({account_id}, 'v1', {last_day})")  # noqa: S608 - ours
        self.sql(f"INSERT INTO sunset_notice VALUES ({account_id}, 'v1', 'sent', 0)")  # noqa: S608 - ours

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Runs a statement on the database directly, without the service."""
        if self.settings.is_sqlite:
            connection = apsw.Connection(str(self.folder / "bowerbird.db"))
            try:
                connection.set_busy_timeout(10_000)
                return list(connection.execute(statement).fetchall())
            finally:
                connection.close()
        return asyncio.run(self._postgres(statement))

    async def _postgres(self, statement: str) -> list[tuple[Any, ...]]:
        connection = await asyncpg.connect(self.settings.database_url)
        try:
            return [tuple(row) for row in await connection.fetch(statement)]
        finally:
            await connection.close()

    def value(self, statement: str) -> Any:
        return self.sql(statement)[0][0]


def sqlite_library(folder: Path) -> Library:
    return Library({"BOWERBIRD_DATA_DIR": str(folder), "BOWERBIRD_DATABASE_URL": ""})


def post(number: int) -> bytes:
    return json.dumps(
        {
            "post_id": str(number),
            "tweet_details": {"text": f"Post {number} about #birds\nand \u9ce5 nests"},
            "author_username": "bower",
            "author_details": {"name": "Bower Bird"},
            "bookmarked_at": "2026-07-18T08:21:13+00:00",
            "sort_index": 1000 + number,
            "tags": ["Birds", "apples"][: number % 3],
            "is_read": number % 2 == 0,
            "is_archived": number % 5 == 0,
        }
    ).encode()


def posts_so_far(library: Library) -> int:
    return int(library.value("SELECT count(*) FROM bookmark"))


def posts(library: Library) -> int:
    number = posts_so_far(library)
    assert library.value("SELECT total FROM library") == number
    return number
