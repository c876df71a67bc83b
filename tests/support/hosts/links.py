"""Hosts of networks in their shapes, and the worker that asks them for posts."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bowerbird.clock import MICROSECONDS
from bowerbird.connections.fetching import PublicFetcher
from bowerbird.jobs.account_jobs import link_jobs
from bowerbird.library.links import LinkReading
from bowerbird.settings import Settings
from tests.support import saving
from tests.support.hosts.image_hosts import ImageHosts
from tests.support.hosts.networks import record, status
from tests.support.posts.keeping import no_report
from tests.support.service import Member

X_HOST = "publish.twitter.com"
BLUESKY_HOST = "public.api.bsky.app"
REDDIT_HOST = "www.reddit.com"
SERVER = "hachyderm.example"
TITLED_HOSTS = ("www.youtube.com", "www.tiktok.com", "www.tumblr.com")
NAMES = (
    *(X_HOST, "publish.x.com", BLUESKY_HOST, REDDIT_HOST, *TITLED_HOSTS),
    *(SERVER, "evil.example"),
)
JSON = "Content-Type: application/json; charset=utf-8\r\n"


def x_link(number: int, name: str = "nestcam") -> str:
    return f"https://x.com/{name}/status/{1_700_000_000_000_000_000 + number}"


def x_url(link: str) -> str:
    """The request for a post of X."""
    post = link.replace("https://x.com/", "https://twitter.com/")
    query = urlencode({"url": post, "omit_script": "1", "dnt": "true"})
    return f"https://{X_HOST}/oembed?{query}"


def quoted(link: str, text: str = "The nest is <b>full</b>.") -> dict[str, Any]:
    """What X answers."""
    post = link.replace("https://x.com/", "https://twitter.com/")
    html = (
        f'<blockquote class="twitter-tweet" data-dnt="true"><p lang="en" dir="ltr">{text}</p>'
        f'&mdash; Nest Cam (@nestcam) <a href="{post}?ref_src=twsrc%5Etfw">May 1, 2024</a>'
        "</blockquote>\n\n"
    )
    return {"author_name": "Nest Cam", "author_url": "https://twitter.com/nestcam", "html": html}


@dataclass
class Reader:
    """The links of an account, and the worker that reads their posts."""

    member: Member
    hosts: ImageHosts
    folder: Path
    options: dict[str, Any] = field(default_factory=dict)
    timeout_s: float = 10.0
    # When each request was sent, on the clock of the test.
    slept: float = 0.0

    def __post_init__(self) -> None:
        self.settings = Settings(data_dir=self.folder, **self.options)
        self.reading = LinkReading(
            self.member.database, self.member.clock, self.settings, self.fetcher, self.sleep
        )
        self.jobs = link_jobs(self.member.database, self.reading, self.member.clock)

    def fetcher(self) -> PublicFetcher:
        return PublicFetcher(
            resolve=self.hosts.resolve, connect=self.hosts.connect, timeout_s=self.timeout_s
        )

    async def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.member.clock.now += round(seconds * MICROSECONDS)

    def put(self, url: str, value: Any, status: str = "200 OK", headers: str = "") -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.hosts.put(url, body, status, JSON + headers)

    def x_post(self, number: int, **given: Any) -> str:
        """The link of a post that X publishes."""
        link = x_link(number)
        self.put(x_url(link), quoted(link, **given))
        return link

    def status(self, number: int, **fields: Any) -> str:
        """The link of a post that a server like Mastodon publishes."""
        one = {**status(number), **fields}
        self.put(f"https://{SERVER}/api/v1/statuses/{one['id']}", one)
        return f"https://{SERVER}/@bird/{one['id']}"

    async def save(self, *links: str, **given: Any) -> list[str]:
        found = await saving.results(self.member, links=list(links), **given)
        return [one["post_id"] for one in found]

    async def run(self) -> None:
        """Everything that a worker would do now."""
        await self.reading.run(self.member.account_id, no_report)

    async def post(self, post_id: str) -> dict[str, Any]:
        return await saving.stored(self.member, post_id)

    async def text(self, post_id: str) -> str:
        return str((await self.post(post_id))["tweet_details"]["text"])

    async def reason(self, post_id: str) -> tuple[str, str] | None:
        """State and reason of a post that is only a link."""
        rows = await self.member.database.rows(
            "SELECT state, reason FROM bare_link WHERE account_id = :account_id AND post_id = :id",
            {"account_id": self.member.account_id, "id": post_id},
        )
        return (rows[0][0], rows[0][1]) if rows else None

    async def is_due(self) -> bool:
        return self.member.account_id in await self.reading.due_accounts(0)


def bluesky_posts(*numbers: int) -> dict[str, Any]:
    return {"posts": [record(number)["item"] for number in numbers]}
