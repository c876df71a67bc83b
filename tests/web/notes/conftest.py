"""The fixtures of the library's pages."""

from tests.web.library.conftest import ann, house

__all__ = ["ann", "house"]
