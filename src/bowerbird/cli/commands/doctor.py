"""`doctor`: checks everything the service needs, and suggests a fix for each problem."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import fields

import click

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.cli.ports import Port, port_state
from bowerbird.clock import system_clock
from bowerbird.library.upkeep import health, installation_checks
from bowerbird.library.upkeep.health import Mark, Result
from bowerbird.settings import PREFIX, BadSetting, Settings
from bowerbird.storage.jobs import JobStore


@click.command()
def doctor() -> None:
    r"""Check the installation, and suggest a fix for each problem.

    Checks settings, address, data folder, database, backup, files, jobs, fonts, model and ports.
    Exits with 1 if something the service needs is broken.

    \b
    Example:
      bowerbird doctor
    """
    is_broken = asyncio.run(_print_results())
    sys.exit(1 if is_broken else 0)


async def _print_results() -> bool:
    """True if something is broken."""
    is_broken = False
    async for result in _results():
        is_broken = is_broken or result.mark is Mark.BROKEN
        click.echo(f"{result.mark} {result.subject}: {result.sentence}")
        if result.fix:
            click.echo(f"    fix: {result.fix}")
    return is_broken


async def _results() -> AsyncIterator[Result]:
    try:
        settings = settings_from_environment()
    except BadSetting as error:
        fix = "correct the variable; docs/settings.md lists them all"
        yield Result(Mark.BROKEN, "settings", str(error), fix)
        yield await installation_checks.fonts()
        return
    yield _settings(settings)
    yield health.address(settings)
    yield health.data_folder(settings)
    for result in await installation_checks.database(settings):
        yield result
        if result.subject == "schema" and result.mark is Mark.GOOD:
            yield await _jobs(settings)
    if (backup := health.backup(settings, system_clock())) is not None:
        yield backup
    async for result in installation_checks.installation(settings):
        yield result
    for result in _ports(settings):
        yield result


def _settings(settings: Settings) -> Result:
    given = [
        f"{PREFIX}{field.name.upper()}={_value(settings, field.name, field.metadata['secret'])}"
        for field in fields(settings)
        if getattr(settings, field.name) != field.default
    ]
    sentence = " ".join(given) or "none is set, so all have their defaults"
    return Result(Mark.GOOD, "settings", sentence)


def _value(settings: Settings, name: str, is_secret: bool) -> str:  # noqa: FBT001 - from metadata
    return "(hidden)" if is_secret else str(getattr(settings, name))


async def _jobs(settings: Settings) -> Result:
    async with opened_library(settings) as opened:
        counts = await JobStore(opened.database).counts()
    return health.jobs(settings, counts, system_clock())


def _ports(settings: Settings) -> Iterator[Result]:
    yield _port("port", settings.host, settings.port, "/v1/bookmarks", f"{PREFIX}PORT")
    if settings.admin_port:
        yield _port(
            "admin port",
            settings.admin_host,
            settings.admin_port,
            "/metrics",
            f"{PREFIX}ADMIN_PORT",
        )


def _port(subject: str, host: str, port: int, path: str, variable: str) -> Result:
    state = port_state(host, port, path)
    if state is Port.FREE:
        return Result(Mark.GOOD, subject, f"{host}:{port} is free")
    if state is Port.OURS:
        return Result(Mark.GOOD, subject, f"{host}:{port} is served by bowerbird")
    fix = f"stop the other program, or set {variable} to another port"
    return Result(Mark.BROKEN, subject, f"{host}:{port} {state.value}", fix)
