"""Example values for the template of every page, in each state that looks different."""

from typing import Final

from tests.web import (
    bulk_examples,
    label_examples,
    library_examples,
    media_examples,
    operator_examples,
    overview_examples,
    source_examples,
    transfer_examples,
    view_examples,
)
from tests.web.example_values import (
    AUGUST,
    FRAME,
    KEY,
    MARCH,
    SEPTEMBER,
    TODAY,
    Values,
)

NEXT: Final = "/keys"


PROVIDERS: Final = [
    {"name": "Google", "path": "/sign-in/google"},
    {"name": "GitHub", "path": "/sign-in/github"},
    {"name": "example.org", "path": "/sign-in/openid"},
]
SIGN_IN: Final[Values] = {
    "csrf": "c5rf",
    "has_passkeys": True,
    "passkey_site": "https://example.org",
    "providers": PROVIDERS,
    "sign_up": "invite",
    "next": NEXT,
    "problem": "",
}
LINK: Final[Values] = {
    "csrf": "c5rf",
    "state": "ready",
    "minutes": 15,
    "days": 7,
    "token": "",
    "email": "",
    "email_error": "",
}
LINK_EMAIL: Final[Values] = {"csrf": "c5rf", "state": "ready", "hours": 24}
SIGN_UP: Final[Values] = {
    "csrf": "c5rf",
    "has_passkeys": True,
    "passkey_site": "https://example.org",
    "providers": PROVIDERS,
    "invitation": "4kTz9QmA",
    "problem": "",
}
AGAIN: Final[Values] = {
    "csrf": "c5rf",
    "email": "nora@example.org",
    "account": "nora@example.org",
    "change": "create a key",
    "has_passkey": True,
    "has_passkeys": True,
    "passkey_site": "https://example.org",
    "providers": PROVIDERS[:1],
    "next": NEXT,
    "problem": "",
}
CONNECT: Final[Values] = FRAME | {"link": "", "link_id": "", "minutes": 10}
KEYS: Final[Values] = FRAME | {
    "keys": [
        {
            "id": "3f9c01ab",
            "name": "Claude on the laptop",
            "prefix": "bwr_4kTz",
            "created_at": AUGUST,
            "last_used": TODAY,
        },
        {
            "id": "77aa01ab",
            "name": "النسخ الليلي",
            "prefix": "bwr_9QmA",
            "created_at": MARCH,
            "last_used": TODAY,
        },
        {
            "id": "0c0c01ab",
            "name": "",
            "prefix": "bwr_Lr2u",
            "created_at": MARCH,
            "last_used": None,
        },
    ],
    "extensions": [
        {
            "id": "d1",
            "name": "Firefox, laptop",
            "created_at": MARCH,
            "source_user": "number 1893726451028374656",
            "last_used": TODAY,
            "run": "complete, today, 09:14",
            "run_kind": "on",
        },
        {
            "id": "d2",
            "name": "Chromium, work",
            "created_at": AUGUST,
            "source_user": "",
            "last_used": None,
            "run": "none yet",
            "run_kind": "",
        },
    ],
    "sunsets": [
        {
            "version": "v1",
            "ends_at": SEPTEMBER,
            "note_url": "https://posts.example.org/docs#versioning",
        }
    ],
    "new_name": "",
    "new_name_error": "",
}
ACCOUNT: Final[Values] = FRAME | {
    "time_zone": "Europe/Berlin",
    "time_zone_error": "",
    "plan": "free",
    "usage": {
        "posts": 4218,
        "key_count": 3,
        "calls": 61,
        "calls_limit": 100,
        "next_month": SEPTEMBER,
    },
    "passkeys": [
        {"id": "p1", "name": "Laptop", "created_at": MARCH, "last_used": TODAY},
        {"id": "p2", "name": "Phone", "created_at": AUGUST, "last_used": None},
    ],
    "has_passkeys": True,
    "providers": [
        {
            "id": "google",
            "name": "Google",
            "address": "nora@example.org",
            "path": "/account/providers/google/connect",
        },
        {
            "id": "",
            "name": "GitHub",
            "address": "",
            "path": "/account/providers/github/connect",
        },
    ],
    "can_disconnect": True,
    "sessions": [
        {
            "id": "s1",
            "browser": "Firefox on Linux",
            "address": "192.0.2.44",
            "last_used": TODAY,
            "is_current": True,
        },
        {
            "id": "s2",
            "browser": "Safari on iOS",
            "address": "2001:db8:85a3::8a2e:370:7334",
            "last_used": AUGUST,
            "is_current": False,
        },
    ],
    "digest": {"frequency": "weekly", "hour": 8, "mail": True},
    "removed_posts": "keep",
    "images": media_examples.IMAGES,
    "can_mail": True,
    "change_email": "confirm",
    "new_email": "",
    "new_email_error": "",
}
DELETE: Final[Values] = FRAME | {
    "posts": 4218,
    "labels": 23,
    "views": 4,
    "keys": 3,
    "phrase": "nora@example.org",
    "phrase_error": "",
    "obstacle": "",
}
ACTIVITY: Final[Values] = FRAME | {
    "events": [
        {
            "at": TODAY,
            "text": "Signed in with a passkey",
            "address": "2001:db8:85a3::8a2e:370:7334",
        },
        {
            "at": AUGUST,
            "text": "Created the key “Claude on the laptop”",
            "address": "192.0.2.44",
        },
        {"at": MARCH, "text": "Changed the plan to pro", "address": ""},
    ],
    "days": 180,
    "older": "b.2026-03-03",
    "is_first": False,
}

