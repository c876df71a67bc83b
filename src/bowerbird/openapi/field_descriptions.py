"""The description of each field of an answer. Requests describe their fields themselves."""

from typing import Final

from bowerbird.openapi import change_fields
from bowerbird.requests import limits

_DIGEST: Final = {
    "digest_id": "The digest's id: its period.",
    "kind": "daily or weekly.",
    "title": "The period in words.",
    "first_day": "First day of the period.",
    "last_day": "Last day of the period.",
    "time_zone": "The time zone in which the days are counted.",
    "made_at": "When the digest was created.",
    "saved_count": "Number of posts saved in the period.",
    "mail": "Delivery status of the email.",
}
# Schema -> field -> sentence. A field that means the same in every schema is under "*".
FIELDS: Final[dict[str, dict[str, str]]] = {
    "*": {
        "ignored_parameters": "Names of the parameters that were sent and have no effect, at most "
        "20; absent if there are none.",
        "status": "true if the request succeeded, false if it was refused.",
        "data": "The result of the request.",
        "meta": "Information about the data, such as counts and the next page.",
        "post_id": "Identifier of the saved post: digits, as text.",
        "tags": "Names of the post's labels in alphabetical order, or null if it has none.",
        "is_read": "Whether the account has marked the post as read.",
        "is_archived": "Whether the account has archived the post.",
        "label_name": "The label's name. Case is ignored when labels are compared.",
        "message": "What was done, in a sentence for people to read.",
        "affected": "Number of posts that this request changed.",
        "not_found": "Ids that are not in the library.",
        "further_ids": "Ids of the posts that data does not repeat, because an answer repeats the "
        f"labels of at most {limits.ECHOED_POSTS_MAX:,} posts; only if there are any.",
        "not_changed": "Ids of posts that could not get the label, because another request deleted "
        "it or gave them too many labels while this one was running; only if there are any.",
        "author_id": "Identifier of the post's author.",
        "author_username": "The author's handle, without @.",
        "author_details": "Who wrote the post.",
        "attachments": "Images, videos, links and polls of the post; empty if it has none.",
        "article": "The long-form article that the post is or quotes, or null.",
        "posted_at": "When the post was published: ISO 8601 with an offset. If its source did not "
        "say it, the time in its id, otherwise bookmarked_at.",
        "text": "The full text. It may contain line breaks.",
        "link": "URL of the original post.",
        "run_id": "Identifier of the import.",
        "username": "Handle, without @.",
        "profile_image": "URL of the profile picture.",
        "base_query": "Filters of the list by name. Dates may be relative, such as last 7 days.",
        "default_sort": "Order of the view's bookmarks; null for the list's default.",
        "triage_buckets": "Parts of the view, each with a narrower query.",
        "query": "Filters that narrow the view further, by the list's names.",
        "sort_by": "The field to sort by, as in the list.",
        "sort_order": "asc or desc. By default dates and counts descend, text ascends.",
        "change": "The change of all bookmarks that match, if filter was sent.",
    },
    **change_fields.FIELDS,
    "Bookmark": {
        "tweet_details": "The post itself.",
        "imported_at": "When the post was imported: UTC without an offset.",
        "sort_index": "Position in the default order, higher is newer; a signed 64-bit integer.",
        "bookmarked_at": "When the post was bookmarked, if known: ISO 8601 with an offset.",
        "source": "The network of a post that is not from X, such as mastodon; absent for X.",
        "source_id": "The id or address of such a post there.",
        "gone_at": "When the source first did not show the post any more; absent if it does.",
        "gone_reason": "Why not, in the words of the source. Absent if it gives no reason.",
        "removed_at": "When the owner removed the bookmark at the source; absent otherwise.",
        "note": "The owner's note about the post, as Markdown; absent if there is none.",
        "highlights": "Passages that the owner marked; absent if there are none.",
        "highlight": "Where the words of q occur. Only if requested, and if there is a match.",
        "score": "How well the bookmark matches a ranked search; higher is better. Only in ranked "
        "lists, and comparable only within one list.",
    },
    "HighlightedPassage": {
        "id": "Identifies the highlight within its post.",
        "field": "text: the text of the post. article: the text of its article.",
        "quote": "The passage.",
        "start": "Where it starts in that text, in Unicode code points. null if the text has "
        "changed and does not contain the passage any more.",
        "end": "Where it ends: the offset after its last code point, or null.",
        "comment": "The owner's comment; absent if there is none.",
        "created_at": "When it was marked: ISO 8601 with an offset.",
    },
    "PostDetails": {
        "quoted_tweet": "The post that this one quotes, or null.",
        "meta": "The post's place in its conversation, and its counts.",
    },
    "PostMeta": {
        "tweet_reply_to_tweet_id": "The post that this one replies to, or null.",
        "tweet_reply_to_user_id": "The author of the post that this one replies to, or null.",
        "tweet_conversation_id": "The first post of the conversation.",
        "tweet_is_thread": "Whether the author continues in further posts.",
        "is_sub_tweet_of_thread": "Whether the post continues a thread.",
        "non_real_time_engagement_metrics": "Counts at the time the post was saved.",
        "via_repost_id": "The repost under which the post was saved; absent otherwise.",
        "version_ids": "Ids of all versions of an edited post; absent otherwise.",
    },
    "Metrics": {
        "quote_count": "Posts that quote this one.",
        "reply_count": "Replies.",
        "retweet_count": "Reposts.",
        "bookmark_count": "Times anyone bookmarked the post.",
        "favorite_count": "Likes.",
    },
    "AuthorDetails": {"name": "Display name."},
    "QuotedAuthor": {"name": "Display name."},
    "BookmarkCounts": {
        "count": "Bookmarks that match the filters.",
        "total": "All bookmarks in the library.",
        "unread": "Unread bookmarks, archived ones too.",
        "archived": "Archived bookmarks.",
    },
    "Attachment": {
        "type": "image, video, gif, link or poll.",
        "url": "URL of the attachment.",
        "preview_image": "URL of a still image of it.",
        "width": "In pixels.",
        "height": "In pixels.",
        "duration_ms": "Length in milliseconds.",
        "alt_text": "The author's description for people who cannot see it.",
        "title": "Title of a linked page.",
        "description": "Description of a linked page.",
        "domain": "Domain of a linked page.",
        "choices": "The choices of a poll.",
        "ends_at": "When a poll closes.",
    },
    "Article": {
        "id": "Identifier of the article.",
        "title": "Its title.",
        "plain_text": "Its full text without markup.",
        "preview_text": "Its beginning.",
        "cover_image": "URL of its image.",
        "url": "Its URL.",
        "published_at": "When it was published.",
        "is_preview": "Whether only its beginning is available.",
    },
    "QuotedPost": {"unavailable": "true if the quoted post no longer exists."},
    "LabelResponse": {
        "id": "Identifier of the label.",
        "metadata": "The account's own notes on the label.",
        "count": "Number of bookmarks with this label.",
        "color": "Colour on the website; null if none was chosen.",
    },
    "BatchResult": {
        "results": "One entry per operation, in the order of the request.",
        "succeeded": "Number of operations that succeeded.",
        "failed": "Number of operations that failed.",
    },
    "OperationResult": {
        "index": "Position of the operation in the request, from 0.",
        "op": "add or remove, as sent; unknown if no text was sent.",
        "ok": "Whether the operation succeeded.",
        "data": "The operation's posts with their labels; only if it succeeded.",
        "error": "Why it failed; only if it failed.",
    },
    "OperationError": {
        "code": "An error code, as in a refused request.",
        "message": "The reason, in a sentence for people to read.",
    },
    "SaveResult": {
        "results": "One entry per item: the posts, then the links, in the order of the request.",
        "succeeded": "Number of items that were saved.",
        "failed": "Number of items that failed.",
    },
    "SavedItem": {
        "index": "Position of the item in the request, from 0: posts first, then links.",
        "ok": "Whether the item was saved.",
        "post_id": "Identifier of the saved post; only if it was saved.",
        "result": (
            "new, completed (only its link was known before), changed or unchanged; only if it was "
            "saved."
        ),
        "labels_left_out": (
            "Labels that the post did not get, because an account or a post cannot have more; only "
            "if there are any."
        ),
        "error": "Why it failed; only if it failed.",
    },
    "Deleted": {"restorable_until": "The bookmark can be restored until then."},
    "ViewResponse": {
        "slug": "The view's name in URLs. It never changes.",
        "name": "The view's display name.",
        "description": "What the view is for.",
        "position": "Its place in the list, from 1.",
        "is_pinned": "Whether the website's sidebar shows it.",
        "count": (
            "Number of bookmarks that it shows now if count_state is exact, else the last known "
            "number, or 0 if none is known."
        ),
        "count_state": (
            "exact, earlier (counted before the last change), pending (not counted yet) or "
            "unavailable (counting takes too long). Repeat the request to get more exact counts."
        ),
        "created_at": "When it was created.",
        "updated_at": "When it was last changed.",
    },
    "Bucket": {"slug": "The bucket's name in URLs.", "name": "Its display name."},
    "ListMeta": {
        "next_cursor": "Send it as cursor to get the next page. null on the last page.",
        "limit": "The page size that was used.",
        "total_count": "Number of bookmarks that match.",
        "count": "Number of bookmarks on this page.",
        "hint": "Why a search found nothing, only hidden bookmarks or only similar ones, whether a "
        "search by meaning may help, and how many bookmarks it cannot find yet; absent otherwise.",
        "relaxed": "true if no bookmark has every word of q, so that those with some of the words "
        "are listed, best first; absent otherwise.",
        "did_you_mean": "q with other words in place of words that no bookmark has; absent if none "
        "was probably misspelled.",
        "vector_pending": "Number of bookmarks that a search by meaning cannot find yet, or only "
        "by an earlier text.",
    },
    "ViewListMeta": {
        "counts_pending": "Number of views with a count that is earlier or pending; absent if 0.",
    },
    "AccountResponse": {
        "plan": "free or pro.",
        "limits": "What the plan includes.",
        "calls": "Calls in this calendar month (UTC).",
        "library": "How many bookmarks the account has.",
        "vector_store": "State of the vectors that search by meaning needs.",
    },
    "Limits": {
        "calls_per_month": "Calls per month; null if the plan has no limit.",
        "page_size": "Maximum number of bookmarks per page.",
        "ranked_results": "Maximum number of bookmarks in a ranked list.",
        "filtering": "Whether the plan includes filters.",
        "paging": "Whether the plan includes more than the first page of a list.",
        "writing": "Whether the plan includes writing labels and Smart Views.",
        "vector_search": "Whether the plan includes search by meaning.",
    },
    "Calls": {
        "used": "Calls counted this month.",
        "left": "Calls left this month; null if the plan has no limit.",
        "next_month_begins": "The day on which the count restarts (UTC).",
    },
    "LibraryCounts": {
        "total": "All bookmarks.",
        "unread": "Unread bookmarks, archived ones too.",
        "archived": "Archived bookmarks.",
    },
    "Vectors": {
        "state": "off, building, ready or unavailable. When it is ready, search by meaning works, "
        "but does not find bookmarks that are not embedded yet.",
        "embedded": "Bookmarks that search by meaning can find.",
        "total": "All bookmarks.",
        "model": "The model that creates the vectors; null if there is none.",
        "problem": "Why posts cannot be embedded at the moment, or null.",
    },
    "Highlight": {
        "field": "The field that contains the matches, such as text.",
        "html": "HTML-escaped text around the matches, each in a mark element.",
    },
    "ExportResponse": {
        "job_id": "Identifier of the export.",
        "format": "pdf, csv or json.",
        "status": "pending, processing, completed, failed or expired.",
        "progress": "Progress of the export.",
        "poll_url": "URL to poll for the status.",
        "file_size": "Size of the file in bytes, once it exists.",
        "error": "Why it failed, in a sentence for people to read.",
        "notes": "Sentences about the file, such as which scripts lack a font.",
        "created_at": "When it was requested.",
        "completed_at": "When the file was completed.",
        "attempts": "How often a worker has started it.",
        "started_at": "When a worker started it last, or null.",
        "last_error": "Why the last attempt failed, while it waits for the next one, or null.",
        "download_url": "Link to the file, valid for five minutes; only if completed.",
        "expires_at": "When download_url expires; only if completed.",
    },
    "ExportProgress": {"done": "Posts exported so far.", "total": "Posts to export."},
    "LabelListMeta": {
        "next_cursor": "Send it as cursor to get the next page. null on the last page.",
        "limit": "The page size that was used. Absent if neither limit nor cursor was sent.",
        "total_count": "Number of labels that the account has.",
        "count": "Number of labels on this page.",
    },
    "DigestListMeta": {
        "next_cursor": "Send it as cursor to get the next page. null on the last page.",
        "limit": "The page size that was used.",
        "total_count": "Number of digests that the account has.",
        "count": "Number of digests on this page.",
    },
    "ImportListMeta": {
        "next_cursor": "Send it as cursor to get the next page. null on the last page.",
        "limit": "The page size that was used.",
        "total_count": "Number of imports that are listed; the oldest leave the list.",
        "count": "Number of imports on this page.",
    },
    "Run": {
        "source": "Where the posts come from: x, or the name of a file and its format. "
        "Several files are named by the first one.",
        "kind": "How they were read, such as full, incremental, visit, file, api or demo.",
        "client": "The program that read them.",
        "state": "running, finished, interrupted, undoing or undone.",
        "reason": "Why it ended; empty while it runs.",
        "started_at": "When it started.",
        "finished_at": "When it ended; null while it runs.",
        "counts": "What became of its posts.",
        "undo_until": "It can be undone until then; null if it cannot be undone.",
        "undone": "What undoing it has done so far.",
    },
    "RunCounts": {
        "new": "Posts that the library did not have.",
        "changed": "Posts that got more content, another place or more labels.",
        "unchanged": "Posts that stayed the same, apart from their counts.",
        "ignored_deleted": "Posts that the account has deleted and that were not saved again.",
    },
    "UndoCounts": {
        "removed": "New posts that were removed again.",
        "restored": "Changed posts that are as they were before.",
        "kept": "Posts that stay, because the account or a later import has changed them since.",
    },
    "UndoOutcome": {
        "state": "undone.",
        "removed": "New posts that were removed again.",
        "restored": "Changed posts that are as they were before.",
        "kept": "Posts that stay, because the account or a later import has changed them since.",
    },
    "DigestSummary": _DIGEST,
    "DigestResponse": {
        **_DIGEST,
        "introduction": "A few sentences by a language model, if the operator has configured one.",
        "saved": "Posts saved in the period.",
        "unread": "A selection of unread posts.",
        "a_year_ago": "Posts saved on the same days a year earlier.",
        "forgotten": "An unread post saved long ago; null if there is none.",
        "markdown": "The digest as Markdown.",
        "html": "The digest as a complete page without scripts or external resources.",
    },
    "DigestPost": {
        "author_name": "The author's display name.",
        "title": "Title of an article; empty for other posts.",
        "text": "The beginning of the text, on one line.",
        "link": "URL of the original post; empty if it is not a web page.",
        "bookmarked_at": "When the post was bookmarked, if known.",
    },
    "SavedPart": {
        "count": "Number of posts saved in the period.",
        "by_label": "The most frequent labels of these posts.",
        "by_author": "The most frequent authors of these posts.",
        "posts": "The newest of these posts that are still in the library.",
    },
    "PostsPart": {
        "count": "Number of matching posts.",
        "posts": "The selected posts that are still in the library.",
    },
    "LabelCount": {"count": "Number of posts with the label."},
    "AuthorCount": {
        "author_name": "The author's display name.",
        "count": "Number of posts by the author.",
    },
    "MailResponse": {
        "state": "none, waiting, sending, sent, failed, refused or unclear.",
        "at": "Time of the last attempt or of the next one; null if there is neither.",
        "reason": "Why it was not sent, as the mail server reported it.",
    },
    "PreferencesResponse": {
        "frequency": "off, daily or weekly.",
        "time_zone": "A name from the time zone database, such as Europe/Berlin.",
        "hour": "Hour of the day after the period at which the digest is created, 0 to 23.",
        "mail": "Whether each new digest is emailed to the account's address.",
        "mail_available": "Whether the operator has configured a mail server.",
        "next_digest_at": "When the next digest is created; null if none is scheduled.",
    },
    "Refusal": {
        "code": "The error code. Codes are stable; new ones may be added.",
        "error": "The reason, in a sentence for people to read. The wording may change.",
    },
    "UpgradeRefusal": {
        "code": "The error code. Codes are stable; new ones may be added.",
        "error": "The reason, in a sentence for people to read. The wording may change.",
        "upgrade_url": "Where to upgrade the plan.",
    },
}


def sentence(schema: str, field: str) -> str | None:
    return FIELDS.get(schema, {}).get(field) or FIELDS["*"].get(field)
