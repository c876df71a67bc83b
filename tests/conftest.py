"""Fixtures that every test may ask for. Each test has a database of its own."""

import gc
import os
import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from bowerbird.library.views import counts
from bowerbird.storage.database import Database
from bowerbird.storage.postgres.database import Limits
from tests.support import databases, service
from tests.support.engines import external_postgres
from tests.support.hosts.s3 import s3_server
from tests.support.postgres import ThrowawayPostgres
from tests.support.programs import browser_versions
from tests.support.programs.tool_server import Running, running
from tests.support.service import Member, Service

pytest_plugins = ["tests.support.engines.ran_statements", "tests.support.hosts.fixtures"]

# The same examples on every machine, however slow it is: more of them would find nothing else.
settings.register_profile("suite", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("suite")
# Hypothesis also draws constants of the modules that the process has loaded. Which these are
# depends on the tests that ran before in this process.
providers.__dict__["is_local_module_file"] = lambda _path: False

# httpx looks for this package at every request to the application. It is not installed, and
# Python would search every folder again each time.
sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type]

# A page leaves out counts that take longer. On a busy machine, they may.
counts.DEFAULT_BUDGET = counts.Budget(request_s=20.0, page_s=20.0)

# Lines of the log as plain text, because the default lays them out in columns with colours.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.set_exc_info,
        structlog.processors.format_exc_info,
        structlog.processors.KeyValueRenderer(key_order=["level", "event"]),
    ]
)

# The second tier, `make test-slow`: kills, large libraries, other browsers, deployment, packages,
# generated requests and clients. A single slow test elsewhere is marked where it stands.
_SLOW_FILES = re.compile(
    r"/tests/(crash|deploy|endurance|extension|packages|releases|search_quality|telemetry)/"
    r"|/tests/contract/test_(schemathesis|generated_clients|postman)\.py"
    r"|/tests/server/test_(?!serve)|/tests/storage/test_migrating_under_load\.py"
    r"|/tests/library/media/test_image_texts\.py"
    # In a browser, `make test` plays what people do most: reading, labelling, changing many posts.
    r"|/tests/web/(?!library/|labels/|bulk/)\w+/test_\w*in_chromium\.py"
)

# The folders whose tests run on PostgreSQL too. Elsewhere only what is marked `both` does:
# `make test` fails if a statement ran on one database alone
# (tests/support/engines/ran_statements.py).
_BOTH_DATABASES = re.compile(r"/tests/(storage|contract|crash)/")
_FIXTURES_OF_BOTH = {"database", "empty"}

