"""The kinds of work that are killed."""

from typing import Final

from endurance.kills.trials import Kinds
from endurance.kills.work import (
    copies,
    deletion,
    exports,
    imports,
    jobs,
    migration,
    requests,
    turns,
    vectors,
)

KINDS: Final[Kinds] = {
    "writes": requests.WRITES,
    "labels": requests.LABELS,
    "pages": requests.PAGES,
    "chunks": turns.CHUNKS,
    "changes": turns.CHANGES,
    "undo": turns.UNDO,
    "reindexing": turns.REINDEXING,
    "imports": imports.IMPORTS,
    "sources": jobs.SOURCES,
    "media": jobs.MEDIA,
    "exports": exports.EXPORTS,
    "embedding": vectors.EMBEDDING,
    "backup": copies.BACKUP,
    "restore": copies.RESTORE,
    "migration": migration.MIGRATION,
    "deletion": deletion.DELETION,
}
