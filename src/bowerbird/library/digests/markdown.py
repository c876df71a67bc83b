"""A digest as Markdown, and as plain text for the letter's first part.

What others wrote is data: it stands on one line, with every sign escaped that would mean
something, and no address but one of a web page becomes a link.
"""

import re
from typing import Final

from bowerbird.library.digests import wording as words
from bowerbird.library.digests.responses import DigestPost, DigestResponse

# An underscore within a word means nothing, and an ampersand only in front of an entity.
_MEANINGFUL: Final = re.compile(r"[\\`*\[\]<>~|]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
# At the beginning of a line there is more that means something.
_AT_START: Final = re.compile(r"^(?:(?=[#+=-])|(\d{1,9})(?=[.)]))")


def markdown(digest: DigestResponse) -> str:
    parts = [f"# {words.heading(digest)}", f"*{escaped(digest.title)}*"]
    if digest.introduction:
        parts.append(_AT_START.sub(r"\1\\", escaped(digest.introduction)))
    parts.append(words.opening(digest))
    if labels := _counts(words.labels(digest)):
        parts.append(f"**Labels:** {labels}")
    if authors := _counts(words.authors(digest)):
        parts.append(f"**Authors:** {authors}")
    for section in words.sections(digest):
        parts.append(f"## {section.heading}")
        if section.note:
            parts.append(section.note)
        parts.append("\n".join(_item(post, digest) for post in section.posts))
        if section.more > 0:
            parts.append(f"And {section.more:,} more.")
    return "\n\n".join(parts) + "\n"


def plain(digest: DigestResponse, ending: str = "") -> str:
    parts = [f"{words.heading(digest)}: {digest.title}"]
    if digest.introduction:
        parts.append(digest.introduction)
    parts.append(words.opening(digest))
    for name, counts in (("Labels", words.labels(digest)), ("Authors", words.authors(digest))):
        if counts:
            listed = ", ".join(f"{one} ({count:,})" for one, count in counts)
            parts.append(f"{name}: {listed}")
    for section in words.sections(digest):
        parts.append(section.heading.upper())
        parts += [_plain_item(post, digest) for post in section.posts]
        if section.more > 0:
            parts.append(f"And {section.more:,} more.")
    return "\n\n".join([*parts, ending] if ending else parts) + "\n"


def escaped(text: str) -> str:
    return _MEANINGFUL.sub(lambda found: "\\" + found[0], text)


def _counts(counts: list[tuple[str, int]]) -> str:
    return ", ".join(f"{escaped(name)} ({count:,})" for name, count in counts)


def _item(post: DigestPost, digest: DigestResponse) -> str:
    author, day = escaped(words.author_of(post)), words.day_of(post, digest)
    where = f"[{day}](<{post.link}>)" if post.link else day
    said = [f"**{escaped(post.title)}**"] if post.title else []
    said += [escaped(post.text)] if post.text else []
    said += [f"*{escaped(tag)}*" for tag in post.tags or []]
    head = f"- **{author}** ({where})"
    return f"{head}: {' '.join(said)}" if said else head


def _plain_item(post: DigestPost, digest: DigestResponse) -> str:
    said = " ".join(part for part in (post.title, post.text) if part)
    head = f"* {words.author_of(post)}, {words.day_of(post, digest)}"
    lines = [f"{head}: {said}" if said else head]
    return "\n  ".join([*lines, post.link] if post.link else lines)
