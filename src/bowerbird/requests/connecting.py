"""The request with which an extension trades a connect code for a device token."""

from typing import Annotated

from msgspec import Meta, Struct

from bowerbird.requests.fields import about


class RedeemRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """POST /connect/redeem."""

    code: Annotated[
        Annotated[str, Meta(max_length=64)], about("The connect code, such as K7QM-2XRD.")
    ]
    # Its own rule bounds it further.
    name: Annotated[
        Annotated[str, Meta(max_length=1_000)], about("How the list of devices names the device.")
    ] = ""
