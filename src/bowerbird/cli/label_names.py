"""Names of labels on the command line."""

import click

from bowerbird import errors
from bowerbird.model.labels import NAME_RULE, clean_name


def read_label_name(text: str) -> str:
    name = clean_name(text)
    if name is None:
        raise click.ClickException(
            f"--label: {errors.shown(text)} is not a name for a label. A name has {NAME_RULE}."
        )
    return name
