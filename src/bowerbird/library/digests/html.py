"""A digest as HTML that mail programs show as it was meant.

Styles stand on the elements, because many programs drop everything else; those that keep the
style sheet also follow a dark screen. Nothing is fetched from anywhere: no image, no script.
"""

from html import escape
from typing import Final

from bowerbird.library.digests import wording as words
from bowerbird.library.digests.responses import DigestPost, DigestResponse

_SERIF: Final = "font-family:Georgia,'Times New Roman',serif;font-weight:normal"
_SANS: Final = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
# Paper, ink, and the blue that a bowerbird looks for.
_TONES: Final = {"ink": "#2a2926", "soft": "#6b665d", "blue": "#2b5c8f"}
_PAGE: Final = "#f6f3ee"
_CARD: Final = "#ffffff"
_LINE: Final = "#e9e4db"
_CHIP: Final = "background:#eef2f6;color:#33475b"
_SMALL: Final = f"{_SANS};font-size:13px;line-height:1.5"
_SHEET: Final = """
:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.page{background:#17181a!important}
.card{background:#202226!important;border-color:#33363b!important}
.ink{color:#ebe8e1!important}.soft{color:#aaa69d!important}.blue{color:#93bde6!important}
.line{border-color:#33363b!important}
.chip{background:#2b2f35!important;color:#cfd9e3!important}
}
@media (max-width:480px){.pad{padding-left:20px!important;padding-right:20px!important}}
"""
_TABLE: Final = 'role="presentation" width="100%" cellpadding="0" cellspacing="0"'


def html(digest: DigestResponse, unsubscribe_url: str = "") -> str:
    """A whole page; `unsubscribe_url` belongs into a letter alone."""
    rows = [_row("36px 40px 12px", _top(digest))]
    rows += [_row("14px 40px 6px", _section(one, digest)) for one in words.sections(digest)]
    rows.append(_row("8px 40px 32px", _foot(digest, unsubscribe_url)))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(words.heading(digest))}: {escape(digest.title)}</title>"
        f"<style>{_SHEET}</style></head>\n"
        f'<body class="page" style="margin:0;padding:0;background:{_PAGE}">'
        f'<table {_TABLE} class="page" style="background:{_PAGE}">'
        '<tr><td align="center" style="padding:28px 12px">'
        f'<table {_TABLE} class="card" style="max-width:600px;background:{_CARD};'
        f'border:1px solid {_LINE};border-radius:14px">\n'
        f"{''.join(rows)}</table></td></tr></table></body></html>\n"
    )


def _row(padding: str, inner: str) -> str:
    return f'<tr><td class="pad" align="left" style="padding:{padding}">{inner}</td></tr>\n'


def _element(tag: str, tone: str, style: str, inner: str) -> str:
    """Text in its own direction: a post may be in any script."""
    style = f"text-align:start;{style};color:{_TONES[tone]}"
    return f'<{tag} class="{tone}" dir="auto" style="{style}">{inner}</{tag}>'


def _link(address: str, tone: str, inner: str) -> str:
    return (
        f'<a class="{tone}" href="{escape(address)}" rel="noopener noreferrer" '
        f'style="color:{_TONES[tone]};text-decoration:underline">{inner}</a>'
    )


def _top(digest: DigestResponse) -> str:
    big = f"margin:0 0 18px;{_SERIF};font-size:29px;line-height:1.25"
    text = "margin:0 0 16px;font-size:16px;line-height:1.6"
    parts = [
        _element("p", "soft", f"margin:0 0 6px;{_SMALL}", escape(digest.title)),
        _element("h1", "ink", big, escape(words.heading(digest))),
    ]
    if digest.introduction:
        style = f"{text};{_SERIF};font-style:italic"
        parts.append(_element("p", "ink", style, escape(digest.introduction)))
    parts.append(_element("p", "ink", f"{text};{_SANS}", escape(words.opening(digest))))
    for name, counts in (("Labels", words.labels(digest)), ("Authors", words.authors(digest))):
        if counts:
            parts.append(_chips(name, counts))
    return "".join(parts)


def _chips(name: str, counts: list[tuple[str, int]]) -> str:
    # A blank after each, so that the line can break between them.
    chips = " ".join(
        '<span class="chip" style="display:inline-block;margin:0 4px 6px 0;padding:2px 10px;'
        f'border-radius:11px;{_CHIP};{_SMALL}"><bdi>{escape(one)}</bdi>&nbsp;{count:,}</span>'
        for one, count in counts
    )
    return _element("p", "soft", f"margin:0 0 6px;{_SMALL}", f"{name}&ensp;{chips}")


def _section(section: words.Section, digest: DigestResponse) -> str:
    style = f"margin:0 0 2px;{_SERIF};font-size:21px;line-height:1.3"
    more = f"And {section.more:,} more." if section.more > 0 else ""
    last = section.posts[-1]
    posts = "".join(_post(post, digest, is_last=post is last) for post in section.posts)
    heading = _element("h2", "ink", style, escape(section.heading))
    return heading + _note(section.note) + posts + _note(more)


def _note(text: str) -> str:
    return _element("p", "soft", f"margin:6px 0 0;{_SMALL}", escape(text)) if text else ""


def _post(post: DigestPost, digest: DigestResponse, *, is_last: bool) -> str:
    author = f'<bdi class="ink" style="color:{_TONES["ink"]};font-weight:600">'
    author += f"{escape(words.author_of(post))}</bdi>"
    day = escape(words.day_of(post, digest))
    facts = [author, _link(post.link, "blue", day) if post.link else day]
    facts += [f"<bdi>{escape(tag)}</bdi>" for tag in post.tags or []]
    parts = [_element("p", "soft", f"margin:0 0 4px;{_SMALL}", " &middot; ".join(facts))]
    wrapped = "overflow-wrap:anywhere"
    if post.title:
        style = f"margin:0 0 3px;{_SERIF};font-size:17px;line-height:1.4;{wrapped}"
        parts.append(_element("p", "ink", style, escape(post.title)))
    if post.text:
        style = f"margin:0;{_SANS};font-size:15px;line-height:1.55;{wrapped}"
        parts.append(_element("p", "ink", style, escape(post.text)))
    style = "padding:14px 0 13px" + ("" if is_last else f";border-bottom:1px solid {_LINE}")
    return f'<div class="line" style="{style}">{"".join(parts)}</div>'


def _foot(digest: DigestResponse, unsubscribe_url: str) -> str:
    text = f"Made from your own library, in the time of {escape(digest.time_zone)}."
    if unsubscribe_url:
        text += f" {_link(unsubscribe_url, 'soft', 'Stop these letters')}."
    return _element("p", "soft", f"margin:14px 0 0;{_SANS};font-size:12px;line-height:1.6", text)
