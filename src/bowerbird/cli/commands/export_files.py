"""`export`: writes the posts of an account to a file, or to a folder that stays in step."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec

from bowerbird.cli.context import (
    LibraryContext,
    require_library,
    settings_from_environment,
    with_library,
)
from bowerbird.cli.output import (
    interruptible,
    progress_bars,
    refuse_to_overwrite,
    written_atomically,
)
from bowerbird.errors import Code, Refusal
from bowerbird.exports import tasks
from bowerbird.exports.folder import ExportFolder, FolderRefused, State
from bowerbird.exports.markdown_note import note_of
from bowerbird.exports.tasks import FORMATS, DocumentInfo, Picture, Pictures
from bowerbird.exports.writer import ExportFailed, write_export
from bowerbird.library.bookmarks.events import Events
from bowerbird.library.media.kept import KeptImages
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.posts.bookmarks import Bookmark
from bowerbird.model.posts.media import image_urls
from bowerbird.storage import private_files
from bowerbird.storage.accounts.account_removal import AccountExportStore
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.files import Files

_MARKDOWN: Final = "markdown"
_EVENTS: Final = 500


@click.command("export")
@click.argument("email")
@click.option("--format", "format", type=click.Choice(list(FORMATS)), required=True)
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    required=True,
    metavar="PATH",
    help="The folder of Markdown files; for other formats, the file.",
)
@click.option("--since-last", is_flag=True, help="Markdown: write only what has changed.")
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
def export(email: str, format: str, target: Path, *, since_last: bool, force: bool) -> None:
    r"""Write the posts of an account to a file, or to a folder of Markdown files.

    In the folder, each post is a file, with its kept images in `pictures` beside it. Files of
    posts that were deleted are removed; files of yours stay. --since-last writes only the posts
    that have changed since the run before. Run it every few minutes, and a vault of Obsidian stays
    in step. Do not edit the files: the next change of a post replaces its file.

    \b
    Example:
      bowerbird export you@example.com --format markdown --to ~/vault/posts --since-last
      bowerbird export you@example.com --format netscape --to bookmarks.html
    """
    require_library(settings_from_environment())
    if format == _MARKDOWN:
        _to_folder(email, target, since_last=since_last)
        return
    if since_last:
        raise click.ClickException("--since-last is for --format markdown.")
    refuse_to_overwrite(target, force=force)
    _to_file(email, format, target)


def _to_folder(email: str, target: Path, *, since_last: bool) -> None:
    async def work(opened: LibraryContext) -> ExportFolder:
        account = await opened.account(email)
        with ExportFolder(target) as folder, progress_bars() as advance:
            run = _FolderRun(opened, account, folder, lambda d, t: advance("Exporting", d, t))
            await run.run(since_last=since_last)
        return folder

    with interruptible(". Run the command again to finish."):
        try:
            folder = with_library(work)
        except FolderRefused as refused:
            raise click.ClickException(str(refused)) from None
    click.echo(f"written {folder.written}")
    click.echo(f"removed {folder.removed}")
    click.echo(f"unchanged {folder.unchanged}")


class _FolderRun:
    def __init__(
        self,
        opened: LibraryContext,
        account: Account,
        folder: ExportFolder,
        advance: Callable[[int, int], None],
    ) -> None:
        self._account = account
        self._folder = folder
        self._advance = advance
        self._events = Events(opened.database, opened.clock)
        self._posts = AccountExportStore(opened.database)
        self._bookmarks = BookmarkStore(opened.database)
        self._kept = KeptImages(opened.database, Files(opened.settings))

    async def run(self, *, since_last: bool) -> None:
        account_id, before = str(self._account.account_id), self._folder.state
        if before is not None and before.account_id != account_id:
            raise FolderRefused("The folder has the posts of another account. Choose another one.")
        number = None
        if since_last and before is not None and before.epoch == self._account.epoch:
            number = await self._write_changes(before.number)
        if number is None:
            number = await self._write_all()
        self._folder.finish(State(account_id, self._account.epoch, number))

    async def _write_changes(self, number: int) -> int | None:
        """The number of the last event; None if what has changed is not known any more."""
        has_more = True
        while has_more:
            try:
                events, number, has_more = await self._events.after(self._account, number, _EVENTS)
            except Refusal as refusal:
                if refusal.code is Code.CURSOR_EXPIRED:
                    return None
                raise
            post_ids = {str(event.post_id) for event in events if event.post_id}
            posts = await self._bookmarks.by_post_ids(self._account, list(post_ids))
            await self._write(list(posts.values()))
            for post_id in post_ids - posts.keys():
                self._folder.remove(post_id)
        return number

    async def _write_all(self) -> int:
        # Read before the posts: what happens meanwhile is written by the next run.
        number = (await self._events.kept(self._account)).last
        seen: set[str] = set()
        async for page in self._posts.bookmarks(self._account):
            seen |= await self._write(page)
            self._advance(len(seen), max(len(seen), self._account.total))
        self._folder.remove_others(seen)
        return number

    async def _write(self, page: Sequence[bytes]) -> set[str]:
        records = [msgspec.json.decode(json_depth.cut(post)) for post in page]
        pictures = await self._pictures(
            [url for record in records for url in image_urls(record["tweet_details"])]
        )
        posts = msgspec.convert(records, list[Bookmark])
        for post in posts:
            self._folder.put(post.post_id, note_of(post, pictures))
        return {post.post_id for post in posts}

    async def _pictures(self, urls: Sequence[str]) -> Pictures:
        """The kept ones among these, each written to the folder."""
        found: Pictures = {}
        for url, image in (await self._kept.among(self._account, urls)).items():
            picture = Picture(image.media_id, image.width, image.height, image.type)
            if image.type not in FORMATS[_MARKDOWN].pictures:
                continue
            if not self._folder.has_picture(picture.name):
                opened = await self._kept.find_file(self._account, image)
                if opened is None:
                    continue
                content = b"".join([part async for part in opened.chunks])
                self._folder.put_picture(picture.name, content)
            found[url] = picture
        return found


def _to_file(email: str, format: str, target: Path) -> None:
    async def work(opened: LibraryContext) -> tuple[int, Sequence[str]]:
        account = await opened.account(email)
        # Where the service writes its exports too.
        private_files.make_folder(opened.settings.data_dir)
        with tempfile.TemporaryDirectory(prefix="export-", dir=opened.settings.data_dir) as name:
            folder = Path(name)
            posts = folder / "posts.json"
            pages = AccountExportStore(opened.database).bookmarks(account)
            with posts.open("wb") as source:
                async for piece in tasks.to_json_array(_joined(pages)):
                    source.write(piece)
            about = DocumentInfo(
                title="Bookmarks",
                created_at=opened.clock(),
                total=account.total,
                description="The whole library.",
            )
            with progress_bars() as advance:

                async def report(done: int, total: int) -> None:
                    advance("Exporting", done, total)

                written = await write_export(format, posts, folder, about, report)
            with written_atomically(target) as output, written.path.open("rb") as file:
                shutil.copyfileobj(file, output)
        notes = list(written.notes)
        if written.suffix != FORMATS[format].suffix:
            notes.append(f"{target} is a {written.suffix} file with several volumes.")
        return account.total, notes

    try:
        total, notes = with_library(work)
    except ExportFailed as failed:
        raise click.ClickException(str(failed)) from None
    for note in notes:
        click.echo(note, err=True)
    click.echo(f"Wrote {total} posts of {email.strip()} to {target}.")


async def _joined(pages: AsyncIterator[list[bytes]]) -> AsyncIterator[bytes]:
    async for page in pages:
        yield b",".join(page)
