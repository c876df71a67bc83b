"""deploy/README.md names files and settings that exist."""

import re

from tests.deploy.named_settings import DEPLOY, KNOWN, settings_in

TEXT = (DEPLOY / "README.md").read_text(encoding="utf-8")


def test_every_link_has_a_target() -> None:
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", TEXT)]

    assert len(targets) > 10
    assert [each for each in targets if not (DEPLOY / each).exists()] == []


def test_every_setting_exists() -> None:
    named = {name.removesuffix("_FILE") for name in settings_in(TEXT)}

    assert named <= KNOWN


def test_every_file_is_named() -> None:
    folders = {path.name for path in DEPLOY.iterdir()} - {"README.md", "healthcheck.py"}

    assert [name for name in folders if name not in TEXT and name != "__pycache__"] == []
