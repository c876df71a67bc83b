"""Shows what the networks publish about links that are not saved."""

from collections.abc import Sequence

from bowerbird import errors
from bowerbird.connections.published.records import Outcome
from bowerbird.library.imports.saving import PostPreview, SavedItem, SaveResult
from bowerbird.library.links.reading import LinkReading
from bowerbird.model.accounts import Account
from bowerbird.model.links import SENTENCES, ContentState, Reason
from bowerbird.requests.limits import PREVIEWED_MAX
from bowerbird.requests.saving import ItemToSave
from bowerbird.sources.found import FoundPost
from bowerbird.sources.post_links import parse


class Previews:
    def __init__(self, reading: LinkReading) -> None:
        self._reading = reading

    async def of(self, account: Account, items: Sequence[ItemToSave]) -> SaveResult:
        """The same results as saving would give, with previews of links."""
        if len(items) > PREVIEWED_MAX:
            problem = f"must have at most {PREVIEWED_MAX} items with preview, got {len(items)}"
            raise errors.invalid("links", problem)
        results = [await self._one(account, index, item) for index, item in enumerate(items)]
        failed = sum(not one.ok for one in results)
        return SaveResult(results, len(results) - failed, failed)

    async def _one(self, account: Account, index: int, item: ItemToSave) -> SavedItem:
        if item.found is None:
            assert item.refusal is not None
            error = errors.OperationError(item.refusal.code, item.refusal.sentence)
            return SavedItem(index, ok=False, error=error)
        record = item.found.record
        link = parse(record.tweet_details.link)
        preview = None
        if link is not None and link.post_id == record.post_id:
            preview = _preview(await self._reading.preview(account, link))
        return SavedItem(index, ok=True, post_id=record.post_id, preview=preview)


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
