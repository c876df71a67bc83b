"""Finds out which post an address points to: its network, its id there, and its author.

Of networks that have a site of their own, each form of an address is one row.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from bowerbird.model.posts import networks
from bowerbird.model.posts.networks import (
    FACEBOOK,
    INSTAGRAM,
    LINKEDIN,
    THREADS,
    TIKTOK,
    TUMBLR,
    YOUTUBE,
)
from bowerbird.sources.found import FIRST_FOREIGN_ID


class Form(NamedTuple):
    network: str
    # The groups are the fields of the texts below; `name` is the author.
    address: re.Pattern[str]
    link: str
    # For an address without the author.
    link_without_name: str = ""
    source_id: str = "{id}"


# A post is the same whatever follows its id.
_END: Final = r"(?:[/?&].*)?"
_VIDEO: Final = r"(?P<id>[A-Za-z0-9_-]{11})"
_SHORT_CODE: Final = r"(?P<id>[A-Za-z0-9_-]{5,60})"
_TIKTOK_ID: Final = r"(?P<id>[0-9]{15,20})"
_FACEBOOK: Final = r"(?:[a-z-]{1,10}\.)?facebook\.com"
_FACEBOOK_ID: Final = r"(?P<id>[0-9]{1,20}|pfbid[A-Za-z0-9]{1,100})"
_FACEBOOK_NAME: Final = r"(?P<name>[A-Za-z0-9._-]{1,100})"
_LINKEDIN: Final = r"(?:[a-z]{1,3}\.)?linkedin\.com"
_KIND: Final = r"(?P<kind>activity|share|ugcPost)"


def _youtube(address: str) -> Form:
    return Form(YOUTUBE, re.compile(address + _END), "https://www.youtube.com/watch?v={id}")


def _tiktok(address: str) -> Form:
    return Form(
        TIKTOK,
        re.compile(rf"{address}/{_TIKTOK_ID}(?:\.html)?{_END}"),
        "https://www.tiktok.com/@{name}/video/{id}",
        # TikTok writes it so in the files that it gives to people.
        "https://www.tiktokv.com/share/video/{id}/",
    )


def _tumblr(address: str) -> Form:
    return Form(
        TUMBLR,
        re.compile(rf"{address}/(?P<id>[0-9]{{5,20}}){_END}"),
        "https://www.tumblr.com/{name}/{id}",
    )


def _linkedin(path: str) -> Form:
    return Form(
        LINKEDIN,
        re.compile(f"{_LINKEDIN}/{path}"),
        "https://www.linkedin.com/feed/update/urn:li:{kind}:{id}/",
        source_id="{kind}:{id}",
    )


def _instagram(hosts: str) -> Form:
    return Form(
        INSTAGRAM,
        re.compile(
            rf"{hosts}/(?:(?P<name>[A-Za-z0-9_.]{{1,30}})/)?(?:p|reels?|tv)/(?!audio/)"
            + _SHORT_CODE
            + _END
        ),
        "https://www.instagram.com/p/{id}/",
    )


_THREADS: Final = Form(
    THREADS,
    re.compile(
        r"(?:www\.)?threads\.(?:net|com)/(?:@(?P<name>[A-Za-z0-9_.]{1,30})/post|t)/"
        + _SHORT_CODE
        + _END
    ),
    "https://www.threads.com/@{name}/post/{id}",
    "https://www.threads.com/t/{id}",
)


def _facebook(path: str, link: str) -> Form:
    return Form(
        FACEBOOK, re.compile(f"{_FACEBOOK}/{path}{_END}"), f"https://www.facebook.com/{link}"
    )


FORMS: Final[Mapping[str, tuple[Form, ...]]] = {
    "youtube.com": (
        _youtube(rf"(?:(?:www|m|music)\.)?youtube\.com/watch/?\?(?:.*&)?v={_VIDEO}"),
        _youtube(rf"(?:(?:www|m|music)\.)?youtube\.com/(?:shorts|live|embed|v)/{_VIDEO}"),
    ),
    "youtu.be": (_youtube(rf"(?:www\.)?youtu\.be/{_VIDEO}"),),
    "youtube-nocookie.com": (_youtube(rf"(?:www\.)?youtube-nocookie\.com/embed/{_VIDEO}"),),
    "tiktok.com": (
        _tiktok(
            r"(?:(?:www|m)\.)?tiktok\.com/(?:@(?P<name>[A-Za-z0-9_.]{1,50})?/(?:video|photo)"
            r"|embed(?:/v[0-9])?|player/v1|share/video|v)"
        ),
    ),
    "tiktokv.com": (_tiktok(r"(?:[a-z0-9-]{1,20}\.)?tiktokv\.com/share/video"),),
    "tumblr.com": (
        _tumblr(r"(?!www\.)(?P<name>[a-z0-9-]{1,63})\.tumblr\.com/(?:post|image)"),
        _tumblr(
            r"(?:www\.)?tumblr\.com/(?:(?:dashboard/)?blog/(?:view/)?)?"
            r"(?!(?:blog|post|search|tagged)/)(?P<name>[A-Za-z0-9-]{1,63})"
        ),
    ),
    "linkedin.com": (
        _linkedin(
            rf"(?:embed/)?(?:feed/update|video/live)/urn(?::|%3[Aa])li(?::|%3[Aa]){_KIND}"
            rf"(?::|%3[Aa])(?P<id>[0-9]{{15,20}}){_END}"
        ),
        # The name, the first words of the post, its id and a check: ada_birds-activity-71-Ab1c.
        _linkedin(
            r"posts/(?:(?P<name>[A-Za-z0-9-]{1,100})_)?[^/?]{0,600}?"
            rf"{_KIND}-(?P<id>[0-9]{{15,20}})(?:-[A-Za-z0-9_-]{{1,10}})?{_END}"
        ),
    ),
    "instagram.com": (_instagram(r"(?:(?:www|m)\.)?instagram\.com"),),
    "instagr.am": (_instagram(r"(?:www\.)?instagr\.am"),),
    "threads.net": (_THREADS,),
    "threads.com": (_THREADS,),
    "facebook.com": (
        _facebook(
            rf"{_FACEBOOK_NAME}/posts/(?:[^/?]{{1,600}}/)?{_FACEBOOK_ID}", "{name}/posts/{id}"
        ),
        _facebook(
            r"(?:permalink|story)\.php\?(?=(?:.*&)?id=(?P<owner>[0-9]{1,20})(?:&|\Z))"
            rf"(?:.*&)?story_fbid={_FACEBOOK_ID}",
            "permalink.php?story_fbid={id}&id={owner}",
        ),
        _facebook(
            rf"groups/(?P<owner>[A-Za-z0-9._-]{{1,100}})/(?:posts|permalink)/{_FACEBOOK_ID}",
            "groups/{owner}/posts/{id}/",
        ),
        _facebook(
            rf"(?:(?:watch/?(?:live/?)?|video\.php)\?(?:.*&)?v=|reel/){_FACEBOOK_ID}",
            "watch/?v={id}",
        ),
        _facebook(rf"{_FACEBOOK_NAME}/videos/(?:[^/?]{{1,600}}/)?{_FACEBOOK_ID}", "watch/?v={id}"),
        _facebook(rf"photo(?:\.php|/)?\?(?:.*&)?fbid={_FACEBOOK_ID}", "photo/?fbid={id}"),
        _facebook(
            rf"{_FACEBOOK_NAME}/photos/(?:[^/?]{{1,600}}/)?{_FACEBOOK_ID}", "photo/?fbid={id}"
        ),
    ),
}


MAX_LINK_CHARACTERS: Final = 2048
X: Final = networks.X
MASTODON: Final = networks.MASTODON
BLUESKY: Final = networks.BLUESKY
REDDIT: Final = networks.REDDIT

_X_HOSTS: Final = frozenset(
    {
        *("x.com", "www.x.com", "mobile.x.com", "m.x.com"),
        *("twitter.com", "www.twitter.com", "mobile.twitter.com", "m.twitter.com"),
        # Sites that show posts of X under the same path, so that chats get a preview.
        *("fxtwitter.com", "www.fxtwitter.com", "d.fxtwitter.com", "m.fxtwitter.com"),
        *("vxtwitter.com", "www.vxtwitter.com", "d.vxtwitter.com", "c.vxtwitter.com"),
        *("fixupx.com", "www.fixupx.com", "d.fixupx.com", "fixvx.com", "www.fixvx.com"),
        *("twittpr.com", "www.twittpr.com"),
        *("nitter.net", "nitter.poast.org", "nitter.privacydev.net", "nitter.it"),
        *("xcancel.com", "www.xcancel.com"),
    }
)
_REDDIT_HOSTS: Final = frozenset(
    {"reddit.com", *(f"{name}.reddit.com" for name in ("www", "old", "new", "np", "m", "i", "sh"))}
)
_BLUESKY_HOSTS: Final = frozenset({"bsky.app", "www.bsky.app", "staging.bsky.app", "main.bsky.dev"})

_X_PATH: Final = re.compile(
    r"/(?:(?:(?P<name>[A-Za-z0-9_]{1,20})|i/web)/status(?:es)?|statuses)/(?P<id>[1-9][0-9]{0,18})"
    r"(?:/(?:photo|video)/[0-9]{1,2}"
    r"|/(?:analytics|likes|retweets|quotes|history|mediaViewer|[a-z]{2}))?/?"
)
_X_ID: Final = re.compile(r"[1-9][0-9]{0,18}")
_LAST_X_ID: Final = 2**63 - 1
# Its addresses look like those of Mastodon.
_OTHER_AT_HOSTS: Final = frozenset({"medium.com", "www.medium.com", "m.medium.com"})
_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}\.){1,8}[a-z][a-z0-9-]{1,62}", re.ASCII)
_MASTODON_PATH: Final = re.compile(
    r"(?:/web|/deck)?/@(?P<name>[A-Za-z0-9_.-]{1,64}(?:@[A-Za-z0-9.-]{1,253})?)"
    r"(?:/posts)?/(?P<id>[0-9]{1,20})/?"
    r"|/users/(?P<user>[A-Za-z0-9_.-]{1,64})/statuses/(?P<status>[0-9A-Z]{1,32})(?:/activity)?/?"
    r"|/ap/users/[0-9]{1,20}/statuses/(?P<numbered>[0-9]{1,20})/?"
)
# Other servers that speak the protocol of Mastodon. Their paths are too general for an address
# from any file, so only readers of Mastodon's files and of lists of links use them.
_FEDIVERSE_PATH: Final = re.compile(
    r"/(?:objects|activities)/[0-9a-f-]{36}"
    r"|/(?:notes|notice)/[0-9A-Za-z]{8,40}"
    r"|/p/[A-Za-z0-9_.-]{1,64}/[0-9]{1,20}"
    r"|/@[A-Za-z0-9_.-]{1,64}/statuses/[0-9A-Z]{1,32}"
    r"|/(?:post|comment)/[0-9]{1,20}"
)
# Pages of other sites have such paths too: numbers of blog posts, and words instead of ids. Ids
# have digits or capital letters inside; of Misskey's, of 10 or 16 characters, a few do not.
_OTHER_PAGE: Final = re.compile(
    r"/(?:post|comment)/.*"
    r"|/(?:notes|notice)/(?!a[a-z]{9}(?:[a-z]{6})?\Z)[A-Z]*[a-z]*"
)
_BLUESKY_PATH: Final = re.compile(
    r"/profile/(?P<author>[A-Za-z0-9.:-]{1,253})/post/(?P<key>[A-Za-z0-9._~:-]{1,512})/?"
)
_AT_URI: Final = re.compile(
    r"at://(?P<author>[A-Za-z0-9.:_-]{1,253})/app\.bsky\.feed\.post/(?P<key>[A-Za-z0-9._~:-]{1,512})/?"
)
_REDDIT_PATH: Final = re.compile(
    r"(?:/(?:r|u|user)/(?P<group>[A-Za-z0-9_-]{1,50}))?/(?:comments|gallery)/(?P<id>[0-9A-Za-z]{1,13})"
    r"(?:/(?P<slug>[^/]{0,300}))?(?:/(?P<comment>[0-9A-Za-z]{1,13}))?/?"
)


# Addresses that lead to a post and do not name it. Only their sites know which one it is.
_SHORT: Final = re.compile(
    r"(?:(?:vm|vt)\.tiktok\.com|fb\.watch|t\.co|lnkd\.in)/[^/]+/?"
    r"|(?:www\.|m\.)?tiktok\.com/t/[^/]+/?"
    r"|(?:www\.|m\.)?facebook\.com/share/.+"
    r"|(?:www\.|old\.)?reddit\.com/(?:r|u|user)/[^/]+/s/[^/]+/?"
)
SHORT_ADVICE: Final = "a short address; open it and save the address of the post."


class PostLink(NamedTuple):
    network: str
    # The id in our library: digits.
    post_id: str
    # The id on its network; for X the same as post_id.
    source_id: str
    # "" if the address does not name the author.
    author_username: str
    link: str


def parse(address: str) -> PostLink | None:
    """The post that an address points to, or None if it is not the address of a post."""
    return _parse(address, _by_host)


def parse_fediverse(address: str) -> PostLink | None:
    """Like parse(), but for a list that contains only posts of Mastodon and similar servers."""
    return parse(address) or _parse(address, _fediverse)


def parse_listed(address: str) -> PostLink | None:
    """Like parse(), but for a list of links: also posts of other servers like Mastodon."""
    return parse(address) or _parse(address, _listed)


def is_short(address: str) -> bool:
    """Whether an address leads to a post, but only its site knows to which."""
    parts = _split(address)
    return parts is not None and _SHORT.fullmatch(f"{parts[0]}{parts[1].path}") is not None


def post_id_of(network: str, source_id: str) -> str:
    """The id in our library of a post that is not from X: always the same for the same post.

    A hash of 128 bits, so that two posts get the same id only by an accident nobody will see.
    """
    named = f"{network}\n{source_id}".encode("utf-8", "replace")
    number = int.from_bytes(hashlib.blake2b(named, digest_size=16).digest())
    return str(FIRST_FOREIGN_ID + number)


def x_post(post_id: str, username: str = "") -> PostLink | None:
    """The post of X with this id. None if X cannot have given the id."""
    if not _X_ID.fullmatch(post_id) or int(post_id) > _LAST_X_ID:
        return None
    return PostLink(
        X, post_id, post_id, username, f"https://x.com/{username or 'i'}/status/{post_id}"
    )


def foreign_post(network: str, source_id: str, author_username: str, link: str) -> PostLink:
    return PostLink(network, post_id_of(network, source_id), source_id, author_username, link)


def bluesky_post(uri: str, handle: str = "") -> PostLink | None:
    """The post of Bluesky with this address in the AT protocol."""
    match = _AT_URI.fullmatch(uri) if len(uri) <= MAX_LINK_CHARACTERS else None
    return _bluesky(match["author"], match["key"], handle) if match else None


def reddit_post(group: str, post: str, comment: str, author: str = "") -> PostLink:
    """A post, or a comment on it. `group` is the path of its subreddit or author, or ""."""
    path = f"{group}/comments/{post}/" + (f"comment/{comment}/" if comment else "")
    source_id = f"t1_{comment}" if comment else f"t3_{post}"
    return foreign_post(REDDIT, source_id, author, f"https://www.reddit.com{path}")


def _parse(address: str, read: Callable[[str, SplitResult], PostLink | None]) -> PostLink | None:
    address = address.strip()
    if address.startswith("at://"):
        return bluesky_post(address)
    parts = _split(address)
    return None if parts is None else read(*parts)


def _split(address: str) -> tuple[str, SplitResult] | None:
    address = address.strip()
    if len(address) > MAX_LINK_CHARACTERS:
        return None
    try:
        parts = urlsplit(address if "://" in address[:12] else f"https://{address}")
        host = (parts.hostname or "").removesuffix(".")
        is_web = parts.scheme in ("http", "https") and parts.port in (None, 80, 443)
    except ValueError:
        return None
    # A name before the host hides the host from people: https://x.com@example.org/
    return None if not is_web or parts.username is not None else (host, parts)


def _by_host(host: str, parts: SplitResult) -> PostLink | None:
    path = parts.path
    if host in _X_HOSTS:
        # Addresses of 2011 had their path after "#!".
        is_old = path in ("", "/") and parts.fragment.startswith("!/")
        return _x(parts.fragment[1:].partition("?")[0] if is_old else path)
    if host in _REDDIT_HOSTS or host == "redd.it":
        return _reddit(f"/comments{path}" if host == "redd.it" else path)
    if host in _BLUESKY_HOSTS:
        match = _BLUESKY_PATH.fullmatch(path)
        return _bluesky(match["author"], match["key"]) if match else None
    if (forms := FORMS.get(_site(host))) is not None:
        return _by_form(forms, host, parts)
    return _mastodon(host, path)


def _site(host: str) -> str:
    """The part of a name that belongs to one owner, for names such as m.youtube.com."""
    return ".".join(host.rsplit(".", 2)[-2:])


def _by_form(forms: Sequence[Form], host: str, parts: SplitResult) -> PostLink | None:
    address = f"{host}{parts.path}?{parts.query}" if parts.query else f"{host}{parts.path}"
    for form in forms:
        if (match := form.address.fullmatch(address)) is None:
            continue
        fields = match.groupdict()
        name = fields.get("name") or ""
        link = form.link if name or not form.link_without_name else form.link_without_name
        return foreign_post(
            form.network,
            form.source_id.format(**fields),
            # Pages without a name of their own have their number in the same place.
            "" if name.isdigit() else name,
            link.format(**fields),
        )
    return None


def _mastodon(host: str, path: str) -> PostLink | None:
    match = _MASTODON_PATH.fullmatch(path)
    if match is None or host in _OTHER_AT_HOSTS or not _HOST.fullmatch(host):
        return None
    name = match["name"] or match["user"] or ""
    number = match["id"] or match["status"] or match["numbered"]
    author = name if "@" in name or not name else f"{name}@{host}"
    if match["numbered"]:
        link = f"https://{host}{path}"
    elif number.isdigit():
        link = f"https://{host}/@{name}/{number}"
    else:
        link = f"https://{host}/users/{name}/statuses/{number}"
    # A server numbers its posts once for all authors, so one post has one id here under
    # both of its addresses.
    return foreign_post(MASTODON, f"{host}/{number}", author, link)


def _x(path: str) -> PostLink | None:
    match = _X_PATH.fullmatch(path)
    if match is None:
        return None
    name = match["name"] or ""
    return x_post(match["id"], "" if name == "i" else name)


def _fediverse(host: str, parts: SplitResult) -> PostLink | None:
    path = parts.path.removesuffix("/")
    is_known = host in _X_HOSTS | _REDDIT_HOSTS | _BLUESKY_HOSTS or _site(host) in FORMS
    if is_known or not _HOST.fullmatch(host):
        return None
    if not _FEDIVERSE_PATH.fullmatch(path):
        return None
    return foreign_post(MASTODON, f"{host}{path}", "", f"https://{host}{path}")


def _listed(host: str, parts: SplitResult) -> PostLink | None:
    is_other = _OTHER_PAGE.fullmatch(parts.path.removesuffix("/"))
    return None if is_other else _fediverse(host, parts)


def _bluesky(author: str, key: str, handle: str = "") -> PostLink:
    # Names are not case-sensitive, keys are.
    author = author.lower()
    name = handle or ("" if author.startswith("did:") else author)
    return foreign_post(
        BLUESKY,
        f"at://{author}/app.bsky.feed.post/{key}",
        name,
        f"https://bsky.app/profile/{name or author}/post/{key}",
    )


def _reddit(path: str) -> PostLink | None:
    match = _REDDIT_PATH.fullmatch(path)
    if match is None:
        return None
    kind, _, _ = path[1:].partition("/")
    group = f"/{kind}/{match['group']}" if match["group"] else ""
    author = match["group"] if match["group"] and kind in ("u", "user") else ""
    return reddit_post(group, match["id"].lower(), (match["comment"] or "").lower(), author)
