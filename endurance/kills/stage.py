"""Prepares a library once per kind of work and database, and copies it for each trial."""

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from endurance.kills.children import Beside, Child
from endurance.kills.trials import POSTGRES, SQLITE, Kind, Library, Preparation
from tests.support import databases
from tests.support.engines.postgres_binaries import temporary_parents
from tests.support.postgres import ThrowawayPostgres
from tests.support.waiting import wait_until

# No model, no tools and no admin port: they would make a server start slowly.
_OPTIONS: Final[dict[str, Any]] = {
    "model_dir": "/dev/null",
    "tool_preload": "off",
    "admin_port": 0,
    "log_level": "warning",
}
_EMPTY: Final = "template1"


class PreparationFailed(Exception):  # noqa: N818 - named for what it is
    """A library could not be prepared. The message has the traceback."""


class _Template(NamedTuple):
    folder: Path
    # The name of the database on PostgreSQL.
    database: str
    state: Any


class Stage:
    """A memory disk is used if there is one: a kill does not lose what was written to a file."""

    def __init__(self) -> None:
        self._closing = ExitStack()
        parent = next(iter(temporary_parents()))
        name = self._closing.enter_context(
            tempfile.TemporaryDirectory(
                prefix="bowerbird-kills-", dir=parent, ignore_cleanup_errors=True
            )
        )
        self._folder = Path(name)
        self._server: ThrowawayPostgres | None = None
        self._templates: dict[tuple[str, str], _Template] = {}
        self._beside: dict[str, Beside] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._beside.values():
            each.stop()
        self._closing.close()

    @property
    def server(self) -> ThrowawayPostgres:
        """Started at its first use."""
        if self._server is None:
            self._server = self._closing.enter_context(databases.postgres_server())
        return self._server

    def fresh(self, name: str, kind: Kind, database: str, port: int) -> tuple[Library, Any]:
        """A copy of the prepared library, and what its preparation returned."""
        if (name, database) not in self._templates:
            self._templates[name, database] = self._prepared(name, kind, database, port)
        template = self._templates[name, database]
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-{database}-", dir=self._folder))
        shutil.copytree(template.folder, folder, dirs_exist_ok=True)
        return self._library(name, folder, database, template.database, port), template.state

    def remove(self, library: Library) -> None:
        if "database_url" in library.options and self._server is not None:
            self._server.drop_database(library.folder.name)
        shutil.rmtree(library.folder, ignore_errors=True)

    def _prepared(self, name: str, kind: Kind, database: str, port: int) -> _Template:
        if kind.stand_in is not None and name not in self._beside:
            folder = self._folder / f"{name}-beside"
            folder.mkdir()
            self._beside[name] = Beside(kind.stand_in, folder)
        folder = self._folder / f"{name}-{database}"
        folder.mkdir()
        origin = databases.TEMPLATE if kind.is_library else _EMPTY
        library = self._library(name, folder, database, origin, port)
        ended = Child(Preparation(kind, library), folder / "output").end()
        if ended.problem:
            raise PreparationFailed(f"{name} on {database}: {ended.problem}")
        return _Template(folder, folder.name, ended.value)

    def _library(self, name: str, folder: Path, database: str, origin: str, port: int) -> Library:
        beside = self._beside.get(name)
        options = {**_OPTIONS, "data_dir": folder / "data", "port": port}
        options |= beside.options if beside else {}
        if database == POSTGRES:
            self._copy(origin, folder.name)
            options["database_url"] = self.server.url(folder.name)
        else:
            assert database == SQLITE
        return Library(folder, options, beside.address if beside else None)

    def _copy(self, origin: str, name: str) -> None:
        """PostgreSQL refuses while a connection of an ended process is being closed."""

        def is_copied() -> bool:
            try:
                self.server.create_database(name, template=origin)
            except RuntimeError as error:
                if "being accessed by other users" not in str(error):
                    raise
                return False
            return True

        wait_until(is_copied)
