"""Scripts are sent without their comments, and nothing else is missing."""

import subprocess
from pathlib import Path

import pytest

from bowerbird.web import templating
from tests.support import node

FOLDER = Path(templating.__file__).parent / "static"
SCRIPTS = {path.name: path for path in sorted(FOLDER.rglob("*.js"))}


def sent(name: str) -> str:
    return next(
        document.body.decode()
        for path, document in templating.files().items()
        if path.startswith(f"/static/{name.removesuffix('.js')}.") and path.endswith(".js")
    )


def code(text: str) -> list[str]:
    """The lines of a script that are not part of a comment."""
    kept, is_comment = [], False
    for line in text.splitlines():
        start = line.strip()
        if not is_comment and start.startswith("/**"):
            is_comment = "*/" not in start
            if start.endswith("*/") or is_comment:
                continue
        elif is_comment:
            is_comment = "*/" not in start
            continue
        elif start.startswith("//"):
            continue
        kept.append(line)
    return kept


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_sent_as_it_is_written_but_for_its_comments(name: str) -> None:
    assert sent(name).splitlines() == code(SCRIPTS[name].read_text(encoding="utf-8"))


def test_the_sent_scripts_can_be_read() -> None:
    for name in SCRIPTS:
        checked = subprocess.run(
            [str(node.NODE), "--check", "--input-type=module", "-"],
            input=sent(name),
            capture_output=True,
            text=True,
            check=False,
        )
        assert checked.returncode == 0, checked.stderr
