"""Reads the files of other programs that are next to the repository, if they are."""

from pathlib import Path

import pytest

from tests.support.source_files import report

_SAMPLES = [folder / "shared/samples/files" for folder in Path(__file__).parents[3:5]]
_FILES = [file for folder in _SAMPLES if folder.is_dir() for file in sorted(folder.iterdir())]
_ONLY_A_HEADER = "header_only"


@pytest.mark.skipif(not _FILES, reason="The sample files are not here.")
def test_every_sample_file_is_read_without_a_problem() -> None:
    for file in _FILES:
        found = report(file.read_bytes(), with_likes=True)

        assert found.left_out == [], file.name
        assert len(found.posts) == (0 if _ONLY_A_HEADER in file.name else 1), file.name
