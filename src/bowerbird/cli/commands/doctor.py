"""`doctor`: checks everything the service needs, and suggests a fix for each problem."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import fields
from typing import Final

import click

from bowerbird.cli.commands.serve import Port, port_state
from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.cli.output import Column, json_option, print_listing
from bowerbird.clock import system_clock
from bowerbird.library.upkeep import health, installation_checks
from bowerbird.library.upkeep.health import Mark, Result
from bowerbird.settings import PREFIX, BadSetting, Settings
from bowerbird.storage.media import MediaStore
from bowerbird.storage.upkeep.jobs import JobStore

_STATES: Final = {Mark.GOOD: "good", Mark.WARNING: "warning", Mark.BROKEN: "broken"}
_COLUMNS: Final[Sequence[Column[Result]]] = (
    Column("subject", "Subject", lambda result: result.subject),
    Column("state", "State", lambda result: _STATES[result.mark]),
    Column("sentence", "Sentence", lambda result: result.sentence),
    Column("fix", "Fix", lambda result: result.fix or None),
)


@click.command()
@json_option
def doctor(*, as_json: bool) -> None:
    r"""Check the installation, and suggest a fix for each problem.

    Checks settings, address, data folder, database, backup, files, jobs, images, fonts, model and
    ports. Exits with 1 if something the service needs is broken.

    \b
    Example:
      bowerbird doctor
      bowerbird doctor --json
    """
    results = asyncio.run(_printed(is_quiet=as_json))
    if as_json:
        print_listing(results, _COLUMNS, as_json=True)
    sys.exit(1 if any(result.mark is Mark.BROKEN for result in results) else 0)


async def _printed(*, is_quiet: bool) -> list[Result]:
    """Prints each result as soon as it is known: some checks take seconds."""
    results = []
    async for result in _results():
        results.append(result)
        if is_quiet:
            continue
        click.echo(f"{result.mark} {result.subject}: {result.sentence}")
        if result.fix:
            click.echo(f"    fix: {result.fix}")
    return results


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
    if (denied := installation_checks.denied(settings)) is not None:
        # The files that the other checks read are among those.
        yield denied
        yield await installation_checks.fonts()
    else:
        async for result in _stored(settings):
            yield result
    for result in _ports(settings):
        yield result


async def _stored(settings: Settings) -> AsyncIterator[Result]:
    for result in await installation_checks.database(settings):
        yield result
        if result.subject == "schema" and result.mark is Mark.GOOD:
            for found in await _work(settings):
                yield found
    if (backup := health.backup(settings, system_clock())) is not None:
        yield backup
    async for result in installation_checks.installation(settings):
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


async def _work(settings: Settings) -> list[Result]:
    async with opened_library(settings) as opened:
        store = JobStore(opened.database)
        return [
            await health.jobs(settings, store, system_clock(), is_quick=False),
            await health.images(settings, MediaStore(opened.database)),
        ]


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
