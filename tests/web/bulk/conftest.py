"""The reader of the library, also for the pages of selections."""

from tests.web.library.conftest import ann, house

__all__ = ["ann", "house"]
