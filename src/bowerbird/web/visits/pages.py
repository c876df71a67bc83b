"""Renders pages for one visitor: never cached. They say what the last change did."""

import secrets
from collections.abc import AsyncIterator
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from bowerbird.errors import Refusal
from bowerbird.requests.limits import SAVED_LABELS_MAX
from bowerbird.settings import Settings
from bowerbird.web import pages
from bowerbird.web.templating import Templates
from bowerbird.web.visits.formats import sentence_of, size_text
from bowerbird.web.visits.visit import Visit, is_ip_address
from bowerbird.wire.responses import answer_cache
from bowerbird.wire.responses.replies import Header, Reply

MESSAGES: Final = {
    "confirmed": "Confirmed. Press the button again to finish.",
    "signed-in": "You are signed in.",
    "passkey-added": "The passkey is added. You can sign in with it from now on.",
    "passkey-renamed": "The passkey is renamed.",
    "passkey-removed": "The passkey is removed. Delete it in your browser or password manager too.",
    "account-created": "Your account is created, and you are signed in.",
    "provider-connected": "The provider is connected. You can sign in with it from now on.",
    "provider-disconnected": "The provider is disconnected.",
    "sent-before": "The form was not sent again. What its page showed is shown only once.",
    "key-revoked": "The key is revoked.",
    "key-revoked-before": "That key was revoked before.",
    "extension-disconnected": "The extension is disconnected.",
    "extension-disconnected-before": "That extension was disconnected before.",
    "source-connected": "The source is connected.",
    "source-running": "A run will start within a minute.",
    "source-paused": "The source is paused.",
    "source-changed": "The source is changed.",
    "source-disconnected": "Disconnected. The saved token was deleted.",
    "source-missing": "That source was disconnected before.",
    "webhook-delivered": "The message was delivered.",
    "webhook-failed": "The message was not delivered. The list below says why.",
    "webhook-waiting": "The message is being sent. Open this page again to see what came of it.",
    "webhook-retrying": "The message is tried again now.",
    "webhook-paused": "Paused. What happens until you resume it is sent then.",
    "webhook-resumed": "Messages are sent again.",
    "webhook-removed": "The webhook is removed.",
    "preferences-saved": "Your preferences are saved.",
    "email-sent": "We sent a link to the new address. Open it within 24 hours to confirm it.",
    "email-changed": "Your email address is changed.",
    "session-ended": "That browser is signed out.",
    "sessions-ended": "All other browsers are signed out.",
    "plan-changed": "The plan is changed.",
    "invitation-withdrawn": "The invitation is withdrawn.",
    "job-queued": "The job is queued again.",
    "post-read": "Marked read.",
    "post-unread": "Marked unread.",
    "post-archived": "Archived.",
    "post-unarchived": "Taken out of the archive.",
    "post-deleted": "Moved to the trash. It can be restored for 30 days.",
    "post-restored": "Restored.",
    "note-saved": "The note is saved.",
    "note-removed": "The note is removed.",
    "note-same": "The note is unchanged.",
    "highlight-added": "The passage is marked.",
    "highlight-removed": "The highlight is removed.",
    "comment-saved": "The comment is saved.",
    "not-again": "That one does not come back.",
    "again": "It can come back.",
    "trash-deleted": "Deleted for good.",
    "label-added": "The label is added.",
    "label-removed": "The label is removed.",
    "starred": "Added to your favourites.",
    "unstarred": "Taken out of your favourites.",
    "view-created": "The view is saved.",
    "rule-saved": "The rule is saved.",
    "rule-applied": "The rule is saved, and applied to the posts that match now.",
    "rule-moved": "The rule has another place.",
    "rule-on": "The rule is on.",
    "rule-off": "The rule is off.",
    "rule-deleted": "The rule is deleted. What it has done stays.",
    "view-saved": "The view is changed.",
    "view-moved": "Moved.",
    "view-pinned": "The sidebar shows the view.",
    "view-unpinned": "The sidebar does not show the view any more.",
    "view-deleted": "The view is deleted. Its posts stay. It can be restored for 30 days.",
    "label-refused": "That label is not suggested for this post again.",
    "label-made": "The label is made.",
    "label-known": "That label exists already.",
    "label-changed": "The label is changed.",
    "label-there": "The post has this label already.",
    "job-cancelled": "The job is cancelled.",
    "import-cancelled": "The file is deleted here. Nothing was written.",
    "images-kept": "The images of your posts are kept and shown.",
    "images-not-kept": "No more images are downloaded. Those that are kept stay.",
    "images-deleted": "The kept images are being deleted.",
    "shared": "It is shared. Send the link to whom you like.",
    "share-saved": "Saved.",
    "share-off": "Switched off. Its address shows nothing any more.",
    "share-on": "Switched on.",
    "share-renewed": "It has a new address. The old one shows nothing any more.",
    "share-deleted": "It is not shared any more.",
    "share-stopped": "The share is stopped.",
    "share-allowed": "The share is allowed again.",
    "feed-created": "The feed is ready. Give its address to your feed reader only.",
    "export-started": "The file is being made.",
    "export-cancelled": "The export is cancelled.",
    "export-deleted": "The file is deleted.",
    "demo-filled": "The demo is in. One click removes it.",
    "demo-removed": "The demo is removed.",
    "link-saved": "Saved.",
    "link-known": "This post was in your library already.",
    "labels-there": "The post has these labels already.",
    **{
        f"labels-added-{number}": f"Added {number} label{'' if number == 1 else 's'}."
        for number in range(1, SAVED_LABELS_MAX + 1)
    },
}


