"""The same people as in the library."""

from tests.web.library.conftest import ann, house

__all__ = ["ann", "house"]
