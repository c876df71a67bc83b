"""All settings of the service, read from the environment once at startup."""

from bowerbird.settings.environment import without_settings
from bowerbird.settings.table import Settings
from bowerbird.settings.values import PREFIX, BadSetting

__all__ = ["PREFIX", "BadSetting", "Settings", "without_settings"]
