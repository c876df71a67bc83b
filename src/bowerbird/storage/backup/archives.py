"""The file a backup is: a plain tar of database, files, and a manifest that vouches for them.

The manifest comes last, so that every member is read once. Reading trusts nothing: an archive
may come from anywhere.
"""

import hashlib
import io
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Final

import msgspec
from msgspec import Struct

DATABASE: Final = "bowerbird.db"
FILES: Final = "files"
_MANIFEST: Final = "manifest.json"
_FORMAT: Final = 1
_CHUNK: Final = 1 << 20
_LARGEST_MANIFEST: Final = 64 << 20

Advance = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much it is."""


class BadArchive(Exception):  # noqa: N818 - named for what it is
    """The file is no backup that can be used. Says why."""


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
    steps = _Steps("Writing", sum(p.stat().st_size for p in parts.values() if p.exists()), advance)
    members = {}
    with tarfile.TarFile(
        fileobj=archive, mode="w", format=tarfile.PAX_FORMAT, copybufsize=_CHUNK
    ) as tar:
        for name, path in parts.items():
            try:
                source = path.open("rb")
            except FileNotFoundError:
                # The server removed an expired file meanwhile; the database knows or will.
                continue
            with source:
                members[name] = _add(tar, name, source, steps)
        manifest = msgspec.json.encode(msgspec.structs.replace(about, members=members))
        _add(tar, _MANIFEST, io.BytesIO(manifest), steps)


def read(archive: IO[bytes], into: Path | None, advance: Advance) -> Manifest:
    """Checks the whole archive, and unpacks it into an empty folder if one is given."""
    found: dict[str, Member] = {}
    steps = _Steps("Reading", _size(archive), advance)
    try:
        with tarfile.TarFile(fileobj=archive, mode="r", tarinfo=_Header) as tar:
            for header in tar:
                _require_acceptable(header, found)
                if header.name == _MANIFEST:
                    return _vouched(_small(tar, header), found)
                found[header.name] = _take(tar, header, into, steps)
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise BadArchive(f"The file is damaged or no backup: {error}.") from None
    raise BadArchive("The file ends before its manifest: it is no whole backup.")


class _Header(tarfile.TarInfo):
    """Refuses negative sizes, at which some releases of Python read a header again for ever."""

    def _block(self, count: int) -> int:
        if count < 0:
            raise tarfile.HeaderError("a negative size")
        blocks, rest = divmod(count, tarfile.BLOCKSIZE)
        return (blocks + bool(rest)) * tarfile.BLOCKSIZE


class _Steps:
    """Counts bytes and tells."""

    def __init__(self, what: str, total: int, advance: Advance) -> None:
        self._what, self._total, self._advance = what, total, advance
        self._done = 0

    def take(self, size: int) -> None:
        self._done += size
        self._advance(self._what, min(self._done, self._total), self._total)


class _Hashed:
    """Passes bytes on and hashes them on the way."""

    def __init__(self, source: IO[bytes], steps: _Steps) -> None:
        self._source, self._steps = source, steps
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        data = self._source.read(size)
        self.sha256.update(data)
        self._steps.take(len(data))
        return data


def _add(tar: tarfile.TarFile, name: str, source: IO[bytes], steps: _Steps) -> Member:
    header = tarfile.TarInfo(name)
    header.size, header.mode = _size(source), 0o600
    hashed = _Hashed(source, steps)
    tar.addfile(header, hashed)
    return Member(header.size, hashed.sha256.hexdigest())


def _size(file: IO[bytes]) -> int:
    size = file.seek(0, 2)
    file.seek(0)
    return size


def _require_acceptable(header: tarfile.TarInfo, found: dict[str, Member]) -> None:
    name = header.name
    if header.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or header.issparse():
        raise BadArchive(f"The archive holds {name!r}, which is no plain file.")
    if name not in (DATABASE, _MANIFEST) and not _is_below_files(name):
        raise BadArchive(f"The archive holds {name!r}, which no backup has.")
    if name in found:
        raise BadArchive(f"The archive holds {name!r} twice.")


def _is_below_files(name: str) -> bool:
    top, *rest = name.split("/")
    is_plain = not any(part in ("", ".", "..") or "\0" in part for part in rest)
    return top == FILES and bool(rest) and is_plain


def _take(
    tar: tarfile.TarFile, header: tarfile.TarInfo, into: Path | None, steps: _Steps
) -> Member:
    digest = hashlib.sha256()
    target = None if into is None else _created(into, header.name)
    try:
        for chunk in _chunks(tar, header):
            digest.update(chunk)
            steps.take(len(chunk))
            if target is not None:
                target.write(chunk)
    finally:
        if target is not None:
            target.close()
    return Member(header.size, digest.hexdigest())


def _created(into: Path, name: str) -> IO[bytes]:
    path = into / PurePosixPath(name)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise BadArchive(f"The archive holds {name!r} as file and folder.") from None


def _chunks(tar: tarfile.TarFile, header: tarfile.TarInfo) -> Iterator[bytes]:
    source = tar.extractfile(header)
    assert source
    while chunk := source.read(_CHUNK):
        yield chunk


def _small(tar: tarfile.TarFile, header: tarfile.TarInfo) -> bytes:
    if header.size > _LARGEST_MANIFEST:
        raise BadArchive("The archive's manifest is too large to be one.")
    return b"".join(_chunks(tar, header))


def _vouched(raw: bytes, found: dict[str, Member]) -> Manifest:
    try:
        manifest = msgspec.json.decode(raw, type=Manifest)
    except msgspec.MsgspecError as error:
        raise BadArchive(f"The archive's manifest cannot be read: {error}.") from None
    if manifest.format != _FORMAT:
        raise BadArchive("The archive was made by a newer release. Install that release first.")
    for name in manifest.members.keys() | found.keys() | {DATABASE}:
        if name not in found:
            raise BadArchive(f"The archive lacks {name!r}.")
        if found[name] != manifest.members.get(name):
            raise BadArchive(f"{name!r} in the archive is damaged: its checksum is another.")
    return manifest
