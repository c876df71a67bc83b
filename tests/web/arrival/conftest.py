"""Somebody with a library, as on its own pages."""

from tests.web.library.conftest import ann, house

__all__ = ["ann", "house"]
