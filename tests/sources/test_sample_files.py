"""Reads the files of other programs that are next to the repository, if they are."""

from pathlib import Path

import pytest

from tests.support.posts.source_files import report

_SAMPLES = [folder / "shared/samples/files" for folder in Path(__file__).parents[3:5]]
_FILES = [file for folder in _SAMPLES if folder.is_dir() for file in sorted(folder.iterdir())]
_ONLY_A_HEADER = "header_only"


@pytest.mark.skipif(not _FILES, reason="The sample files are not here.")
def test_every_sample_file_is_read_without_a_problem() -> None:
    for file in _FILES:
        found = report(file.read_bytes(), with_likes=True)

        assert found.left_out == [], file.name
        assert len(found.posts) == (0 if _ONLY_A_HEADER in file.name else 1), file.name


_PAGES = [file for folder in _SAMPLES for file in sorted(folder.parent.glob("*.json"))]


@pytest.mark.skipif(not _PAGES, reason="The sample pages are not here.")
def test_every_sample_page_of_x_is_read() -> None:
    counts = {file.name: len(report(file.read_bytes()).posts) for file in _PAGES}

    assert counts.pop("bookmarks_page_end.json") == 0
    assert min(counts.values()) > 0
