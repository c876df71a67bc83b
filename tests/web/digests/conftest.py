"""Somebody with a library, see tests/web/library/conftest.py."""

from tests.web.library.conftest import ann, house

__all__ = ["ann", "house"]