_JSON: Final[list[Header]] = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


def attachment(
    name: str, media_type: str, content: bytes = b"", stream: AsyncIterator[bytes] | None = None
) -> Reply:
    """A file that the browser saves under this name."""
    headers: list[Header] = [
        (b"content-type", media_type.encode()),
        (b"content-disposition", f'attachment; filename="{name}"'.encode()),
        *_JSON[1:],
    ]
    return Reply(200, headers, content, stream)


class VisitPages:
    def __init__(self, settings: Settings, templates: Templates) -> None:
        self._templates = templates
        parts = urlsplit(settings.site_origin)
        self._is_secure = parts.scheme == "https"
        self._origin = f"{parts.scheme}://{parts.netloc}".lower()
        self._base_path = parts.path.rstrip("/")
        self.site = settings.site_origin
        self._passkey_site = "" if is_ip_address(parts.netloc) else settings.site_origin

    def show(self, visit: Visit, name: str, *, status: int = 0, **values: Any) -> Reply:
        """The status is that of the refused form, if there is one."""
        nonce = secrets.token_urlsafe(16)
        visitor = visit.visitor
        shared = {
            "nonce": nonce,
            "csrf": visit.form_token(),
            "email": visitor.email if visitor else "",
            # Of one account: others may use the same browser.
            "drafts": f"note {visitor.account.account_id} " if visitor else "",
            "is_signed_in": visitor is not None,
            "is_owner": visitor is not None and visitor.is_owner,
            "theme": visit.theme,
            "look": visit.look,
            "has_zone": visitor is None or visitor.is_zone_chosen,
            "time_lang": visit.date_words.attributes,
            "times": visit.times,
            "size_text": size_text,
            "message": MESSAGES.get(visit.asked("said"), ""),
            "problem": visit.problem,
            "unsent": visit.take_unsent(),
            # A passkey belongs to the name of the site: another address cannot use it.
            "has_passkeys": self.is_at_site(visit) and bool(self._passkey_site),
            "passkey_site": self._passkey_site,
            **visit.sidebar,
        }
        html = self._templates.render(name, **(shared | values))
        headers = pages.personal_headers(nonce, is_secure=self._is_secure)
        body = html.encode()
        encoding = answer_cache.chosen(visit.request.headers.get(b"accept-encoding", b""))
        if encoding:
            body = answer_cache.compressed_quickly(body, encoding)
            headers.append((b"content-encoding", encoding.encode()))
        status = status or (visit.refused.status if visit.refused else 200)
        return Reply(status, headers, body)

    def part(self, name: str, **values: Any) -> str:
        """A part of a page, which is the same for each time that it is shown."""
        return self._templates.render(name, **values)

    def problem(
        self,
        visit: Visit,
        status: int,
        heading: str,
        sentence: str,
        action: tuple[str, str] = ("/", "Home"),
    ) -> Reply:
        """A page that says why nothing was done. `action` is the path and text of a next step."""
        path, text = action
        return self.show(
            visit,
            "problem.html",
            status=status,
            heading=heading,
            sentence=sentence,
            action={"path": path, "text": text},
        )

    def refused(
        self,
        visit: Visit,
        refused: Refusal,
        action: tuple[str, str],
        heading: str = "Nothing was changed",
    ) -> Reply:
        return self.problem(visit, refused.status, heading, sentence_of(refused), action)

    def json(self, value: Any, *, status: int = 200) -> Reply:
        """An answer to a script of one of these pages."""
        return Reply(status, list(_JSON), msgspec.json.encode(value))

    def refusal_as_json(self, refused: Refusal) -> Reply:
        reply = self.json({"error": sentence_of(refused)}, status=refused.status)
        headers = [(k.lower().encode(), v.encode()) for k, v in refused.headers.items()]
        return reply.with_headers(*headers)

    def is_at_site(self, visit: Visit) -> bool:
        """Whether the browser has opened the configured address, not another one that works."""
        return visit.host.origin == self._origin

    def path(self, path: str) -> str:
        """A path of this site, as the browser knows it."""
        return f"{self._base_path}{path}"

    def go(self, path: str) -> Reply:
        """Sends the browser to another page of this site."""
        headers: list[Header] = [
            (b"location", self.path(path).encode("ascii")),
            (b"cache-control", b"no-store"),
            (b"referrer-policy", b"same-origin"),
        ]
        return Reply(303, headers)
