"""Opens the library for a process or a command, which then indexes words as the settings say."""

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec

from bowerbird.search.words.readings import READINGS
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.opening import open_database

Given = ParamSpec("Given")


def _with_readings(
    opened: Callable[Concatenate[Settings, Given], Awaitable[Database]],
) -> Callable[Concatenate[Settings, Given], Awaitable[Database]]:
    async def opening(settings: Settings, /, *given: Given.args, **more: Given.kwargs) -> Database:
        READINGS.are_indexed = settings.japanese_readings == "on"
        return await opened(settings, *given, **more)

    return opening


open_library = _with_readings(open_database)
