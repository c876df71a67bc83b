"""The description of each field of an answer of /ingest/v1."""

from typing import Final

_COUNTS: Final = {
    "inserted": "Posts that are new in the library.",
    "updated": "Posts whose text, author, media or labels changed.",
    "unchanged": "Posts that the library already has.",
    "ignored_deleted": "Posts that the owner deleted from the library. They stay deleted.",
}
_REMOVALS: Final = {
    "removed_candidates": "Known posts that are missing from the list.",
    "removed": "Those of them that are recorded as removed. The library keeps their content.",
}
FIELDS: Final[dict[str, dict[str, str]]] = {
    "*": {
        "run_id": "The run.",
        "next_seq": "The number of the next page.",
        "cursor": "Where the list continues.",
        "source_user_id": "The account of the source.",
    },
    "EventsResult": {
        **_COUNTS,
        "received": "Number of events.",
        "removed": "Posts that are recorded as removed. The library keeps their content.",
        "not_found": "Removed posts that the library does not have.",
        "stale": "Events that are older than what is known about their post.",
        "unreadable": "Added posts whose payload could not be read. The library has their link.",
        "labels_left_out": "Labels that added posts did not get. The posts are stored.",
    },
    "LabelsLeftOut": {
        "post_id": "The post.",
        "labels": "Names of the labels.",
        "error": "SUBSCRIPTION_REQUIRED on the free plan, INVALID_REQUEST beyond a bound.",
    },
    "SuggestedLabel": {
        "name": "Name of the label.",
        "count": "Number of bookmarks with this label.",
    },
    "FileResponse": {
        "job_id": "The import of the file.",
        "is_dry_run": "Whether the library stays as it is.",
        "progress": "How much of the file was read.",
        "poll_url": "Where to get the progress and the report.",
        "file_size": "Size of the file in bytes.",
        "error": "Why the import failed, or null.",
        "created_at": "When the file was received: ISO 8601 with an offset.",
        "completed_at": "When the import ended, or null.",
    },
    "FileProgress": {
        "done": "Bytes of the file that were read so far. All of them once it is completed.",
        "total": "Size of the file in bytes.",
    },
    "ImportReport": {
        "run_id": "The import, which can be undone with /v1/imports. Empty in a dry run, and if "
        "the file could not be read.",
        "undo_until": "Until when it can be undone: ISO 8601 with an offset. Empty if it cannot.",
        "is_dry_run": "Whether the library stays as it is. The counts say what would happen.",
        "files": "The report about the file.",
    },
    "FileReport": {
        "name": "Always file: the name that the client gave it is not used.",
        "format": "What the file is. Empty if it could not be read.",
        "problem": "Why nothing in the file can be imported, as a sentence. Empty if it can.",
        "found": "Posts in the file.",
        "new": _COUNTS["inserted"],
        "changed": _COUNTS["updated"],
        "unchanged": _COUNTS["unchanged"],
        "ignored_deleted": _COUNTS["ignored_deleted"],
        "left_out": "Number of records that are not imported, by reason.",
        "labels_created": "Labels that the account did not have before.",
        "new_labels": "The names of the first 20 of these labels.",
        "labels_left_out": "Labels that posts did not get, because they or the account cannot have "
        "more.",
        "labels_shortened": "Different labels that were too long and are shortened.",
        "notes": "Posts with a note of their owner, which is imported too.",
        "future_dates": "Dates of saving that are in the future, and therefore not used.",
        "rows": "The first records that are left out, or imported without some of their labels.",
        "notices": "Sentences about the file. No record is lost by them.",
    },
    "Row": {
        "line": "Line or number of the record, counted from 1.",
        "reason": "Why it is left out; labels if it is imported without some of its labels.",
        "sentence": "The reason as a sentence.",
    },
    "FinishedRun": {
        **_REMOVALS,
        "state": "finished, or interrupted if the run can be continued.",
        "proved_end": "Whether the pages prove that the whole list was read.",
        "is_held": "Whether the candidates are too many to be removed without a confirmation.",
    },
    "IngestStatus": {
        "last_run": "The latest run of the account, or null.",
        "device_id": "The device that calls; null for an API key.",
        "source_user_id": "The account of the source that the device is bound to, or null.",
        "held_removals": "Runs whose removals the user has to confirm; finish confirms them.",
    },
    "HeldRemovals": {
        "posts": "How many posts were missing from the list.",
    },
    "RunStatus": {
        **_REMOVALS,
        "source": "Where the posts come from.",
        "kind": "full, incremental, visit, file or api.",
        "client": "Name and version of the program.",
        "state": "running, interrupted or finished.",
        "reason": "Why it ended; empty while it runs.",
        "import_id": "The import of its posts, which can be undone; null before the first post.",
        "pages": "Number of pages received.",
        "started_at": "When it started: ISO 8601 with an offset.",
        "updated_at": "When it last received a page: ISO 8601 with an offset.",
    },
    "Totals": {
        "posts": "Posts in the library.",
        "kept_pages": "Pages that are kept because no reader understood them.",
    },
    "Quota": {
        "pages_today": "Pages that the account has sent today (UTC).",
        "pages_per_day": "The maximum per account and UTC day.",
        "pages_per_minute": "The maximum of requests per device and minute.",
    },
    "PageResult": {
        **_COUNTS,
        "received": "Entries of the page.",
        "skipped": "Entries that are not imported.",
        "cursor_out": "Where the list continues, or null.",
        "stop": "Whether the run can end here.",
        "stop_reason": "end: the list ends. caught_up: everything below is known. Or null.",
        "unreadable": "Parts of the page that could not be read. Do not send it again.",
        "errors": "Sentences about the page.",
        "is_kept": "Whether the page is kept for a week and read again after an upgrade.",
        "is_unknown_form": "Whether the source has changed its answers: most posts of the page "
        "have a form that the server does not know. Nothing is recorded as gone, removed or "
        "complete.",
    },
    "Skipped": {
        "post_id": "The post. Empty if the entry does not say which it is.",
        "state": "unavailable, advertisement, invalid, or another reason.",
        "reason": "The reason as a sentence.",
    },
    "StartedRun": {
        "known_head": "The newest posts of the library.",
        "stop_below_sort_index": "An incremental run stops at a page whose posts are all known and "
        "at or below this index; null: it reads to the end.",
        "resume": "An earlier run that can be continued with its own id, or null.",
    },
    "KnownPost": {
        "sort_index": "Place in the list, higher is newer. A text, because it exceeds 2^53.",
    },
}


def sentence(schema: str, field: str) -> str | None:
    return FIELDS.get(schema, {}).get(field) or FIELDS["*"].get(field)
