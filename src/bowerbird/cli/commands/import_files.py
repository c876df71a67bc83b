"""`import`: imports files of saved posts into an account's library."""

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import click

from bowerbird.cli import importing
from bowerbird.cli.context import (
    LibraryContext,
    require_library,
    settings_from_environment,
    with_library,
)
from bowerbird.cli.importing import LeftOutRows, print_end, print_file, read_label_name
from bowerbird.cli.output import Advance, interruptible, progress_bars
from bowerbird.library.imports.file_imports import FileImports, ImportOptions
from bowerbird.library.imports.report import ImportReport
from bowerbird.storage import private_files

_CLIENT: Final = "bowerbird import"
# The thread that writes lets others run at each row, and then waits for its next turn. With
# Python's 5 ms it would wait longer than it works.
_SWITCH_S: Final = 0.0005
# The records of the chunks on their way are freed without the garbage collector, which would look
# at all of them every 700 objects. 50,000 objects of cycles have about 10 MB.
_COLLECTED_OBJECTS: Final = 50_000
_STORED: Final = (
    ". The posts counted here are stored. To continue, run the command again: posts that are "
    "already stored do not change."
)


@click.command("import")
@click.argument("email")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--dry-run", is_flag=True, help="Say what would happen, and change nothing.")
@click.option("--with-likes", is_flag=True, help='Import liked posts too, with the label "liked".')
@click.option("--label", metavar="NAME", help="Add this label to every post.")
@click.option(
    "--refused",
    "refused_file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the line and reason of every record that is left out to FILE.",
)
@click.option(
    "--links",
    "links_file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write every link that is not a post to FILE.",
)
def import_files(
    email: str,
    files: Sequence[str],
    refused_file: Path | None,
    links_file: Path | None,
    label: str | None,
    *,
    dry_run: bool,
    with_likes: bool,
) -> None:
    r"""Import saved posts into an account's library.

    A FILE is an export of Bowerbird, X or another network, of a bookmark program or a browser, any
    CSV, JSON or text with links to posts, or a zip archive of such files. The command recognises it
    by its content. "-" reads the standard input. Links that are not posts
    are counted and left out. Importing the same file twice changes nothing.

    The exit code is 1 if a file could not be read, a record was invalid or a label was left out.

    \b
    Example:
      bowerbird import you@example.com posts.csv --dry-run
      bowerbird import you@example.com posts.csv twitter-archive.zip
      zcat posts.jsonl.gz | bowerbird import you@example.com -
    """
    require_library(settings_from_environment())
    sys.setswitchinterval(_SWITCH_S)
    gc.freeze()
    gc.set_threshold(_COLLECTED_OBJECTS)
    label = "" if label is None else read_label_name(label)
    options = ImportOptions(with_likes, label, dry_run)
    for file in files:
        importing.require_readable(file)
    for option, file_path in (("--refused", refused_file), ("--links", links_file)):
        if file_path is not None and file_path.exists():
            raise click.ClickException(
                f"{file_path} already exists. Choose another file for {option}."
            )
    with (
        _written(refused_file) as refused,
        _written(links_file) as links,
        progress_bars() as advance,
    ):
        rows = LeftOutRows(refused, links)
        work = _Work(email, files, options, rows, advance)
        try:
            with interruptible(_STORED, work.print_unprinted):
                with_library(work.run)
        except SystemExit:
            raise
        except BaseException:
            work.print_unprinted()
            raise
    sys.exit(0 if work.report.is_complete else 1)


class _Work:
    def __init__(
        self,
        email: str,
        files: Sequence[str],
        options: ImportOptions,
        rows: LeftOutRows,
        advance: Advance,
    ) -> None:
        self._email, self._files, self._options = email, files, options
        self._rows, self._advance = rows, advance
        self._printed = 0
        self.report = ImportReport()

    async def run(self, opened: LibraryContext) -> None:
        account = await opened.account(self._email)
        names = [importing.printed_name(file) for file in self._files]
        imports = FileImports(
            opened.database,
            opened.clock,
            account,
            self._options,
            self._rows.add,
            names=[Path(name).name for name in names],
        )
        self.report = imports.report
        reason = "interrupted"
        try:
            for file, name in zip(self._files, names, strict=True):
                with importing.opened(file, self._advance) as source:
                    await imports.read(source, name, _CLIENT)
                self._print_files()
            reason = "end"
        finally:
            await imports.finish(reason)
        print_end(self.report, self._email)

    def _print_files(self) -> None:
        for file in self.report.files[self._printed :]:
            print_file(file, self._rows)
        self._printed = len(self.report.files)

    def print_unprinted(self) -> None:
        """What was done before a failure."""
        if self.report.files:
            self._print_files()
            print_end(self.report, self._email)


@contextmanager
def _written(file: Path | None) -> Iterator[IO[str] | None]:
    if file is None:
        yield None
        return
    descriptor = private_files.open_new(file, belongs_to_folder=False)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as output:
        yield output