# Browsers, which are slow to measure.
_UNMEASURED_FILES = re.compile(r"/tests/web/test_(browser|templates_look)|_in_chromium\.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One test process more than cores: many tests wait for a server, a browser or a time limit."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: options of the browser (tests/web/conftest.py)")
    if external_postgres.URL and config.getoption("numprocesses", None):
        raise pytest.UsageError(f"{external_postgres.VARIABLE} names one database: run without -n.")


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Leaves out PostgreSQL where a test need not run on it again."""
    test = metafunc.definition
    if _BOTH_DATABASES.search(test.path.as_posix()) or test.get_closest_marker("both"):
        return
    chosen = {mark.args[0] for mark in test.iter_markers("parametrize")}
    for fixture in _FIXTURES_OF_BOTH & set(metafunc.fixturenames) - chosen:
        # Before the fixture's own parameters are read: a mark takes their place.
        test.add_marker(pytest.mark.parametrize(fixture, ["sqlite"], indirect=True))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make test` does not even import the slow files: a third of what collecting takes."""
    if not str(config.getoption("markexpr")).startswith("not slow"):
        return None
    path = collection_path.as_posix() + ("/" if collection_path.is_dir() else "")
    return True if _SLOW_FILES.search(path) else None


def pytest_collection(session: pytest.Session) -> None:
    """Test processes begin to import the tests at different places, if they collect them all.

    On a fresh machine pytest rewrites the assertions of each file first, which takes 20 s. What
    one process has written, the others only read.
    """
    place = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    config = session.config
    if place == 0 or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    files = sorted(Path(__file__).parent.glob("**/test_*.py"))
    wanted = [file for file in files if not pytest_ignore_collect(file, config)]
    first = len(wanted) * place // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for file in wanted[first:]:
        # pytest reports it at the file's turn.
        with suppress(Exception):
            import_module(".".join(file.relative_to(config.rootpath).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        path = item.path.as_posix()
        # axe-core takes a browser longer than all that people do on a page.
        if _SLOW_FILES.search(path) or item.name.startswith("test_axe_"):
            item.add_marker("slow")
        if _UNMEASURED_FILES.search(path):
            item.add_marker("unmeasured")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"Browsers: {browser_versions.described()}")


def pytest_collection_finish() -> None:
    """Keeps garbage collection from looking at thousands of tests, a fifth of the time otherwise.

    Each test builds the application, so collecting after 700 new objects would be too often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[ThrowawayPostgres]:
    with databases.postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server process that tests share which only call its tools."""
    with running(tmp_path_factory.mktemp("there")) as server:
        yield server


@pytest.fixture(scope="session")
def s3() -> Iterator[dict[str, Any]]:
    """The settings under which files are kept on a real S3 server."""
    with s3_server() as settings:
        yield settings


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return databases.sqlite_template(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="session")
def sqlite_cast_template(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library in which alice, bob and free have an account."""
    return databases.sqlite_with(
        service.create_cast, sqlite_template, tmp_path_factory.mktemp("cast")
    )


@pytest.fixture(scope="session")
def postgres_cast_template(postgres: ThrowawayPostgres) -> str:
    """The name of the template in which alice, bob and free have an account."""
    return databases.postgres_with(service.create_cast, postgres)


@pytest.fixture
async def sqlite(sqlite_template: Path, tmp_path: Path) -> AsyncIterator[Database]:
    async with databases.fresh_sqlite(sqlite_template, tmp_path) as database:
        yield database


@pytest.fixture
def postgres_limits() -> Limits | None:
    """How long a call on PostgreSQL may take, if a module of tests sets other limits."""
    return None


@pytest.fixture(params=["sqlite", "postgres"])
async def database(
    request: pytest.FixtureRequest,
    sqlite_template: Path,
    tmp_path: Path,
    postgres_limits: Limits | None,
) -> AsyncIterator[Database]:
    # The accounts are created once per process and copied with the template.
    has_cast = "cast" in request.fixturenames
    if request.param == "sqlite":
        template = sqlite_template
        if has_cast:
            template = request.getfixturevalue("sqlite_cast_template")
        fresh = databases.fresh_sqlite(template, tmp_path)
    else:
        name = databases.TEMPLATE
        if has_cast:
            name = request.getfixturevalue("postgres_cast_template")
        server = request.getfixturevalue("postgres")
        fresh = databases.fresh_postgres(server, postgres_limits, template=name)
    async with fresh as opened:
        yield opened


@pytest.fixture
def cast_settings() -> dict[str, Any]:
    """What a module of tests sets for its service."""
    return {}


@pytest.fixture
async def cast(
    database: Database, tmp_path: Path, cast_settings: dict[str, Any]
) -> AsyncIterator[Service]:
    """The service on each database, with alice, bob and free."""
    built = service.with_cast(database, data_dir=tmp_path, **cast_settings)
    yield built
    for client in (built.alice.client, built.bob.client, built.free.client, built.nobody):
        await client.aclose()


@pytest.fixture
def alice(cast: Service) -> Member:
    return cast.alice


@pytest.fixture
def bob(cast: Service) -> Member:
    return cast.bob


@pytest.fixture
def free(cast: Service) -> Member:
    return cast.free
