"""Finds labels by name, and suggests another one if there is none."""

from bowerbird.errors import Code, Refusal
from bowerbird.library.labels.labels import Labels
from bowerbird.model.accounts import Account
from bowerbird.toolserver.tools.results.quoted_text import shown_name


async def id_of(labels: Labels, account: Account, name: str) -> str:
    """The id of a label, or a refusal that names the nearest one."""
    try:
        return await labels.listed.id_of(account, name)
    except Refusal as refused:
        if refused.code is not Code.NOT_FOUND:
            raise
        meant = await labels.listed.nearest(account, name)
        hint = f" Did you mean '{shown_name(meant)}'?" if meant else ""
        problem = f"No label '{shown_name(name)}' on this account.{hint}"
        raise Refusal(Code.NOT_FOUND, problem) from None
