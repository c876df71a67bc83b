"""What a page says about the change that led to it. Its URL has the name of the message."""

from typing import Final

MESSAGES: Final = {
    "signed-in": "You are signed in.",
    "session-ended": "That browser is signed out.",
    "sessions-ended": "All other browsers are signed out.",
}
