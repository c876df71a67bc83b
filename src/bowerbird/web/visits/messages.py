"""What a page says about the change that led to it. Its URL has the name of the message."""

from typing import Final

MESSAGES: Final = {
    "signed-in": "You are signed in.",
    "passkey-added": "The passkey is added. You can sign in with it from now on.",
    "passkey-renamed": "The passkey is renamed.",
    "passkey-removed": "The passkey is removed. Delete it in your browser or password manager too.",
    "account-created": "Your account is created, and you are signed in.",
    "provider-connected": "The provider is connected. You can sign in with it from now on.",
    "provider-disconnected": "The provider is disconnected.",
    "key-revoked": "The key is revoked.",
    "key-revoked-before": "That key was revoked before.",
    "extension-disconnected": "The extension is disconnected.",
    "extension-disconnected-before": "That extension was disconnected before.",
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
    "label-added": "The label is added.",
    "label-removed": "The label is removed.",
    "job-cancelled": "The job is cancelled.",
}
