"""The text of a post as its reader sees it: without escapes and without shortened links."""

import re
from collections.abc import Collection, Mapping
from typing import Final

_LINK: Final = re.compile(r"https?://t\.co/[A-Za-z0-9]+")
_MAX_LINK_CHARACTERS: Final = 64
# X ends the beginning of a long text like this. The link leads to the post.
_CUT: Final = re.compile(r"…\s*(https?://t\.co/[A-Za-z0-9]+)?\Z")
# Bounds a text that repeats one short link to a long address. Real posts stay far below it.
MAX_ADDED_CHARACTERS: Final = 100_000
_ESCAPES: Final = {
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&apos;": "'",
    "&#39;": "'",
}
_ESCAPE: Final = re.compile("|".join(_ESCAPES))
_AMPERSAND_AS_WRITTEN: Final = re.compile(f"&(?!{'|'.join(name[1:] for name in _ESCAPES)})")


def readable(text: str, targets: Mapping[str, str], hidden: Collection[str]) -> str:
    """Replaces shortened links by their targets, and removes the hidden ones from the end.

    Links are found by their text: the positions that X gives count characters before escapes are
    resolved, and differ between its formats.
    """
    return _expand(unescape(_without_end(text, hidden)), targets)


def is_cut(text: str) -> bool:
    """Whether a text may be the beginning of a longer one. Authors use dots, too."""
    return _CUT.search(text.rstrip()[-_MAX_LINK_CHARACTERS:]) is not None


def has_link_to_rest(text: str, hidden: Collection[str]) -> bool:
    """Whether a text of the web client may be cut: it then ends with a link to the rest.

    Links to the media of a post, which are hidden, come after whole texts as well.
    """
    cut = _CUT.search(text.rstrip()[-_MAX_LINK_CHARACTERS:])
    return cut is not None and cut[1] is not None and cut[1] not in hidden


def unescape(text: str) -> str:
    """Resolves the escapes that X writes, and no others: "&copy=1" in a link stays as it is.

    X escapes some texts and not others. An ampersand outside of an escape shows that the author's
    text was not escaped, so that "&lt;" in it is what the author wrote.
    """
    if "&" not in text or _AMPERSAND_AS_WRITTEN.search(text):
        return text
    return _ESCAPE.sub(lambda match: _ESCAPES[match[0]], text)


def _without_end(text: str, hidden: Collection[str]) -> str:
    end = len(text)
    while hidden and (start := _start_of_last_word(text, end)) is not None:
        word = text[start:end].rstrip()
        if word not in hidden:
            break
        end = start
    return text if end == len(text) else text[:end].rstrip()


def _start_of_last_word(text: str, end: int) -> int | None:
    """Where the link at the end of this part begins. Looks at a few characters only."""
    first = max(0, end - _MAX_LINK_CHARACTERS)
    start = text.rfind("http", first, end)
    return None if start < 0 else start


def _expand(text: str, targets: Mapping[str, str]) -> str:
    budget = MAX_ADDED_CHARACTERS

    def target(match: re.Match[str]) -> str:
        nonlocal budget
        address = targets.get(match[0])
        if not address or len(address) > budget:
            return match[0]
        budget -= len(address)
        return address

    return _LINK.sub(target, text) if targets else text
