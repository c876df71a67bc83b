"""The start of the `bowerbird-mcp` command, and of `python -m bowerbird_mcp`."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

# Python has stored the bytecode of these two before any line of them runs.
_STORED: Final = {"__init__", "__main__"}


def main() -> int:
    """Runs the command without storing bytecode, so that the installation does not change."""
    if not sys.dont_write_bytecode:
        sys.dont_write_bytecode = True
        with suppress(OSError):
            _remove_bytecode(Path(__file__).parent / "__pycache__")
    from bowerbird_mcp import command  # noqa: PLC0415 - imported when no bytecode is stored

    return command.main()


def _remove_bytecode(folder: Path) -> None:
    """Removes a folder that this start has created. An installer stores every module."""
    files = list(folder.iterdir())
    if {file.name.partition(".")[0] for file in files} <= _STORED:
        for file in files:
            file.unlink()
        folder.rmdir()


if __name__ == "__main__":
    sys.exit(main())
