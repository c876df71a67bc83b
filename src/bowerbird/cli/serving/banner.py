"""What `bowerbird serve` prints when it starts: its addresses, and a link for the owner."""

import click

from bowerbird.cli.context import LibraryContext
from bowerbird.cli.site_links import owner_link
from bowerbird.clock import system_clock
from bowerbird.errors import Refusal
from bowerbird.library.exports.file_place import FilePlace
from bowerbird.library.sign_in.one_time_links import MINUTES
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.files.files import Files
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.postgres import schema as postgres_schema


async def print_addresses(settings: Settings, database: Database, *, runs_jobs: bool) -> None:
    """Raises BadSetting, and prints nothing, if this node may not serve."""
    opened = LibraryContext(settings, database, system_clock)
    problem, link = "", None
    try:
        if not settings.is_sqlite:
            await postgres_schema.require_ready(settings.database_url)
        link = await owner_link(opened)
        await check_files(opened)
    except (SchemaProblem, Refusal) as error:
        problem = str(error)
    origin = settings.api_origin
    click.echo(f"Bowerbird is at {settings.site_origin}")
    click.echo(f"  Library  {settings.data_dir if settings.is_sqlite else 'PostgreSQL'}")
    click.echo(f"  API      {origin}/v1")
    if settings.sandbox == "on":
        click.echo(f"  Sandbox  {origin}/v1/sandbox")
    click.echo(f"  Tools    {settings.tool_server}")
    click.echo(f"  Keys     {settings.register_url}")
    if settings.admin_port:
        click.echo(f"  Metrics  http://{settings.admin_host}:{settings.admin_port}/metrics")
    if not runs_jobs:
        click.echo("  Jobs     not run by this server; start bowerbird worker")
    if problem:
        click.echo(f"Not ready: {problem}")
        click.echo("The link for the owner is printed at the next start.")
    if link is not None:
        click.echo(
            f"To sign in as the owner, open this link within {MINUTES} minutes. It works once:"
        )
        click.echo(f"  {link}")


async def check_files(opened: LibraryContext) -> None:
    """Refuses to start a node whose files the other nodes cannot read.

    If the storage cannot be reached now, the node starts and the server checks again later.
    """
    if opened.settings.is_sqlite:
        return
    try:
        await file_place(opened).require_shared()
    except Refusal as refusal:
        place = Files(opened.settings).place
        click.echo(f"Cannot check yet whether all nodes share the files in {place}: {refusal}")


def file_place(opened: LibraryContext) -> FilePlace:
    return FilePlace(opened.database, Files(opened.settings), opened.clock)
