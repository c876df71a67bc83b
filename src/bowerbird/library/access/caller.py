"""The network address of the current request, for the activity log.

A context variable, because only the outermost layer knows the address and only the log needs it.
"""

from contextvars import ContextVar
from typing import Final

_ADDRESS: Final[ContextVar[str]] = ContextVar("address", default="")


def set_address(address: str) -> None:
    _ADDRESS.set(address)


def address() -> str:
    """'' outside a request, as in a command."""
    return _ADDRESS.get()
