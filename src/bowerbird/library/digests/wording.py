"""The sentences of a digest, and the digest as HTML, as Markdown and as the text of an email.

In Markdown, text that others wrote is data: it is on one line, every character with a meaning is
escaped, and only web addresses become links.
"""

import re
from collections.abc import Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from bowerbird.library.digests.creation import SAVED_POSTS, YEAR_AGO_POSTS
from bowerbird.library.digests.responses import MONTHS, DigestPost, DigestResponse
from bowerbird.model import instants
from bowerbird.model.instants import PeriodKind, local_day, zone_of

_SPANS: Final = {PeriodKind.DAILY: "day", PeriodKind.WEEKLY: "week"}
_YEAR_AGO: Final = {
    PeriodKind.DAILY: "A year ago that day",
    PeriodKind.WEEKLY: "A year ago that week",
}


class Section(NamedTuple):
    heading: str
    # Below the heading and above the posts; may be empty.
    note: str
    posts: list[DigestPost]
    # How many posts were left out. Posts deleted since then do not change it.
    more: int


def heading(digest: DigestResponse) -> str:
    return f"Your {_SPANS[PeriodKind(digest.kind)]} in saved posts"


def opening(digest: DigestResponse) -> str:
    count = digest.saved.count
    span = _SPANS[PeriodKind(digest.kind)]
    if not count:
        return f"You saved no posts this {span}. Here are some earlier ones."
    return f"You saved {counted(count, 'post')} this {span}."


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def labels(digest: DigestResponse) -> list[tuple[str, int]]:
    return [(label.label_name, label.count) for label in digest.saved.by_label]


def authors(digest: DigestResponse) -> list[tuple[str, int]]:
    return [
        (_display_name(author.author_name, author.author_username), author.count)
        for author in digest.saved.by_author
    ]


def sections(digest: DigestResponse) -> Iterator[Section]:
    """The sections that have at least one post."""
    forgotten = [digest.forgotten] if digest.forgotten else []
    saved, unread, year_ago = digest.saved, digest.unread, digest.a_year_ago
    found = (
        Section("Saved", "", saved.posts, saved.count - SAVED_POSTS),
        Section(
            "Worth reading", f"Out of {counted(unread.count, 'unread post')}.", unread.posts, 0
        ),
        Section(
            _YEAR_AGO[PeriodKind(digest.kind)],
            "",
            year_ago.posts,
            year_ago.count - YEAR_AGO_POSTS,
        ),
        Section("Forgotten?", "Saved long ago and never opened.", forgotten, 0),
    )
    return (section for section in found if section.posts)


def highlight(digest: DigestResponse) -> list[str]:
    """One of the account's highlights or notes, its comment if any, and where it is from."""
    found = digest.highlight
    if found is None:
        return []
    source = f"{author_of(found.post)}, {day_of(found.post, digest)}"
    return [part for part in (found.text, found.comment, source) if part]


def author_of(post: DigestPost) -> str:
    return _display_name(post.author_name, post.author_username)


def _display_name(name: str, handle: str) -> str:
    return name or (f"@{handle}" if handle else "Someone")


def day_of(post: DigestPost, digest: DigestResponse) -> str:
    """The day the post was saved, with the year if the digest is of another year."""
    instant = instants.parse(post.bookmarked_at) or 0
    day = local_day(instant, zone_of(digest.time_zone))
    year = "" if str(day.year) == digest.last_day[:4] else f" {day.year}"
    return f"{day.day} {MONTHS[day.month - 1]}{year}"


if TYPE_CHECKING:
    from jinja2 import Template


def html(digest: DigestResponse, unsubscribe_url: str = "") -> str:
    """A complete page. Only an email gets an `unsubscribe_url`."""
    return _template().render(
        digest=digest,
        heading=heading(digest),
        opening=opening(digest),
        counted_names=(("Labels", labels(digest)), ("Authors", authors(digest))),
        sections=sections(digest),
        highlight=highlight(digest),
        author_of=author_of,
        day_of=partial(day_of, digest=digest),
        unsubscribe_url=unsubscribe_url,
    )


@cache
def _template() -> "Template":
    import jinja2  # noqa: PLC0415 - slow to import, and a server without digests never needs it

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("bowerbird.library.digests"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.tests["web_address"] = _is_web_address
    return environment.get_template("digest.html")


def _is_web_address(address: str) -> bool:
    return address.startswith(("http://", "https://"))


# An underscore inside a word needs no escape, and an ampersand only before an entity.
_SPECIAL: Final = re.compile(r"[\\`*\[\]<>~|]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
# These characters are special only at the start of a line.
_AT_START: Final = re.compile(r"^(?:(?=[#+=-])|(\d{1,9})(?=[.)]))")


def markdown(digest: DigestResponse) -> str:
    parts = [f"# {heading(digest)}", f"*{escaped(digest.title)}*"]
    if digest.introduction:
        parts.append(_AT_START.sub(r"\1\\", escaped(digest.introduction)))
    parts.append(opening(digest))
    if counted := _counts(labels(digest)):
        parts.append(f"**Labels:** {counted}")
    if counted := _counts(authors(digest)):
        parts.append(f"**Authors:** {counted}")
    for section in sections(digest):
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
    lines = [_AT_START.sub(r"\1\\", escaped(one)) for one in highlight(digest)]
    return ["## From your highlights", f"> {lines[0]}", *lines[1:]] if lines else []


def plain_text(digest: DigestResponse, ending: str = "") -> str:
    parts = [f"{heading(digest)}: {digest.title}"]
    if digest.introduction:
        parts.append(digest.introduction)
    parts.append(opening(digest))
    for name, counts in (("Labels", labels(digest)), ("Authors", authors(digest))):
        if counts:
            listed = ", ".join(f"{one} ({count:,})" for one, count in counts)
            parts.append(f"{name}: {listed}")
    for section in sections(digest):
        parts.append(section.heading.upper())
        parts += [_plain_item(post, digest) for post in section.posts]
        if section.more > 0:
            parts.append(f"And {section.more:,} more.")
    if marked := highlight(digest):
        parts += ["FROM YOUR HIGHLIGHTS", *marked]
    return "\n\n".join([*parts, ending] if ending else parts) + "\n"


def escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: "\\" + found[0], text)


def _counts(counts: list[tuple[str, int]]) -> str:
    return ", ".join(f"{escaped(name)} ({count:,})" for name, count in counts)


def _item(post: DigestPost, digest: DigestResponse) -> str:
    author, day = escaped(author_of(post)), day_of(post, digest)
    linked_day = f"[{day}](<{post.link}>)" if post.link else day
    content = [f"**{escaped(post.title)}**"] if post.title else []
    content += [escaped(post.text)] if post.text else []
    content += [f"*{escaped(tag)}*" for tag in post.tags or []]
    head = f"- **{author}** ({linked_day})"
    return f"{head}: {' '.join(content)}" if content else head


def _plain_item(post: DigestPost, digest: DigestResponse) -> str:
    content = " ".join(part for part in (post.title, post.text) if part)
    head = f"* {author_of(post)}, {day_of(post, digest)}"
    lines = [f"{head}: {content}" if content else head]
    return "\n  ".join([*lines, post.link] if post.link else lines)
