"""Shell completion, as docs/self-hosting.md sets it up."""

import os
import subprocess
import sys

import pytest

PROGRAM = (sys.executable, "-m", "bowerbird")


def completed(words: str, number: int) -> list[str]:
    """The words that bash would offer."""
    variables = {
        "_BOWERBIRD_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(number),
    }
    ran = subprocess.run(
        PROGRAM, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    return [line.removeprefix("plain,") for line in ran.stdout.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    ran = subprocess.run(
        PROGRAM,
        env={**os.environ, "_BOWERBIRD_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0
    assert f"_BOWERBIRD_COMPLETE={shell}_complete" in ran.stdout
    assert ran.stderr == ""


def test_commands_their_parts_and_options_are_completed() -> None:
    assert completed("bowerbird ac", 1) == ["account"]
    assert completed("bowerbird account cre", 2) == ["create"]
    assert completed("bowerbird jobs list --js", 3) == ["--json"]
