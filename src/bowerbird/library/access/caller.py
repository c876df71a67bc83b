"""The network address of the current request, for the activity log.

A context variable, because only the outermost layer knows the address and only the log needs it.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

_ADDRESS: Final[ContextVar[Callable[[], str]]] = ContextVar("address", default=str)


def set_address(find: Callable[[], str]) -> None:
    """`find` returns the address. It is called only if something needs it."""
    _ADDRESS.set(find)


def address() -> str:
    """'' outside a request, as in a command."""
    return _ADDRESS.get()()