# Name of the example -> template and values.
EXAMPLES: Final[dict[str, tuple[str, Values]]] = {
    "sign_in": ("sign_in.html", SIGN_IN),
    "sign_in-refused": (
        "sign_in.html",
        SIGN_IN
        | {
            "has_passkeys": False,
            "providers": [],
            "sign_up": "open",
            "problem": "Google has not verified your email address. Sign in another way.",
        },
    ),
    "link": ("link.html", LINK),
    "link-invitation": ("link.html", LINK | {"state": "invitation"}),
    "link-used": ("link.html", LINK | {"state": "used"}),
    "link-owner": (
        "link.html",
        LINK | {"state": "owner", "email": "nora@", "email_error": "This is not an email address."},
    ),
    "link_email": ("link_email.html", LINK_EMAIL),
    "link_email-signed-out": ("link_email.html", LINK_EMAIL | {"state": "signed-out"}),
    "link_email-used": ("link_email.html", LINK_EMAIL | {"state": "used"}),
    "sign_up": ("sign_up.html", SIGN_UP),
    "sign_up-refused": (
        "sign_up.html",
        SIGN_UP
        | {
            "has_passkeys": False,
            "providers": [],
            "invitation": "",
            "problem": "This passkey could not be checked. Try again, or use another one.",
        },
    ),
    "sign_up_offer": (
        "sign_up_offer.html",
        {"csrf": "c5rf", "provider": "Google", "shown": "nora.van.der.meer@example.org"},
    ),
    "continue": (
        "continue.html",
        {"provider": "Google", "url": "#signing-in", "host": "accounts.google.com"},
    ),
    "reauthenticate": ("reauthenticate.html", AGAIN),
    "reauthenticate-by-link": (
        "reauthenticate.html",
        AGAIN | {"has_passkey": False, "providers": [], "problem": "The passkey was refused."},
    ),
    "keys": ("keys.html", KEYS | {"message": "The key “Cursor” is revoked."}),
    "keys-empty": (
        "keys.html",
        KEYS
        | {
            "keys": [],
            "extensions": [],
            "sunsets": [],
            "is_owner": False,
            "new_name": "x" * 30,
            "new_name_error": "A name can have at most 100 printable characters.",
            "problem": "The form has expired. Try again.",
        },
    ),
    "key_new": (
        "key_new.html",
        FRAME | {"key_id": "3f9c01ab", "key_name": "Claude on the laptop", "key": KEY},
    ),
    "connect": ("connect.html", CONNECT),
    "connect-line": (
        "connect.html",
        CONNECT | {"link": "https://library.example.org/#K7QM-2XRD", "link_id": "3f9c01ab"},
    ),
    "connect_link": (
        "connect_link.html",
        CONNECT | {"link_id": "3f9c01ab", "state": "waiting", "device": ""},
    ),
    "connect_link-connected": (
        "connect_link.html",
        CONNECT | {"link_id": "3f9c01ab", "state": "connected", "device": "Firefox on Linux"},
    ),
    "connect_link-over": (
        "connect_link.html",
        CONNECT | {"link_id": "3f9c01ab", "state": "over", "device": ""},
    ),
    "connect-full": (
        "connect.html",
        CONNECT | {"problem": "You have 5 codes that were not used.", "is_owner": False},
    ),
    "account": ("account.html", ACCOUNT),
    "account-new": (
        "account.html",
        ACCOUNT
        | {
            "email": "",
            "plan": "pro",
            "usage": ACCOUNT["usage"] | {"calls_limit": None},
            "passkeys": [],
            "has_passkeys": False,
            "passkey_site": "",
            "providers": [ACCOUNT["providers"][0]],
            "can_disconnect": False,
            "sessions": ACCOUNT["sessions"][:1],
            "images": media_examples.IMAGES
            | {"is_full": True, "left_out": [], "shows": False, "is_keeping": False},
            "can_mail": False,
            "change_email": "ask",
            "time_zone": "Berlin",
            "time_zone_error": "No time zone has this name. Use a name such as Europe/Berlin.",
        },
    ),
    "account_delete": ("account_delete.html", DELETE),
    "account_delete-refused": (
        "account_delete.html",
        DELETE | {"phrase_error": "This is not the address of the account."},
    ),
    "account_delete-owner": (
        "account_delete.html",
        DELETE | {"obstacle": "You are the owner of this service. Run: bowerbird account owner"},
    ),
    "activity": ("activity.html", ACTIVITY),
    "activity-empty": ("activity.html", ACTIVITY | {"events": []}),
    **operator_examples.EXAMPLES,
    **transfer_examples.EXAMPLES,
    **library_examples.EXAMPLES,
    **overview_examples.EXAMPLES,
    **view_examples.EXAMPLES,
    **label_examples.EXAMPLES,
    **media_examples.EXAMPLES,
    **bulk_examples.EXAMPLES,
    **source_examples.EXAMPLES,
    "goodbye": ("goodbye.html", {}),
    "missing": ("missing.html", {}),
    "missing-signed-in": ("missing.html", {"is_signed_in": True}),
    "error": ("error.html", {"reference": "472ab0ac2c5e-1"}),
    "offline": ("offline.html", {}),
    "maintenance": ("maintenance.html", {"retry_after": 5}),
    "problem": (
        "problem.html",
        {
            "heading": "Not signed in",
            "sentence": "You cancelled the sign-in at GitHub. Nothing has changed.",
            "action": {"path": "/sign-in", "text": "Sign in"},
        },
    ),
}
