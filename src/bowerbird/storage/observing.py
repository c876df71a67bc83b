"""Lets an observer run around each statement and transaction, such as the traces of a request.

The observer belongs to the context of the caller. Without one, a call costs one look-up more.
"""

from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from functools import wraps
from typing import Any, Final, ParamSpec, Protocol, TypeVar

Given = ParamSpec("Given")
T = TypeVar("T")
Running = Coroutine[Any, Any, T]


class Observer(Protocol):
    def __call__(self, result: Awaitable[T], *, sql: str = "", name: str = "") -> Running[T]:
        """Awaits the result of a statement, or of something with a name, and returns it."""


OBSERVER: Final[ContextVar[Observer | None]] = ContextVar("observer", default=None)


def observed(
    name: str = "",
) -> Callable[[Callable[Given, Running[T]]], Callable[Given, Running[T]]]:
    """Without a name: for a method whose first argument is SQL, given by its place."""

    def decorated(method: Callable[Given, Running[T]]) -> Callable[Given, Running[T]]:
        @wraps(method)
        def call(*args: Given.args, **given: Given.kwargs) -> Running[T]:
            observe = OBSERVER.get()
            result = method(*args, **given)
            if observe is None:
                return result
            return observe(result, name=name) if name else observe(result, sql=str(args[1]))

        return call

    return decorated
