"""What a page says about posts that the library has."""

import msgspec

from bowerbird.library.ingest.page_reading import ReadPage
from bowerbird.model.accounts import Account
from bowerbird.storage.bookmarks.upsert import UpsertStore


async def of_known_posts(bookmarks: UpsertStore, account: Account, read: ReadPage) -> ReadPage:
    """Posts that are not shown any more are marked if the library has them.

    The page of a post also has answers to it, which nobody saved.
    """
    searched = read.marks if read.lists_saved_posts else (*read.posts, *read.marks)
    ids = [one.record.post_id for one in searched]
    known = await bookmarks.stored(account, ids) if ids else {}
    marks = tuple(one for one in read.marks if one.record.post_id in known)
    if read.lists_saved_posts:
        return msgspec.structs.replace(read, marks=marks)
    posts = tuple(one for one in read.posts if one.record.post_id in known)
    return msgspec.structs.replace(read, posts=posts, marks=marks, left_out=())
