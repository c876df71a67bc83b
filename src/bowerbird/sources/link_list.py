"""Reads text with addresses in it: Mastodon's export, lists of links, Markdown, notes."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from bowerbird.sources.file_posts import (
    FilePost,
    found_post,
    invalid,
    not_a_post,
    text_and_name,
)
from bowerbird.sources.found import Beginning, Format, Found
from bowerbird.sources.parsing.text_lines import SeekableFile, TextLines
from bowerbird.sources.post_links import (
    MASTODON,
    MAX_LINK_CHARACTERS,
    PostLink,
    parse,
    parse_fediverse,
    parse_listed,
    x_post,
)
from bowerbird.sources.records import LONG_ID, charset_notice, is_address
from bowerbird.sources.x.files import part_name

PLAIN_LIST: Final = "list of links"
_LINES_LOOKED_AT: Final = 50
_MAX_TITLE_CHARACTERS: Final = 500
_ADDRESS: Final = re.compile(
    r"(?:https?|at)://[^\s<>\"'`|\\^{}\[\]«»“”„\u3001\u3002\uff0c\uff08\uff09「」]+"
)
_SEPARATED: Final = re.compile("[,;]")
# `[title](address)` of Markdown.
_TITLED: Final = re.compile(
    rf"\[([^\[\]]{{0,{_MAX_TITLE_CHARACTERS}}})\]\(\s*<?((?:https?|at)://[^\s()<>]++)[^()]{{0,200}}\)"
)
_PARTNERS: Final = {")": "(", "]": "[", "}": "{"}


def addresses_in(text: str) -> list[str]:
    """The addresses in a text, without the punctuation behind them."""
    return [_without_end(match[0]) for match in _ADDRESS.finditer(text)]


def without_addresses(text: str) -> str:
    return _ADDRESS.sub(lambda match: match[0].removeprefix(_without_end(match[0])), text)


def _without_end(address: str) -> str:
    if len(address) > MAX_LINK_CHARACTERS:
        return address
    counts = Counter(address)
    end = len(address)
    while end:
        last = address[end - 1]
        is_open = last in _PARTNERS and counts[_PARTNERS[last]] < counts[last]
        if last not in ".,;:!?*_" and not is_open:
            break
        counts[last] -= 1
        end -= 1
    return address[:end]


def _links(line: str) -> list[tuple[str, str]]:
    """The addresses in a line with their titles."""
    titles = {match[2]: match[1] for match in _TITLED.finditer(line)}
    return [(address, titles.get(address, "")) for address in dict.fromkeys(addresses_in(line))]


def _read(file: SeekableFile, *, is_mastodon: bool, is_list: bool) -> Iterator[Found]:
    find_link = parse_fediverse if is_mastodon else _listed
    lines = TextLines(file)
    while line := lines.next():
        if line.is_cut:
            yield invalid(line.number, "The line is too long.")
            continue
        links = _links(line.text)
        text = line.text.strip().strip('",;')
        if not links and text and is_list:
            links = [(text, "")]
        for address, title in links:
            # A row of a table without a header begins with its link.
            post = find_link(address) or find_link(_SEPARATED.split(address, maxsplit=1)[0])
            if post is None:
                yield not_a_post(line.number, address)
                continue
            words, name = text_and_name(title, address, post)
            yield found_post(
                FilePost(
                    link=post, line=line.number, text=words, author_name=name, is_in_order=True
                )
            )
    yield from charset_notice(lines.first_windows_line)


def _listed(text: str) -> PostLink | None:
    return x_post(text) if LONG_ID.fullmatch(text) else parse_listed(text)


def _first_lines(beginning: Beginning) -> list[str]:
    lines = beginning.text.splitlines()
    if beginning.is_cut and len(lines) > 1:
        lines.pop()
    return [line.strip() for line in lines if line.strip()]


def _addresses(beginning: Beginning) -> list[str]:
    """The addresses in the first lines, or the ids of X if there is nothing else.

    Empty if most lines are something else.
    """
    listed = [line.strip('",;') for line in _first_lines(beginning)[:_LINES_LOOKED_AT]]
    if all(map(LONG_ID.fullmatch, listed)):
        return listed
    addresses = [line for line in listed if is_address(line) and len(line.split()) == 1]
    return addresses if len(addresses) * 2 > len(listed) else []


def _is_mastodon(beginning: Beginning) -> bool:
    """Whether most addresses are posts of Mastodon, and none is a post of another network."""
    addresses = _addresses(beginning)
    networks = [link.network for address in addresses if (link := parse_fediverse(address))]
    return set(networks) == {MASTODON} and len(networks) * 2 > len(addresses)


def _has_links(beginning: Beginning) -> bool:
    # Other parts of an archive have links to posts that the person did not save.
    is_text = bool(beginning.columns) and not part_name(beginning)
    return is_text and any(map(parse, addresses_in(beginning.text)))


FORMATS = (
    Format(
        "Mastodon CSV",
        _is_mastodon,
        lambda file, _choices: _read(file, is_mastodon=True, is_list=True),
    ),
    Format(
        PLAIN_LIST,
        lambda start: bool(_addresses(start)),
        lambda file, _choices: _read(file, is_mastodon=False, is_list=True),
    ),
    Format(
        "text with links",
        _has_links,
        lambda file, _choices: _read(file, is_mastodon=False, is_list=False),
        is_general=True,
    ),
)
