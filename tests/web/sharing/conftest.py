"""ann, who shares a label and keeps the images of her posts, and strangers."""

from tests.web.media.conftest import house_settings, shelf

__all__ = ["house_settings", "shelf"]
