"""Every bound on a request. A bound is written here once; schemas and sentences read it."""

from typing import Final

from bowerbird.model.json_depth import MAX_DEPTH, MAX_VALUES
from bowerbird.model.labels import MAX_NAME_CHARACTERS
from bowerbird.model.posts import bookmarks, highlights

PAGE_DEFAULT: Final = 20
PAGE_MAX: Final = 100
POST_IDS_MAX: Final = 1_000
# The posts that a list names, and the fields that it selects.
LISTED_IDS_MAX: Final = PAGE_MAX
FIELDS_MAX: Final = 50
# Groups of duplicates on a page, the posts of each that are shown, and the posts that one request
# moves to the trash.
DUPLICATE_GROUPS_MAX: Final = 50
DUPLICATES_SHOWN: Final = 10
RESOLVED_MAX: Final = 50
# Of the trash, whose texts are in no index, a search reads the latest posts.
TRASH_SEARCHED_MAX: Final = 20_000
# An agent sends fewer ids per call, so that its answer stays short enough to read.
TOOL_POST_IDS_MAX: Final = 100
TOOL_FULL_POSTS_MAX: Final = 20
# Of one call of a tool, known or not.
ARGUMENTS_MAX: Final = 100
OPERATIONS_MAX: Final = 50
# Labels that suggestions choose among.
SUGGESTED_LABELS_MAX: Final = 1_000
# The posts of all operations of a batch together.
BATCH_POSTS_MAX: Final = 5_000
# The stored posts of one transaction that changes their labels, which writes them again. A job
# changes the labels of more.
LABELLED_BYTES_MAX: Final = 32 << 20
# Posts and links of one request that saves them, and the labels that it adds to each.
SAVED_MAX: Final = 100
# Links of one request whose posts are shown and not saved. Each is a request to its network.
PREVIEWED_MAX: Final = 5
SAVED_LABELS_MAX: Final = 10
# An answer to a write repeats this many posts, or posts with this many characters of label names;
# it has only the ids of the others.
ECHOED_POSTS_MAX: Final = 1_000
ECHOED_NAMES_MAX: Final = 2_000_000
# Per account and UTC day. An answer is stored for 24 hours, so up to twice as many are stored.
KEYED_ANSWERS_PER_DAY: Final = 10_000
KEYED_BYTES_PER_DAY: Final = 100_000_000
EXPORTS_PER_DAY: Final = 20
EXPORT_BYTES_PER_DAY: Final = 2_000_000_000
# Kept images in one PDF or Markdown export.
EXPORT_PICTURES_BYTES_MAX: Final = 500_000_000
# Downloads of everything that an account has.
ACCOUNT_DOWNLOADS_PER_DAY: Final = 5
# The posts of one change; the changes that are unfinished or kept for their undo, and the fields of
# posts that are kept for it. The oldest changes beyond that cannot be undone.
CHANGE_POSTS_MAX: Final = 200_000
UNFINISHED_CHANGES_MAX: Final = 5
KEPT_CHANGES_MAX: Final = 1_000
KEPT_CHANGED_POSTS_MAX: Final = 400_000
# The search box: labels and authors that it suggests, for a text of this length, and authors that
# a misspelled name is compared to.
SUGGESTED_MAX: Final = 6
SUGGESTED_FOR_MAX: Final = 100
AUTHORS_COMPARED: Final = 300
# Events of an account that GET /changes has: the last ones, for so long.
EVENT_DAYS: Final = 90
EVENTS_MAX: Final = 1_000_000
# Webhooks of an account; the messages to each that can be looked at and sent again; those that an
# account may send by hand at once; the bytes of a message, as the Standard Webhooks rules advise.
WEBHOOKS_MAX: Final = 10
WEBHOOK_URL_MAX: Final = 2_048
DELIVERIES_KEPT: Final = 100
WAITING_DELIVERIES_MAX: Final = 20
MESSAGE_BYTES_MAX: Final = 20_000
# Of an answer: what is read, and what is kept.
HOOK_ANSWER_BYTES_MAX: Final = 64 * 1024
HOOK_ANSWER_KEPT: Final = 1_000
VIEWS_MAX: Final = 200
BUCKETS_MAX: Final = 20
# In the sidebar of the website; the page of views has all of them.
PINNED_VIEWS_SHOWN: Final = 20
RULES_MAX: Final = 100
# Each may be a change of many posts, of which few can be unfinished.
RULE_ACTIONS_MAX: Final = UNFINISHED_CHANGES_MAX
# What the rules of an account have done: the latest entries.
RULE_LOG_MAX: Final = 200
# Shared lists and private feeds of an account, and of a free one. The words of a share.
SHARES_MAX: Final = 50
FREE_SHARES_MAX: Final = 1
SHARE_NAME_MAX: Final = 40
SHARE_TITLE_MAX: Final = 100
# Posts of a feed and of a page of a share.
FEED_POSTS: Final = 50
SHARED_POSTS: Final = 20
# Pages and feeds of shares that a process makes at once, and that wait for that.
SHARED_BUILDS_MAX: Final = 2
SHARED_WAITING_MAX: Final = 32
RANKED_MAX: Final = 1_000
LABEL_NAME_MAX: Final = MAX_NAME_CHARACTERS
LABEL_ID_MAX: Final = 40
LABELS_MAX: Final = 10_000
# Labels that the picker of a page offers at once.
PICKED_LABELS_MAX: Final = 12
# Accounts and posts that have more labels already keep them, and cannot get another one.
POST_LABELS_MAX: Final = 100
LABEL_METADATA_MAX: Final = 4_096
NOTE_MAX: Final = bookmarks.NOTE_MAX
# Per post. The last one is for the characters of all its passages and comments together.
HIGHLIGHTS_MAX: Final = highlights.HIGHLIGHTS_MAX
HIGHLIGHT_QUOTE_MAX: Final = highlights.QUOTE_MAX
HIGHLIGHT_COMMENT_MAX: Final = highlights.COMMENT_MAX
HIGHLIGHT_CHARACTERS_MAX: Final = highlights.TOTAL_MAX
VIEW_NAME_MAX: Final = 100
TEXT_MAX: Final = 1_000
# Labels or authors of one filter.
FILTER_NAMES_MAX: Final = 20
NUMBER_MAX: Final = 999_999_999
# Posts that are read to count the sites that they link to.
FACET_LINKED_POSTS_MAX: Final = 20_000
SLUG_MAX: Final = 60
# Longer than any slug we create, for slugs that a caller sends.
SENT_SLUG_MAX: Final = 200
CURSOR_MAX: Final = 10_000
JSON_DEPTH_MAX: Final = MAX_DEPTH
JSON_VALUES_MAX: Final = MAX_VALUES
# Tools read each value of their arguments several times. An agent sends far fewer.
TOOL_VALUES_MAX: Final = 10_000
# Devices that are not revoked.
DEVICES_MAX: Final = 50
# The latest ones are listed by the command, and are told that they were revoked.
REVOKED_DEVICES_MAX: Final = 100
# Connect codes of an account that were not used, and how long each is valid.
CONNECT_CODES_MAX: Final = 5
CONNECT_CODE_S: Final = 600
# Wrong connect codes within ten minutes: of one network address, and of all together. Beyond the
# second one, a code works only from the network address that made it.
CONNECT_TRIES_MAX: Final = 5
CONNECT_TRIES_OF_ALL_MAX: Final = 1_000
REDEEM_BYTES_MAX: Final = 4 * 1024
# Labels that are suggested to a device.
DEVICE_LABELS_MAX: Final = 500
# Sources that an account has connected, also those that are paused.
CONNECTIONS_MAX: Final = 10
# How often a connected source is read, in seconds.
CONNECTION_INTERVAL_MIN_S: Final = 1_800
CONNECTION_INTERVAL_MAX_S: Final = 86_400
# How much of the list of saved posts a run reads from a network, at most.
CONNECTION_PAGES_PER_RUN: Final = 5_000
# Posts that a connection reads from X per day (UTC), each of which X charges for.
X_POSTS_PER_DAY_MIN: Final = 90
X_POSTS_PER_DAY_MAX: Final = 100_000
# Keys that are not revoked.
KEYS_MAX: Final = 100
# The latest ones are listed.
REVOKED_KEYS_MAX: Final = 100
PASSKEYS_MAX: Final = 20
PASSKEY_NAME_MAX: Final = 100
INVITATIONS_MAX: Final = 100
INVITATION_NOTE_MAX: Final = 100
# A page that a device sends, before and after decompression. Above 1 MiB, it may have this many
# times the bytes that were sent: a capture has 5 to 30 times.
INGEST_PAGE_BYTES_MAX: Final = 8 * 1024 * 1024
INGEST_RATIO_MAX: Final = 100
INGEST_ENTRIES_MAX: Final = 100
INGEST_EVENTS_MAX: Final = 100
# Names of folders: in one page, and of all lists of folders that an account has sent.
INGEST_FOLDERS_MAX: Final = 1_000
FOLDERS_MAX: Final = 10_000
INGEST_FILE_BYTES_MAX: Final = 50_000_000
# Per device, or per account for calls with an API key.
INGEST_PAGES_PER_MINUTE: Final = 300
INGEST_PAGES_PER_DAY: Final = 50_000
INGEST_RUNS_PER_DAY: Final = 1_000
INGEST_FILES_PER_DAY: Final = 1_000
# A run whose device has sent no page for so long is shown as interrupted.
INGEST_SILENT_S: Final = 3_600
# Requests with a large body that are being received or read at the same time.
INGEST_CONCURRENT: Final = 32
INGEST_CONCURRENT_PER_ACCOUNT: Final = 4
INGEST_UNFINISHED_FILES: Final = 2
# Files of an account that are kept between the check on the page for imports and the import.
CHECKED_FILES_MAX: Final = 2
CHECKED_FILE_S: Final = 86_400
KEPT_PAGES_MAX: Final = 1_000
KEPT_BYTES_MAX: Final = 20_000_000
# Pages of a folder that came before its name, read again with one request.
KEPT_PAGES_READ_AT_ONCE: Final = 10
# Posts that are not in a complete list any more are recorded as removed up to this number, or this
# part of the library. More of them are held until the client confirms.
REMOVALS_MAX: Final = 20
REMOVALS_MAX_PERCENT: Final = 2
