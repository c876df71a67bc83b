"""The addresses of posts of networks that have a site of their own, each form in one row.

A form is matched with `host/path?query`. Parameters for tracking are not part of an id.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from bowerbird.model.networks import (
    FACEBOOK,
    INSTAGRAM,
    LINKEDIN,
    THREADS,
    TIKTOK,
    TUMBLR,
    YOUTUBE,
)


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
