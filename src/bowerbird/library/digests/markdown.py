"""Renders a digest as Markdown, and as the plain text part of the email.

Text that others wrote is data: it is on one line, every character with a meaning in Markdown is
escaped, and only web addresses become links.
"""

import re
from typing import Final

from bowerbird.library.digests import wording
from bowerbird.library.digests.responses import DigestPost, DigestResponse

# An underscore inside a word needs no escape, and an ampersand only before an entity.
_SPECIAL: Final = re.compile(r"[\\`*\[\]<>~|]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
# These characters are special only at the start of a line.
_AT_START: Final = re.compile(r"^(?:(?=[#+=-])|(\d{1,9})(?=[.)]))")


def markdown(digest: DigestResponse) -> str:
    parts = [f"# {wording.heading(digest)}", f"*{escaped(digest.title)}*"]
    if digest.introduction:
        parts.append(_AT_START.sub(r"\1\\", escaped(digest.introduction)))
    parts.append(wording.opening(digest))
    if labels := _counts(wording.labels(digest)):
        parts.append(f"**Labels:** {labels}")
    if authors := _counts(wording.authors(digest)):
        parts.append(f"**Authors:** {authors}")
    for section in wording.sections(digest):
        parts.append(f"## {section.heading}")
        if section.note:
            parts.append(section.note)
        parts.append("\n".join(_item(post, digest) for post in section.posts))
        if section.more > 0:
            parts.append(f"And {section.more:,} more.")
    parts += _marked(digest)
    return "\n\n".join(parts) + "\n"


def _marked(digest: DigestResponse) -> list[str]:
    """The highlight or note of the account, which is text like that of others."""
    lines = [_AT_START.sub(r"\1\\", escaped(one)) for one in wording.highlight(digest)]
    return ["## From your highlights", f"> {lines[0]}", *lines[1:]] if lines else []


def plain_text(digest: DigestResponse, ending: str = "") -> str:
    parts = [f"{wording.heading(digest)}: {digest.title}"]
    if digest.introduction:
        parts.append(digest.introduction)
    parts.append(wording.opening(digest))
    for name, counts in (("Labels", wording.labels(digest)), ("Authors", wording.authors(digest))):
        if counts:
            listed = ", ".join(f"{one} ({count:,})" for one, count in counts)
            parts.append(f"{name}: {listed}")
    for section in wording.sections(digest):
        parts.append(section.heading.upper())
        parts += [_plain_item(post, digest) for post in section.posts]
        if section.more > 0:
            parts.append(f"And {section.more:,} more.")
    if marked := wording.highlight(digest):
        parts += ["FROM YOUR HIGHLIGHTS", *marked]
    return "\n\n".join([*parts, ending] if ending else parts) + "\n"


def escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: "\\" + found[0], text)


def _counts(counts: list[tuple[str, int]]) -> str:
    return ", ".join(f"{escaped(name)} ({count:,})" for name, count in counts)


def _item(post: DigestPost, digest: DigestResponse) -> str:
    author, day = escaped(wording.author_of(post)), wording.day_of(post, digest)
    linked_day = f"[{day}](<{post.link}>)" if post.link else day
    content = [f"**{escaped(post.title)}**"] if post.title else []
    content += [escaped(post.text)] if post.text else []
    content += [f"*{escaped(tag)}*" for tag in post.tags or []]
    head = f"- **{author}** ({linked_day})"
    return f"{head}: {' '.join(content)}" if content else head


def _plain_item(post: DigestPost, digest: DigestResponse) -> str:
    content = " ".join(part for part in (post.title, post.text) if part)
    head = f"* {wording.author_of(post)}, {wording.day_of(post, digest)}"
    lines = [f"{head}: {content}" if content else head]
    return "\n  ".join([*lines, post.link] if post.link else lines)
