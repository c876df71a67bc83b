"""Reads the text of posts that are only links.

What is done is in the database after each round, so a killed worker asks at most for the posts of
one round again. Found posts fill what the library has, by the rules for all found posts.

Each host gets one request per second, over all nodes and accounts. A host that gives no answer is
left alone for a while, and longer each time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
import structlog
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.connections import records
from bowerbird.connections.published import Busy, Endpoint, Outcome, endpoint_of, gone
from bowerbird.connections.records import Answer, SourceProblem
from bowerbird.library.access.call_allowance import AttemptLimits
from bowerbird.library.imports.intake import Intake
from bowerbird.library.imports.saving import PostPreview, SavedItem, SaveResult
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import Completeness
from bowerbird.model.connections import Problem
from bowerbird.model.jobs import LINKS
from bowerbird.model.posts.networks import (
    KIND,
    LEFT,
    SENTENCES,
    WAITING,
    ContentState,
    DueLink,
    FailedLink,
    LinkCounts,
    LinkJob,
    Reason,
)
from bowerbird.requests.limits import PREVIEWED_MAX
from bowerbird.requests.saving import ItemToSave
from bowerbird.settings import Settings
from bowerbird.sources.found import FoundPost
from bowerbird.sources.post_links import PostLink, parse, parse_fediverse, x_post
from bowerbird.storage.bookmarks.upsert import StoredPost
from bowerbird.storage.database import Database, Transaction, place_of
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

if TYPE_CHECKING:
    from bowerbird.connections.fetching import PublicFetcher

Sleep = Callable[[float], Awaitable[None]]

BETWEEN_REQUESTS: Final = MICROSECONDS
# How long a request waits for its turn.
_PATIENCE: Final = 3 * MICROSECONDS
PAUSES_S: Final = (60, 600, 3_600, 21_600)
_FORGOTTEN_AFTER: Final = 2 * 86_400 * MICROSECONDS
_BUSY: Final = frozenset({408, 425, 429})
_FIRST_ERROR_OF_SERVER: Final = 500


class NotItsTurn(Exception):  # noqa: N818 - named for what it is
    def __init__(self, next_at: int) -> None:
        super().__init__()
        self.next_at = next_at


class HostTurns(TimedService):
    def __init__(self, database: Database, clock: Clock, sleep: Sleep = asyncio.sleep) -> None:
        super().__init__(database, clock)
        self._sleep = sleep

    async def ask(
        self, account_id: int, fetcher: "PublicFetcher", endpoint: Endpoint, url: str
    ) -> Answer:
        """The answer of the host, at its turn. Raises NotItsTurn, Busy or SourceProblem."""
        host = endpoint.host
        failures = await self._take(account_id, host)
        try:
            answer = await fetcher.published(url, endpoint.redirects_to)
        except SourceProblem as found:
            if found.problem is not Problem.UNREACHABLE:
                raise
            raise await self.paused(host, failures, Reason.UNREACHABLE) from None
        if answer.status in _BUSY or answer.status >= _FIRST_ERROR_OF_SERVER:
            retry_at = 0
            if "retry-after" in answer.headers:
                retry_at = records.retry_at(answer.headers, self._clock())
            raise await self.paused(host, failures, Reason.BUSY, retry_at)
        if failures:
            await self._database.write(lambda later: self._stores.links.host_answers(later, host))
        return answer

    async def forget(self) -> None:
        before = self._clock() - _FORGOTTEN_AFTER
        while await self._database.write(
            lambda later: self._stores.links.forget_hosts(later, before)
        ):
            continue

    async def _take(self, account_id: int, host: str) -> int:
        """Waits for the turn of the host; returns how many times in a row it gave no answer."""
        until = self._clock() + _PATIENCE
        while True:
            now = self._clock()

            async def work(transaction: Transaction, now: int = now) -> int | None:
                return await self._stores.links.take_turn(
                    transaction, host, now, now + BETWEEN_REQUESTS
                )

            failures = await self._database.write(work, account_id)
            if failures is not None:
                return failures
            next_at = await self._stores.links.next_turn(host)
            if next_at > until:
                raise NotItsTurn(next_at)
            await self._sleep(max(next_at - now, 0) / MICROSECONDS)

    async def paused(self, host: str, failures: int, reason: Reason, retry_at: int = 0) -> Busy:
        """The host is left alone for a while, for a host that gave no answer so many times."""
        pause_s = PAUSES_S[min(failures, len(PAUSES_S) - 1)]
        next_at = max(retry_at, self._clock() + pause_s * MICROSECONDS)
        # Requests that fail at the same time count once.
        await self._database.write(
            lambda later: self._stores.links.pause_host(later, host, next_at, failures + 1)
        )
        return Busy(reason, next_at)


PER_TRANSACTION = 500
# More than a round reads.
_DUE = 150


class StoredLinks(TimedService):
    async def sort(self, account: Account) -> None:
        """Finds out which hosts have the posts of new links."""
        while due := await self._stores.links.due(
            account.account_id, "", self._clock(), PER_TRANSACTION
        ):
            links = await self._links(account, due)
            hosts = [
                (post_id, endpoint.host if (endpoint := endpoint_of(link)) else "")
                for post_id, link in links.items()
                if link is not None
            ]
            await self._write(account.account_id, due, hosts, links)

    async def due(
        self, account: Account, host: str
    ) -> tuple[dict[str, DueLink], list[tuple[Endpoint, PostLink]]]:
        """The links of a host, the newest first."""
        due = await self._stores.links.due(account.account_id, host, self._clock(), _DUE)
        links = await self._links(account, due)
        endpoints = {one: endpoint_of(link) for one, link in links.items() if link is not None}
        # A later source may have given a post another address.
        moved = [
            (one, "" if endpoint is None else endpoint.host)
            for one, endpoint in endpoints.items()
            if endpoint is None or endpoint.host != host
        ]
        await self._write(account.account_id, due, moved, links)
        found = [
            (endpoint, link)
            for one, link in links.items()
            if link is not None and (endpoint := endpoints[one]) and endpoint.host == host
        ]
        return {one.post_id: one for one in due}, found

    async def add_some(self, account: Account, after: int) -> tuple[int, int]:
        """Asks again for some posts that are only links, after the post with this number.

        Returns the number of the last, and how many there are.
        """
        page = await self._stores.links.bare_posts(account.account_id, after, PER_TRANSACTION)
        if not page:
            return after, 0

        async def work(library: LockedLibrary) -> None:
            ids = [post_id for _, post_id in page]
            await self._stores.links.add(library, ids, self._clock())
            # Lists that say that a post stays a link are kept by the version of the library.
            await self._stores.libraries.touch(library)

        await self._locked(account.account_id, work)
        return page[-1][0], len(page)

    async def _links(self, account: Account, due: Sequence[DueLink]) -> dict[str, PostLink | None]:
        """The links by post; None for a post that has a text or is not in the library."""
        if not due:
            return {}
        ids = [one.post_id for one in due]
        place = place_of(account.local_number)
        stored = await self._stores.upserts.posts(self._library(account.account_id), place, ids)
        return {one: _link(one, stored.get(one)) for one in ids}

    async def _write(
        self,
        account_id: int,
        due: Sequence[DueLink],
        hosts: Sequence[tuple[str, str]],
        links: dict[str, PostLink | None],
    ) -> None:
        settled = [one.post_id for one in due if links[one.post_id] is None]
        if not hosts and not settled:
            return

        async def work(library: LockedLibrary) -> None:
            await self._stores.links.set_hosts(library, hosts)
            await self._stores.links.remove(library, settled)

        await self._locked(account_id, work)


class _Details(Struct, frozen=True):
    link: str = ""


class _Linked(Struct, frozen=True):
    tweet_details: _Details = _Details()


_decode = msgspec.json.Decoder(_Linked).decode


def _link(post_id: str, stored: StoredPost | None) -> PostLink | None:
    if stored is None or stored.existing.completeness != Completeness.STUB:
        return None
    try:
        address = _decode(stored.rendering + b"}").tweet_details.link
    except (msgspec.MsgspecError, RecursionError):
        address = ""
    link = parse_fediverse(address)
    if link is not None and link.post_id == post_id:
        return link
    # Somebody may have given another address to a post of X.
    return x_post(post_id) or PostLink("", post_id, "", "", address)


Progress = Callable[[int, int], Awaitable[None]]

WEEK: Final = 7 * 86_400 * MICROSECONDS
# An answer that cannot be read is asked for again after these seconds.
RETRIES_S: Final = (600, 21_600, 86_400)
# A person waits for it.
PREVIEW_S: Final = 8.0
# At the same time, of all accounts. An account may ask 20 times at once, then every three seconds.
PREVIEWS_MAX: Final = 8
_ACCOUNTS_PER_PAGE: Final = 500
_HOSTS_PER_ROUND: Final = 8
# A round ends after about so many seconds, so that a link that was just saved gets its turn.
_READS_PER_ROUND: Final = 3
# Links that wait for a host no longer than this are not written again.
_SOON: Final = 10 * MICROSECONDS
_REASONS: Final = {Problem.PRIVATE_ADDRESS: Reason.ADDRESS}
_FINAL: Final = frozenset(
    {Reason.GONE, Reason.PROTECTED, Reason.SIGN_IN, Reason.NO_SOURCE, Reason.ADDRESS}
)
_MARKED: Final = frozenset({Reason.GONE, Reason.PROTECTED})


class LinkReading(TimedService):
    def __init__(
        self,
        database: Database,
        clock: Clock,
        settings: Settings,
        fetcher: "Callable[[], PublicFetcher] | None" = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__(database, clock)
        self._fetcher = fetcher or (lambda: _new_fetcher(settings))
        self.is_on = settings.fetch_posts == "on"
        self.turns = HostTurns(database, clock, sleep)
        self._preview_limits = AttemptLimits(clock)
        self._previews = 0
        self._links = StoredLinks(database, clock)
        self._intake = Intake(database, clock)

    async def due_accounts(self, after: int) -> Sequence[int]:
        """A page of the accounts with links that are due."""
        return await self._stores.links.due_accounts(after, self._clock(), _ACCOUNTS_PER_PAGE)

    async def ask_again(self, account: Account, after: int = 0) -> int:
        """Asks again for every post that is only a link; returns how many there are.

        `after`: the number of the last post for which that is done.
        """
        count = 0
        while True:
            after, some = await self._links.add_some(account, after)
            if not some:
                return count
            count += some

    async def ask_again_soon(self, account: Account) -> None:
        """Asks again for some posts now, and for the others in a job."""
        after, some = await self._links.add_some(account, 0)
        if some < PER_TRANSACTION:
            return

        await self._transact(
            account.account_id,
            lambda library: self._stores.jobs.add(
                library,
                KIND,
                msgspec.json.encode(LinkJob(after=after)),
                priority=LINKS,
                now=self._clock(),
                unique=f"{KIND} again",
            ),
        )

    def _asking(self, account: Account) -> "PublicFetcher":
        return self._fetcher().asked_by(account.account_id)

    async def preview(self, account: Account, link: PostLink) -> Outcome:
        """What the network of a post publishes about it. Nothing is stored."""
        endpoint = endpoint_of(link) if self.is_on else None
        if endpoint is None:
            return Reason.NO_SOURCE if self.is_on else Reason.NONE
        self._preview_limits.count_account(account.account_id)
        if self._previews >= PREVIEWS_MAX:
            return Reason.BUSY
        self._previews += 1
        try:
            async with asyncio.timeout(PREVIEW_S), self._asking(account) as fetcher:
                read = await self._read(account, endpoint, [link], fetcher)
        except Busy as busy:
            if not busy.retry_at:
                await self.turns.paused(endpoint.host, 1, Reason.BUSY)
            return busy.reason
        except TimeoutError:
            # Others would wait as long, and the number of previews at the same time is limited.
            return (await self.turns.paused(endpoint.host, 0, Reason.UNREACHABLE)).reason
        except NotItsTurn:
            return Reason.BUSY
        finally:
            self._previews -= 1
        return read.get(link.post_id, Reason.UNREADABLE)

    async def previews(self, account: Account, items: Sequence[ItemToSave]) -> SaveResult:
        """The results that saving would give, with what the networks publish about links."""
        if len(items) > PREVIEWED_MAX:
            problem = f"must have at most {PREVIEWED_MAX} items with preview, got {len(items)}"
            raise errors.invalid("links", problem)
        results = [await self._previewed(account, index, one) for index, one in enumerate(items)]
        failed = sum(not one.ok for one in results)
        return SaveResult(results, len(results) - failed, failed)

    async def _previewed(self, account: Account, index: int, item: ItemToSave) -> SavedItem:
        if item.found is None:
            assert item.refusal is not None
            error = errors.OperationError(item.refusal.code, item.refusal.sentence)
            return SavedItem(index, ok=False, error=error)
        record = item.found.record
        link = parse(record.tweet_details.link)
        preview = None
        if link is not None and link.post_id == record.post_id:
            preview = _preview(await self.preview(account, link))
        return SavedItem(index, ok=True, post_id=record.post_id, preview=preview)

    async def counts(self, account: Account) -> LinkCounts:
        """How many posts are only links."""
        return await self._stores.links.counts(account.account_id)

    async def run(self, account_id: int, progress: Progress, after: int = 0) -> None:
        """Reads what is due. `progress` may raise an exception to stop it.

        With `after`, it only asks again for the posts after the one with this number.
        """
        account = await self._stores.accounts.by_id(account_id, month_of(self._clock()))
        if account is None or not self.is_on:
            return
        if after:
            await self.ask_again(account, after)
            return
        done = 0
        async with self._asking(account) as fetcher:
            while True:
                await self._links.sort(account)
                hosts = await self._stores.links.due_hosts(
                    account_id, self._clock(), _HOSTS_PER_ROUND
                )
                taken = await self._rounds(account, hosts, fetcher)
                if not taken:
                    return
                done += taken
                await progress(done, done + sum(hosts.values()) - taken)

    async def _rounds(
        self, account: Account, hosts: Iterable[str], fetcher: "PublicFetcher"
    ) -> int:
        rounds = (self._round(account, host, fetcher) for host in hosts)
        taken = 0
        for one in await asyncio.gather(*rounds, return_exceptions=True):
            if isinstance(one, BaseException):
                raise one
            taken += one
        return taken

    async def _round(self, account: Account, host: str, fetcher: "PublicFetcher") -> int:
        """Reads some links of a host; returns how many are settled or have failed."""
        outcomes: dict[str, Outcome] = {}
        due: dict[str, DueLink] = {}
        try:
            due, links = await self._links.due(account, host)
            for endpoint, part in _parts(links):
                outcomes |= await self._read(account, endpoint, part, fetcher)
        except NotItsTurn as waiting:
            await self._postpone(account.account_id, host, Reason.BUSY, waiting.next_at)
        except Busy as busy:
            due_at = busy.retry_at or (await self.turns.paused(host, 1, Reason.BUSY)).retry_at
            await self._postpone(account.account_id, host, busy.reason, due_at)
        except Exception:  # noqa: BLE001 - links of other hosts must be read all the same
            structlog.get_logger().exception("links not read", host=host)
            outcomes |= {one: Reason.UNREADABLE for one in due if one not in outcomes}
        await self._settle(account, due, outcomes)
        return len(outcomes)

    async def _read(
        self,
        account: Account,
        endpoint: Endpoint,
        links: Sequence[PostLink],
        fetcher: "PublicFetcher",
    ) -> dict[str, Outcome]:
        async def ask(url: str) -> Answer:
            return await self.turns.ask(account.account_id, fetcher, endpoint, url)

        try:
            return await endpoint.read(links, ask)
        except SourceProblem as found:
            reason = _REASONS.get(found.problem, Reason.UNREADABLE)
            return dict.fromkeys((link.post_id for link in links), reason)

    async def _settle(
        self, account: Account, due: Mapping[str, DueLink], outcomes: Mapping[str, Outcome]
    ) -> None:
        now = self._clock()
        found = [one for one in outcomes.values() if isinstance(one, FoundPost)]
        reasons = {key: one for key, one in outcomes.items() if isinstance(one, Reason)}
        found += [gone(key, one, now) for key, one in reasons.items() if one in _MARKED]
        if found:
            await self._intake.take(account, found)
        if reasons:
            failures = [_failure(due[key], reason, now) for key, reason in reasons.items()]

            await self._locked(
                account.account_id, lambda library: self._stores.links.failed(library, failures)
            )

    async def _postpone(self, account_id: int, host: str, reason: Reason, due_at: int) -> None:
        now = self._clock()
        if due_at < now + _SOON:
            return

        while await self._locked(
            account_id,
            lambda library: self._stores.links.postpone(
                library, host, reason, due_at=due_at, oldest=now - WEEK
            ),
        ):
            continue


def _parts(links: Sequence[tuple[Endpoint, PostLink]]) -> list[tuple[Endpoint, list[PostLink]]]:
    """The links of a host, as many at a time as its endpoint takes."""
    if not links:
        return []
    endpoint = links[0][0]
    of_host = [link for _, link in links]
    starts = range(0, len(of_host), endpoint.most)[:_READS_PER_ROUND]
    return [(endpoint, of_host[start : start + endpoint.most]) for start in starts]


def _failure(due: DueLink, reason: Reason, now: int) -> FailedLink:
    if reason in _FINAL or due.tries >= len(RETRIES_S):
        return FailedLink(due.post_id, LEFT, reason, due.tries + 1, now)
    due_at = now + RETRIES_S[due.tries] * MICROSECONDS
    return FailedLink(due.post_id, WAITING, reason, due.tries + 1, due_at)


def _new_fetcher(settings: Settings) -> "PublicFetcher":
    from bowerbird.connections.fetching import PublicFetcher  # noqa: PLC0415 - imports httpx2

    return PublicFetcher.of(settings)


def _preview(found: Outcome) -> PostPreview:
    if isinstance(found, Reason):
        is_gone = found in (Reason.GONE, Reason.PROTECTED)
        state = ContentState.GONE if is_gone else ContentState.LINK
        return PostPreview(state, content_problem=SENTENCES[found])
    assert isinstance(found, FoundPost)
    record = found.record
    return PostPreview(
        ContentState.WHOLE,
        text=record.tweet_details.text,
        author_name=record.author_details.name or None,
        author_username=record.author_username or None,
        posted_at=record.tweet_details.posted_at or None,
    )
