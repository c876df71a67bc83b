"""The browsers of this machine, and those with which the tests passed last.

They come from the package archive, which changes them without us. No test depends on a version; if
tests of a browser fail on a new machine, compare these first.
"""

import subprocess
from typing import Final

# By program: the versions of Debian 12 with which all tests have passed.
_PASSED: Final = {
    "chromium": ("150.0.7871.100",),
    "firefox-esr": ("140.12.0esr", "153.7"),
}


def described() -> str:
    return "; ".join(
        f"{program} {_installed(program)} (passed with {', '.join(passed)})"
        for program, passed in _PASSED.items()
    )


def _installed(program: str) -> str:
    asked = ["dpkg-query", "--show", "--showformat=${Version}", program]
    try:
        ran = subprocess.run(asked, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "of another system"
    return ran.stdout or "not installed"
