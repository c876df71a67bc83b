"""Cancels the work on a response when its client disconnects."""

import asyncio
import types
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Final, TypeVar

from starlette.types import Receive

R = TypeVar("R")

# Most responses are ready sooner, and need no watch on the connection.
_WATCH_AFTER_S: Final = 0.05


async def unless_gone(
    receive: Receive, work: Awaitable[R], may_cancel: Callable[[], bool] = lambda: True
) -> R | None:
    """The result of `work`; None if the client disconnects first, and then `work` is cancelled.

    Only for requests whose body has been read or is not needed. `may_cancel` is asked when the
    client disconnects: a write must not be cancelled, because a part of it may be stored already.
    """
    steps = work.__await__()
    try:
        # Most work never waits. It needs no timer.
        awaited = next(steps)
    except StopIteration as end:
        result: R = end.value
        return result
    task = asyncio.current_task()
    assert task is not None
    watch = _Watch(receive, task, may_cancel)
    start = asyncio.get_running_loop().call_later(_WATCH_AFTER_S, watch.start)
    try:
        return await _rest(steps, awaited)
    except asyncio.CancelledError:
        # If somebody else cancelled the request too, it is still cancelled.
        if watch.has_left and not task.uncancel():
            return None
        raise
    finally:
        start.cancel()
        watch.stop()


@types.coroutine
def _rest(steps: Generator[Any, Any, R], awaited: Any) -> Generator[Any, Any, R]:
    """Continues work that has started and waits."""
    try:
        while True:
            try:
                sent = yield awaited
            except BaseException as error:  # noqa: BLE001 - the work decides what it means
                awaited = steps.throw(error)
            else:
                awaited = steps.send(sent)
    except StopIteration as end:
        result: R = end.value
        return result


class _Watch:
    def __init__(
        self, receive: Receive, task: "asyncio.Task[Any]", may_cancel: Callable[[], bool]
    ) -> None:
        self._receive = receive
        self._task = task
        self._may_cancel = may_cancel
        self._watching: asyncio.Task[None] | None = None
        self.has_left = False

    def start(self) -> None:
        self._watching = asyncio.ensure_future(self._until_left())
        # Retrieve the exception; asyncio warns otherwise.
        self._watching.add_done_callback(lambda done: done.cancelled() or done.exception())

    def stop(self) -> None:
        if self._watching is not None:
            self._watching.cancel()

    async def _until_left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if self._may_cancel():
            self.has_left = True
            self._task.cancel()
