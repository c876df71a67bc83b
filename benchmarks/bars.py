"""Every figure that the service has to hold, and the issue or document that asks for it.

A measurement names the bar of a row, and a full run fails if a bar has no row.
"""

from dataclasses import dataclass
from typing import Final

# "Speed to hold", its third edition. What it withdrew is not here: accounts of a million posts,
# transactions of 50 ms, 8,000 imports a second, 0.80 of a constant body.
_ARCHITECTURE: Final = "architecture.md"


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit, and by what it is measured."""

    name: str
    limit: float
    unit: str
    source: str
    # A rate or a ratio reaches its limit; a time or a size stays below it.
    is_floor: bool = False
    # Whether the limit itself is included. A floor always is.
    is_inclusive: bool = False
    # Of several measured values. Without one it is the median.
    statistic: str = ""
    # Where it is checked instead, because these programs cannot.
    elsewhere: str = ""

    @property
    def target(self) -> str:
        sign = "≥" if self.is_floor else "≤" if self.is_inclusive else "<"
        return f"{self.statistic} {sign} {self.limit:,g} {self.unit}".strip()

    def is_met(self, value: float) -> bool:
        if self.is_floor:
            return value >= self.limit
        return value <= self.limit if self.is_inclusive else value < self.limit


def _at_least(name: str, limit: float, unit: str, source: str) -> Bar:
    return Bar(name, limit, unit, source, is_floor=True)


def _p99(name: str, limit: float, source: str) -> Bar:
    return Bar(name, limit, "ms", source, statistic="p99")


# Lists
LIST_WARM: Final = _at_least("list of 100, warm / ceiling", 0.55, "times", _ARCHITECTURE)
LIST_DEEP: Final = _at_least(
    "list of 100, random account and page, cache off / ceiling", 0.20, "times", _ARCHITECTURE
)
LIST_BASELINE: Final = _at_least(
    "list of 100, random account and page, cache off / baseline", 40, "times", _ARCHITECTURE
)

# Every order and filter, in an account of 100,000 posts
FIRST_PAGE: Final = Bar("any order or filter, first page", 30, "ms of CPU", _ARCHITECTURE)
REPEATED_PAGE: Final = Bar("any order or filter, repeated", 5, "ms of CPU", _ARCHITECTURE)
CRAWL_MEMORY: Final = Bar(
    "mapped file in memory after a crawl / BOWERBIRD_SQLITE_MAPPED_MB",
    *(1, "times", "issue 18"),
    is_inclusive=True,
)

# Search by word
RARE_WORD: Final = _p99("q, a word in < 1 % of posts", 8, _ARCHITECTURE)
COMMON_WORD: Final = _p99("q, a word in a third of posts", 40, _ARCHITECTURE)
HOSTILE_QUERY: Final = Bar("q, hostile queries, the slowest", 50, "ms of CPU", "issue 6")
HIGHLIGHT: Final = Bar("highlighting a page of long texts", 3, "ms of CPU", "issue 18")

# Search by meaning
MEANING: Final = _p99("by meaning, without embedding the query", 25, _ARCHITECTURE)
FIRST_BY_MEANING: Final = _p99("by meaning, the first after a start", 200, _ARCHITECTURE)
WORDS_AND_MEANING: Final = _p99("words and meaning together, with the models", 60, _ARCHITECTURE)
EMBEDDING: Final = _at_least(
    "embedding posts of 250 characters", 40, "posts/s per core", "issues 6, 16"
)
EMBEDDING_A_QUERY: Final = Bar("embedding a query", 5, "ms", "issue 6", statistic="p50")
SUGGESTED_LABELS: Final = Bar("suggested labels of 100 posts", 150, "ms of CPU", "issue 35")
MODELS_MEMORY: Final = Bar("memory with both models and vectors", 700, "MB", _ARCHITECTURE)
LISTS_WHILE_EMBEDDING: Final = _at_least(
    "list of 100 while posts are embedded / alone", 0.9, "times", "issue 16"
)

# Imports
IMPORT_NEW: Final = _at_least("import, all new", 3_500, "posts/s", _ARCHITECTURE)
IMPORT_UNCHANGED: Final = _at_least("import again, all unchanged", 12_000, "posts/s", _ARCHITECTURE)
IMPORT_MEMORY: Final = Bar("import, peak memory", 300, "MB", "issue 2")
TOKEN_TEXT: Final = Bar("import, token text of a post", 52, "µs of CPU", "ADR 0034")
LISTS_WHILE_IMPORTING: Final = _at_least(
    "list of 100 while posts are imported / alone", 0.7, "times", "issue 12"
)
X_RECORDS: Final = _at_least("X pages to records", 2_000, "posts/s", "issue 12")
X_STORED: Final = _at_least("X pages parsed and stored", 2_000, "posts/s", "issue 12")

# Writes
BATCH: Final = Bar("batch of 50 operations on 20 posts each", 25, "ms", _ARCHITECTURE)
KEYED_ADDS: Final = _at_least("keyed label adds, 16 connections", 1_200, "writes/s", _ARCHITECTURE)
LISTS_WHILE_WRITING: Final = _at_least(
    "list of 100, cache off, while labels are written / alone", 0.7, "times", "issue 3"
)
TRANSACTION: Final = Bar(
    "longest transaction of an edit", 150, "ms", _ARCHITECTURE, is_inclusive=True
)

# Exports
JSON_EXPORT: Final = Bar(
    "export as JSON / reading the rows", 3, "times the CPU", _ARCHITECTURE, is_inclusive=True
)
CSV_EXPORT: Final = Bar(
    "export as CSV / reading the rows", 8, "times the CPU", _ARCHITECTURE, is_inclusive=True
)
EXPORT_MEMORY: Final = Bar("export as JSON or CSV, peak memory", 150, "MB", "issue 5")
PDF_CPU: Final = Bar("PDF of 1,000 posts", 2, "s of CPU", _ARCHITECTURE)
PDF_MEMORY: Final = Bar("PDF of 1,000 posts, peak memory", 250, "MB", _ARCHITECTURE)
PDF_VOLUMES_MEMORY: Final = Bar("PDF of 10,000 posts, peak memory", 400, "MB", _ARCHITECTURE)
LISTS_WHILE_EXPORTING: Final = _at_least(
    "list of 100 while an export runs / alone", 0.7, "times", "issue 5"
)

# Tools
TOOL_CALL: Final = _at_least("list_bookmarks of 20 / bare SDK server", 0.9, "times", "issue 7")
FIRST_TOOL_CALL: Final = Bar("first tool call after a start", 2, "s", "issue 29")
STDIO_CALL: Final = Bar("time that stdio adds to a call", 5, "ms", "issue 7")
STDIO_START: Final = Bar("stdio, start to first answer", 0.3, "s", "issue 7")
TOOL_LIST: Final = Bar("tools/list, characters / 4", 8_000, "tokens", "issue 17")
TOOL_POSTS: Final = Bar("20 concise posts, characters / 4", 2_000, "tokens", "issue 17")

# Pages in the browser
SIGNED_IN_PAGE: Final = Bar("signed-in page", 9, "ms of CPU", _ARCHITECTURE)
SEARCH_PAGE: Final = Bar(
    "page of a search, its words found for the first time", 40, "ms of CPU", _ARCHITECTURE
)
PAGE_SIZE: Final = Bar("largest page, compressed", 60, "KB", "issue 14")
PAGE_IMAGES: Final = Bar(
    "what images add to /library", 1, "ms of CPU", "issue 30", is_inclusive=True
)
PAGE_BYTES: Final = Bar("page of 30 posts with 60 images", 1.5, "MB", "issue 30")
KEPT_IMAGES: Final = Bar("keeping 10,000 images of 30 kB", 30, "s", "issue 30")
KEY_TO_PAINT: Final = Bar(
    "interaction to next paint, CPU throttled to a quarter", 100, "ms", _ARCHITECTURE
)
SESSION_READS: Final = Bar(
    "reads of the database for the session of a page", 1, "reads", "issue 13", is_inclusive=True
)

# Attacks, start and memory
LIST_UNDER_ATTACK: Final = _p99("list of 20 under attack", 50, _ARCHITECTURE)
WRITE_UNDER_ATTACK: Final = _p99("label write under attack", 250, _ARCHITECTURE)
STRANGERS_REQUEST: Final = Bar("request of 4 kB without a key", 20, "ms of CPU", "issue 28")
KEYED_REQUEST: Final = Bar("request of 4 kB with a key", 60, "ms of CPU", "issue 28")
LIST_UNDER_BODIES: Final = _p99("list of 20 under six senders of hostile requests", 50, "issue 28")
HEALTH_UNDER_BODIES: Final = _p99(
    "health check under six senders of hostile requests", 100, "issue 28"
)
START: Final = Bar("start to first answer, empty folder", 1.5, "s", _ARCHITECTURE)
IDLE_MEMORY: Final = Bar("idle memory", 120, "MB", _ARCHITECTURE)

# What these programs cannot measure
ELSEWHERE: Final = (
    Bar(
        "archiving by date, merging labels: calls of a tool",
        *(3, "calls", "issue 17"),
        is_inclusive=True,
        elsewhere="tests/toolserver",
    ),
    Bar(
        "kinds of queries whose posts are in the first ten",
        *(90, "% of queries", "issue 16"),
        is_floor=True,
        elsewhere="tests/search_quality, python -m benchmarks.search_quality --own",
    ),
    Bar(
        "part of a library that an absent topic matches",
        *(2, "%", "issue 16"),
        elsewhere="tests/search_quality",
    ),
    Bar(
        "size of the extension's package",
        *(100, "KB", "issue 15"),
        elsewhere="tests/extension/test_package.py",
    ),
    Bar(
        "extension, memory of 1,000 queued pages",
        *(1, "MB", "issue 15"),
        elsewhere="tests/extension, which bound the queue",
    ),
    Bar(
        "503 while another process holds the write lock",
        *(10, "s", "issue 11"),
        elsewhere="tests/server/test_held_lock.py",
    ),
    Bar(
        "error while PostgreSQL is frozen",
        *(10, "s", "issue 10"),
        elsewhere="tests/storage/test_postgres_limits.py",
    ),
    Bar(
        "make test on two idle cores",
        *(10, "minutes", _ARCHITECTURE),
        elsewhere="the last line of make test",
    ),
)
MEASURED: Final = {name: bar for name, bar in globals().items() if isinstance(bar, Bar)}
