"""All settings of the service, read from the environment once at startup."""

from collections.abc import Mapping
from typing import Self

from bowerbird.settings import checks
from bowerbird.settings.table import Table
from bowerbird.settings.values import PREFIX, BadSetting, read, without_settings

__all__ = ["PREFIX", "BadSetting", "Settings", "without_settings"]


class Settings(Table):
    """The table with its values."""

    __slots__ = ()

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Self:
        settings = cls(**read(env, cls))
        settings.check()
        return settings

    def check(self) -> None:
        """Raises BadSetting for values that have the right type but cannot work."""
        checks.check(self)
