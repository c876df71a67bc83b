"""A short name for a browser and its system, by which people recognise their sessions."""

from typing import Final

# The first that occurs counts: most browsers also name those that they resemble.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi", "Vivaldi"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
_UNKNOWN: Final = "Unknown browser"


def browser_of(user_agent: bytes) -> str:
    """Such as "Firefox on Linux". Nothing of the header itself is kept."""
    text = user_agent.decode("latin-1")
    browser = _first(_BROWSERS, text)
    system = _first(_SYSTEMS, text)
    if not browser:
        return f"{_UNKNOWN} on {system}" if system else _UNKNOWN
    return f"{browser} on {system}" if system else browser


def _first(names: tuple[tuple[str, str], ...], text: str) -> str:
    return next((name for sign, name in names if sign in text), "")
