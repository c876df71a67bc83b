"""The backup format: a plain tar of the database, the files, and a manifest with checksums.

The manifest comes last, so that every member is read once. Reading validates everything, because
an archive may come from an untrusted source.

A file in the data folder remembers when a backup last succeeded: a restored database would name an
older backup.
"""

import hashlib
import io
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, Final

import msgspec
from msgspec import Struct

from bowerbird.model import instants
from bowerbird.storage import private_files

DATABASE: Final = "bowerbird.db"
FILES: Final = "files"
_MANIFEST: Final = "manifest.json"
_FORMAT: Final = 1
_CHUNK_BYTES: Final = 1 << 20
_MAX_MANIFEST_BYTES: Final = 64 << 20

Advance = Callable[[str, int, int], None]
"""Called with the current activity, the amount done and the total."""


class BadArchive(Exception):  # noqa: N818 - named for what it is
    """The file is not a usable backup. The message says why."""


class Member(Struct, frozen=True):
    size: int
    sha256: str


class Manifest(Struct, frozen=True, kw_only=True):
    format: int = _FORMAT
    release: str
    schema_step: int
    made_at: str
    members: dict[str, Member] = {}


def write(archive: IO[bytes], parts: dict[str, Path], about: Manifest, advance: Advance) -> None:
    progress = _Progress(
        "Writing", sum(p.stat().st_size for p in parts.values() if p.exists()), advance
    )
    members = {}
    with tarfile.TarFile(
        fileobj=archive, mode="w", format=tarfile.PAX_FORMAT, copybufsize=_CHUNK_BYTES
    ) as tar:
        for name, path in parts.items():
            try:
                source = path.open("rb")
            except FileNotFoundError:
                # The server has deleted an expired file since the parts were listed.
                continue
            with source:
                members[name] = _add(tar, name, source, progress)
        manifest = msgspec.json.encode(msgspec.structs.replace(about, members=members))
        _add(tar, _MANIFEST, io.BytesIO(manifest), progress)


def read(archive: IO[bytes], into: Path | None, advance: Advance) -> Manifest:
    """Validates the whole archive, and unpacks it into an empty folder if one is given."""
    progress = _Progress("Reading", _size(archive), advance)
    found, manifest = _members(archive, lambda tar, header: _extract(tar, header, into, progress))
    return _verified(manifest, found)


def outline(archive: IO[bytes]) -> Manifest:
    """The manifest of a file that has the form of a backup. Does not read the other members."""
    _, manifest = _members(archive, lambda _, header: Member(header.size, ""))
    return _decoded(manifest)


def _members(
    archive: IO[bytes], take: Callable[[tarfile.TarFile, tarfile.TarInfo], Member]
) -> tuple[dict[str, Member], bytes]:
    """What `take` makes of each member, and the manifest, which is the last one."""
    found: dict[str, Member] = {}
    try:
        with tarfile.TarFile(fileobj=archive, mode="r", tarinfo=_Header) as tar:
            for header in tar:
                _require_acceptable(header, found)
                if header.name == _MANIFEST:
                    return found, _manifest_bytes(tar, header)
                found[header.name] = take(tar, header)
    except (tarfile.TarError, ValueError, OverflowError, EOFError) as error:
        raise BadArchive(f"The file is damaged or not a backup: {error}.") from None
    raise BadArchive("The file ends before its manifest, so the backup is incomplete.")


class _Header(tarfile.TarInfo):
    """Rejects negative sizes, which send some releases of Python into an endless loop."""

    def _block(self, count: int) -> int:
        if count < 0:
            raise tarfile.HeaderError("a negative size")
        blocks, remainder = divmod(count, tarfile.BLOCKSIZE)
        return (blocks + bool(remainder)) * tarfile.BLOCKSIZE


class _Progress:
    """Counts bytes and reports them."""

    def __init__(self, what: str, total: int, advance: Advance) -> None:
        self._what, self._total, self._advance = what, total, advance
        self._done = 0

    def add(self, size: int) -> None:
        self._done += size
        self._advance(self._what, min(self._done, self._total), self._total)


class _HashingReader:
    """Hashes the bytes that are read through it."""

    def __init__(self, source: IO[bytes], progress: _Progress) -> None:
        self._source, self._progress = source, progress
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        data = self._source.read(size)
        self.sha256.update(data)
        self._progress.add(len(data))
        return data


