"""The table of deprecated routes, and the headers and checks derived from it.

A deprecated route keeps working until it is removed from the code. Its row has the date from which
clients are notified, the earliest date of removal, and the address of the migration guide.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from bowerbird.wire.responses.replies import Header

LEAST_DAYS: Final = 180
EVERY_METHOD: Final = "*"
Route = tuple[str, str]


class BadDeprecation(Exception):  # noqa: N818 - named for what it is
    """A row of the table breaks a promise to clients."""


class Deprecation(Struct, frozen=True, kw_only=True):
    """One route, by method and path template; or a version, by `*` and its prefix ("/v1")."""

    method: str
    path: str
    # Both start at midnight UTC.
    since: date
    sunset: date
    # Where the migration is described: an address, or a path of the site.
    note: str

    def covers(self, method: str, path: str) -> bool:
        if self.method == EVERY_METHOD:
            return path.startswith(self.path + "/")
        return (method, path) == (self.method, self.path)

    def note_address(self, site_origin: str) -> str:
        return site_origin + self.note if self.note.startswith("/") else self.note

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


# Nothing is deprecated yet.
DEPRECATIONS: Final[tuple[Deprecation, ...]] = ()


def of_route(table: Iterable[Deprecation], method: str, path: str) -> Deprecation | None:
    """The row of a route. If there are several, the one with the earliest sunset."""
    rows = [row for row in table if row.covers(method, path)]
    return min(rows, key=lambda row: row.sunset, default=None)


def of_version(table: Iterable[Deprecation], version: str) -> Deprecation | None:
    """The row that deprecates a whole version, such as "v1"."""
    rows = (row for row in table if (row.method, row.path) == (EVERY_METHOD, f"/{version}"))
    return next(rows, None)


def headers_by_route(
    table: Sequence[Deprecation], routes: Iterable[Route], site_origin: str
) -> Mapping[Route, list[Header]]:
    """The headers of each deprecated route. Raises BadDeprecation for an invalid row."""
    routes = list(routes)
    for row in table:
        _check(row, routes, site_origin)
    found = {route: of_route(table, *route) for route in routes}
    return {route: headers(row, site_origin) for route, row in found.items() if row is not None}


def headers(row: Deprecation, site_origin: str) -> list[Header]:
    link = f'<{row.note_address(site_origin)}>; rel="deprecation"'
    return [
        (b"deprecation", http_date(row.since).encode()),
        (b"sunset", http_date(row.sunset).encode()),
        (b"link", link.encode()),
    ]


def http_date(day: date) -> str:
    return format_datetime(datetime.combine(day, time(tzinfo=UTC)), usegmt=True)


def _check(row: Deprecation, routes: Sequence[Route], site_origin: str) -> None:
    days = (row.sunset - row.since).days
    if days < LEAST_DAYS:
        raise BadDeprecation(
            f"{row} is deprecated on {row.since} and ends on {row.sunset}: {days} days. "
            f"Clients are promised at least {LEAST_DAYS}."
        )
    if not any(row.covers(*route) for route in routes):
        raise BadDeprecation(f"{row} is deprecated, but there is no such route.")
    if not _is_address(row.note_address(site_origin)):
        raise BadDeprecation(f"{row}: {row.note!r} is not the address of a migration note.")


def _is_address(text: str) -> bool:
    parts = urlsplit(text)
    is_plain = text.isascii() and text.isprintable() and not set('<>" \\') & set(text)
    return is_plain and parts.scheme in ("http", "https") and bool(parts.netloc)
