"""Reads files with one address per line and no header: Mastodon's export, or any list of links."""

from collections.abc import Callable, Iterator

from bowerbird.sources.file_posts import FilePost, found_post, invalid, not_a_post
from bowerbird.sources.formats import Beginning, Choices, Format
from bowerbird.sources.found import Found
from bowerbird.sources.parsing.csv_rows import CsvRows
from bowerbird.sources.parsing.text_lines import SeekableFile
from bowerbird.sources.post_links import MASTODON, PostLink, parse_fediverse, parse_listed
from bowerbird.sources.records import charset_notice

_LINES_LOOKED_AT = 50


def _read(file: SeekableFile, find_link: Callable[[str], PostLink | None]) -> Iterator[Found]:
    # No address contains a tab, so each row has one cell.
    rows = CsvRows(file, "\t")
    for row in rows:
        if row.problem:
            yield invalid(row.line, row.problem)
            continue
        address = row.cells[0].strip().rstrip(",;")
        link = find_link(address)
        if link is None:
            yield not_a_post(row.line, address)
        else:
            yield found_post(FilePost(link=link, line=row.line, is_in_order=True))
    yield from charset_notice(rows)


def _addresses(beginning: Beginning) -> list[str]:
    """The addresses in the first lines. Empty if most lines are something else."""
    lines = beginning.text.splitlines()
    if beginning.is_cut and len(lines) > 1:
        lines.pop()
    listed = [line.strip().strip('"') for line in lines[:_LINES_LOOKED_AT] if line.strip()]
    addresses = [line for line in listed if _is_address(line)]
    return addresses if len(addresses) * 2 > len(listed) else []


def _is_address(line: str) -> bool:
    return line.startswith(("https://", "http://", "at://")) and not any(map(str.isspace, line))


def _is_mastodon(beginning: Beginning) -> bool:
    """Whether most addresses are posts of Mastodon, and none is a post of another network."""
    addresses = _addresses(beginning)
    networks = [link.network for address in addresses if (link := parse_fediverse(address))]
    return set(networks) == {MASTODON} and len(networks) * 2 > len(addresses)


def _is_list(beginning: Beginning) -> bool:
    return bool(_addresses(beginning))


def _read_mastodon(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    return _read(file, parse_fediverse)


def _read_links(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    return _read(file, parse_listed)


FORMATS = (
    Format("Mastodon CSV", _is_mastodon, _read_mastodon),
    Format("list of links", _is_list, _read_links),
)