def _add(tar: tarfile.TarFile, name: str, source: IO[bytes], progress: _Progress) -> Member:
    header = tarfile.TarInfo(name)
    header.size, header.mode = _size(source), 0o600
    reader = _HashingReader(source, progress)
    tar.addfile(header, reader)
    return Member(header.size, reader.sha256.hexdigest())


def _size(file: IO[bytes]) -> int:
    size = file.seek(0, 2)
    file.seek(0)
    return size


def _require_acceptable(header: tarfile.TarInfo, found: dict[str, Member]) -> None:
    name = header.name
    if header.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or header.issparse():
        raise BadArchive(f"The archive contains {name!r}, which is not a regular file.")
    if name not in (DATABASE, _MANIFEST) and not _is_below_files(name):
        raise BadArchive(f"The archive contains {name!r}, which is not part of a backup.")
    if name in found:
        raise BadArchive(f"The archive contains {name!r} twice.")


def _is_below_files(name: str) -> bool:
    top, *below = name.split("/")
    is_safe = not any(part in ("", ".", "..") or "\0" in part for part in below)
    return top == FILES and bool(below) and is_safe


def _extract(
    tar: tarfile.TarFile, header: tarfile.TarInfo, into: Path | None, progress: _Progress
) -> Member:
    digest = hashlib.sha256()
    target = None if into is None else _create(into, header.name)
    try:
        for chunk in _chunks(tar, header):
            digest.update(chunk)
            progress.add(len(chunk))
            if target is not None:
                target.write(chunk)
    finally:
        if target is not None:
            target.close()
    return Member(header.size, digest.hexdigest())


def _create(into: Path, name: str) -> IO[bytes]:
    path = into / PurePosixPath(name)
    try:
        private_files.make_folder(path.parent)
        return os.fdopen(private_files.open_new(path), "wb")
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise BadArchive(f"The archive contains {name!r} as a file and as a folder.") from None


def _chunks(tar: tarfile.TarFile, header: tarfile.TarInfo) -> Iterator[bytes]:
    source = tar.extractfile(header)
    assert source
    while chunk := source.read(_CHUNK_BYTES):
        yield chunk


def _manifest_bytes(tar: tarfile.TarFile, header: tarfile.TarInfo) -> bytes:
    if header.size > _MAX_MANIFEST_BYTES:
        raise BadArchive("The manifest of the archive is too large.")
    return b"".join(_chunks(tar, header))


def _verified(raw: bytes, found: dict[str, Member]) -> Manifest:
    manifest = _decoded(raw)
    for name in manifest.members.keys() | found.keys() | {DATABASE}:
        if name not in found:
            raise BadArchive(f"The archive does not contain {name!r}.")
        if found[name] != manifest.members.get(name):
            raise BadArchive(f"{name!r} in the archive is damaged: its checksum differs.")
    return manifest


def _decoded(raw: bytes) -> Manifest:
    try:
        manifest = msgspec.json.decode(raw, type=Manifest)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BadArchive(f"The manifest of the archive is invalid: {error}.") from None
    if manifest.format != _FORMAT:
        raise BadArchive("A newer release created the archive. Install that release first.")
    # It is shown before anything else of the archive is verified.
    if instants.parse(manifest.made_at) is None:
        raise BadArchive("The manifest of the archive is invalid: made_at is not an instant.")
    return manifest


LAST_NAME: Final = "last-backup.json"


class LastBackup(Struct, frozen=True):
    made_at: int
    # Of the library before it was packed.
    bytes: int


def remember_last(folder: Path, backup: LastBackup) -> None:
    """Raises OSError if the folder cannot be written."""
    part = folder / f"{LAST_NAME}.part"
    with suppress(FileNotFoundError):
        part.unlink()
    with os.fdopen(private_files.open_new(part), "wb") as file:
        file.write(msgspec.json.encode(backup))
    part.replace(folder / LAST_NAME)


def read_last(folder: Path) -> LastBackup | None:
    """None if no backup is known."""
    try:
        return msgspec.json.decode((folder / LAST_NAME).read_bytes(), type=LastBackup)
    except (OSError, msgspec.DecodeError):
        return None
