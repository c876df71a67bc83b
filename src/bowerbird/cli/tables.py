"""Prints rows as a table on a terminal, and tab-separated for programs."""

from collections.abc import Sequence

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    console = Console()
    if not console.is_terminal:
        for row in rows:
            click.echo("\t".join(row))
        return
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        # `Text` prevents rich from reading a name as markup.
        table.add_row(*map(Text, row))
    console.print(table)
