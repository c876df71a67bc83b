"""Which errors of PostgreSQL are temporary, and the refusal that each of them becomes."""

from typing import Final

import asyncpg

from bowerbird import errors
from bowerbird.storage.database import LockTimeoutError

AWAY: Final = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.UndefinedTableError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.LockNotAvailableError,
    LockTimeoutError,
)
# The connection is lost, but the server may be up. asyncpg raises an internal error when the server
# ended the connection between two requests.
CUT: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.AdminShutdownError,
    asyncpg.IdleSessionTimeoutError,
    ConnectionError,
)
# A transaction that lost against a concurrent one succeeds when it runs again.
LOST: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)

_UNREACHABLE: Final = "The database cannot be reached at the moment."
_FULL: Final = "The database's disk is full; this change was not made."
_NOT_MIGRATED: Final = "The database has not been migrated. Run: bowerbird migrate"
_READ_LOCKED: Final = "The read waited too long for a change to finish."
_WRITE_LOCKED: Final = "The change waited too long for another one to finish; nothing was changed."
_SOON_S: Final = 1


def refused_read(error: BaseException) -> errors.Refusal:
    if isinstance(error, asyncpg.QueryCanceledError):
        return errors.unavailable("The read took too long and was stopped.")
    if isinstance(error, asyncpg.LockNotAvailableError):
        return errors.unavailable(_READ_LOCKED, _SOON_S)
    return _unavailable(error)


def refused_write(error: BaseException | None) -> errors.Refusal:
    if isinstance(error, LOST):
        return errors.unavailable("Concurrent changes to this account conflicted; retry.", _SOON_S)
    if isinstance(error, asyncpg.QueryCanceledError):
        return errors.unavailable("The change took too long and was undone.")
    if isinstance(error, LockTimeoutError):
        return errors.unavailable(_WRITE_LOCKED, _SOON_S)
    return _unavailable(error)


def unreachable() -> errors.Refusal:
    return errors.unavailable(_UNREACHABLE)


def _unavailable(error: BaseException | None) -> errors.Refusal:
    if isinstance(error, TimeoutError):
        return errors.unavailable("The database did not answer in time.")
    if isinstance(error, asyncpg.DiskFullError):
        return errors.unavailable(_FULL, 30)
    if isinstance(error, asyncpg.UndefinedTableError):
        return errors.unavailable(_NOT_MIGRATED)
    return unreachable()
