"""Reads links: Mastodon's export, lists, Markdown and notes, and bookmarks files of browsers."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from bowerbird.sources import file_labels
from bowerbird.sources.file_posts import (
    FAVOURITE,
    FilePost,
    found_post,
    invalid,
    not_a_post,
    text_and_name,
)
from bowerbird.sources.found import Beginning, Choices, Format, Found, Notice
from bowerbird.sources.parsing.html_text import Tag, tokens
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


def _read_text(file: SeekableFile, *, is_mastodon: bool, is_list: bool) -> Iterator[Found]:
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


TEXT_FORMATS = (
    Format(
        "Mastodon CSV",
        _is_mastodon,
        lambda file, _choices: _read_text(file, is_mastodon=True, is_list=True),
    ),
    Format(
        PLAIN_LIST,
        lambda start: bool(_addresses(start)),
        lambda file, _choices: _read_text(file, is_mastodon=False, is_list=True),
    ),
    Format(
        "text with links",
        _has_links,
        lambda file, _choices: _read_text(file, is_mastodon=False, is_list=False),
        is_general=True,
    ),
)


_MAX_TEXT_CHARACTERS: Final = 20_000
_MAX_TITLE_PARTS: Final = 100
_FITS: Final = re.compile(r"<!DOCTYPE\s+NETSCAPE-Bookmark-file-1|<DT>\s*<(?:A|H3)\b", re.IGNORECASE)
# Pocket's file has lists under two headings, and Instapaper's too.
_LISTS_FIT: Final = re.compile(
    r"<li>\s*<a\s[^<>]{0,3000}\btime_added=|<title>(?:Pocket|Instapaper)[^<>]{0,20}Export",
    re.IGNORECASE,
)
_STATES: Final = {"read archive": "archived", "archive": "archived", "starred": "favourite"}
# Folders that every browser has. They say where a link was, not what it is about.
_ROOTS: Final = frozenset({"personal_toolbar_folder", "unfiled_bookmarks_folder"})


def _read_html(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    lines = TextLines(file)
    reader = _Reader()
    for token in tokens(lines.blocks()):
        if isinstance(token, Tag):
            yield from reader.tag(token)
        else:
            reader.text(token)
    yield from reader.end_link()
    if line := lines.first_windows_line:
        yield Notice(line=line, sentence="The file is not UTF-8. It was read as Windows-1252.")


class _Reader:
    def __init__(self) -> None:
        # The names of the open folders, and the one whose list has not begun yet.
        self._folders: list[str] = []
        self._next_folder = ""
        self._link: Tag | None = None
        # The text of the open link or folder, None outside of both.
        self._text: list[str] | None = None
        self._note: list[str] | None = None
        self._title = ""
        self._is_root = False
        # What the heading above says about the links below.
        self._state = ""

    def text(self, text: str) -> None:
        for parts in (self._text, self._note):
            if parts is not None and len(parts) < _MAX_TITLE_PARTS:
                parts.append(text[:_MAX_TEXT_CHARACTERS])

    def tag(self, tag: Tag) -> Iterator[Found]:
        if tag.name == "a":
            yield from self._anchor(tag)
        elif tag.name == "h3":
            yield from self.end_link()
            self._folder(tag)
        elif tag.name == "h1":
            yield from self.end_link()
            self._heading(tag)
        elif tag.name == "dd":
            self._note = None if tag.is_end or self._link is None else []
        elif tag.name in ("dt", "dl", "li"):
            yield from self.end_link()
            if tag.name == "dl":
                self._list(tag)

    def _anchor(self, tag: Tag) -> Iterator[Found]:
        if tag.is_end:
            self._end_title()
            return
        yield from self.end_link()
        self._link, self._text = tag, []

    def _end_title(self) -> None:
        self._title = "".join(self._text or ())
        self._text = None

    def _heading(self, tag: Tag) -> None:
        if not tag.is_end:
            self._text = []
        else:
            self._end_title()
            self._state = _STATES.get(self._title.strip().lower(), "")

    def _folder(self, tag: Tag) -> None:
        if not tag.is_end:
            self._text = []
            self._is_root = any(root in tag.attributes.lower() for root in _ROOTS)
        else:
            self._end_title()
            self._next_folder = "" if self._is_root else self._title

    def _list(self, tag: Tag) -> None:
        if tag.is_end:
            if self._folders:
                self._folders.pop()
        else:
            if len(self._folders) < file_labels.MAX_FOLDER_DEPTH:
                self._folders.append(self._next_folder)
            self._next_folder = ""

    def end_link(self) -> Iterator[Found]:
        """A link ends where the next one begins, because its note follows it."""
        link, self._link = self._link, None
        if link is None:
            return
        if self._text is not None:
            self._end_title()
        note, self._note = "".join(self._note or ()), None
        address = link.attribute("href")
        post = parse(address)
        if post is None:
            yield not_a_post(link.line, address)
            return
        text, name = text_and_name(self._title, address, post)
        folder = file_labels.path(self._folders)
        yield found_post(
            FilePost(
                link=post,
                line=link.line,
                text=text,
                author_name=name,
                saved_at=link.attribute("add_date") or link.attribute("time_added"),
                labels=file_labels.names(
                    file_labels.split(link.attribute("tags")),
                    [folder],
                    [FAVOURITE] if self._state == "favourite" else (),
                ),
                note=note,
                is_archived=link.attribute("archived") == "1" or self._state == "archived",
            )
        )


HTML_FORMATS = (
    Format("bookmarks file of a browser", lambda start: bool(_FITS.search(start.text)), _read_html),
    Format(
        "Pocket or Instapaper HTML", lambda start: bool(_LISTS_FIT.search(start.text)), _read_html
    ),
)
