"""`python -m bowerbird.exports.font_check`: prints the scripts that no installed font covers.

In a process of its own, because typst takes 80 MB of memory that a server would never give back.
"""

import asyncio
import sys
from typing import Final

import msgspec

from bowerbird.exports import fonts
from bowerbird.exports.fonts import MissingFont
from bowerbird.settings import without_settings

_TIMEOUT_S: Final = 20.0


async def missing_fonts() -> list[MissingFont]:
    """Raises TimeoutError if the fonts cannot be read in time, and OSError if not at all."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "bowerbird.exports.font_check"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=without_settings(),
    )
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise OSError(f"the check of the fonts ended with code {process.returncode}")
    return msgspec.json.decode(output, type=list[MissingFont])


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(fonts.missing_fonts()))
