"""Browsers that are signed in, and the ways to sign in."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from bowerbird.model.accounts import Account, Reading

# How long a session lasts after its last use, and at most.
IDLE_DAYS: Final = 30
ABSOLUTE_DAYS: Final = 180


class Where(Struct, frozen=True):
    """Where a request came from: its network address and its browser."""

    address: str
    device: str


class Session(Struct, frozen=True):
    """A browser that is signed in."""

    session_id: str
    # `link`, `passkey` or the name of a provider.
    method: str
    device: str
    address: str
    created_at: int
    last_used_at: int
    # When the person last proved who they are.
    proved_at: int


class SignedIn(Struct, frozen=True, kw_only=True):
    """A session with its account, as one query read them."""

    account: Account
    email: str
    is_owner: bool
    time_zone: str
    is_zone_chosen: bool
    reading: Reading
    session: Session

    @property
    def star(self) -> str:
        """The label that a star adds to a post; "" if the plan includes no writing of labels."""
        return "" if self.account.is_free else self.reading.favourite


class LinkKind(StrEnum):
    # Signs the owner in. If there is no owner, it creates the account.
    OWNER = "owner"
    # Signs in the account that it was made for.
    ACCOUNT = "account"
    # Creates an account.
    INVITATION = "invitation"
    # Confirms a new email address.
    EMAIL = "email"
    # Connects an extension. Its token is a connect code. Its detail is the network that made it,
    # and after its use the id of the device.
    CONNECT = "connect"


class OneTimeLink(Struct, frozen=True):
    link_id: str
    kind: LinkKind
    # 0 if the link creates an account.
    account_id: int
    # What an invitation is for, the address to confirm, or what LinkKind.CONNECT says.
    detail: str
    created_at: int
    expires_at: int
    used_at: int | None = None


class Passkey(Struct, frozen=True):
    credential_id: bytes
    passkey_id: str
    public_key: bytes
    sign_count: int
    name: str
    # JSON array of the ways to reach the authenticator, as the browser gave it.
    transports: str
    created_at: int
    last_used_at: int | None = None


class ProviderIdentity(Struct, frozen=True):
    """An account at a provider with which a person signs in."""

    issuer: str
    subject: str
    identity_id: str
    # How the person is called there.
    shown: str
    created_at: int
    last_used_at: int | None = None
