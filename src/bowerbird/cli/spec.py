"""`spec`: the files that are made from the code, written or compared."""

import dataclasses
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from bowerbird.errors import CATALOGUE
from bowerbird.openapi import compatibility, specification
from bowerbird.settings import PREFIX, Settings
from bowerbird.toolserver.tools import catalogue

PROMISED: Final = "spec/published/v1.json"
_MADE: Final = "<!-- Made by `make generate`; edit the code it is made from. -->\n\n"


@click.command()
@click.option("--write", is_flag=True, help="Write the files.")
@click.option("--check", is_flag=True, help="Fail when a file differs from the code.")
@click.option(
    "--publish",
    is_flag=True,
    help=f"Promise the document: write {PROMISED}, unless that breaks what is promised.",
)
def spec(*, write: bool, check: bool, publish: bool) -> None:
    r"""Print the OpenAPI document, or keep the made files true (in a checkout).

    \b
    Example:
      bowerbird spec > openapi.json
    """
    files = made_files()
    if publish:
        _publish(files["spec/openapi.json"])
        return
    if not write and not check:
        click.echo(files["spec/openapi.json"], nl=False)
        return
    differing = [path for path, text in files.items() if _held(path) != text]
    if check and differing:
        raise click.ClickException(f"{', '.join(differing)} differ from the code: make generate")
    if check:
        _refuse_breaks(files["spec/openapi.json"])
    for path in differing:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(files[path], encoding="utf-8")
        click.echo(f"wrote {path}")


def made_files() -> dict[str, str]:
    """Path in the checkout -> text."""
    document = specification.document("http://localhost:8080")
    return {
        "spec/openapi.json": json.dumps(document, indent=2, ensure_ascii=False) + "\n",
        "docs/settings.md": _settings_page(),
        "docs/errors.md": _errors_page(),
        **catalogue.published_files(),
    }


def _publish(text: str) -> None:
    _refuse_breaks(text)
    Path(PROMISED).parent.mkdir(parents=True, exist_ok=True)
    Path(PROMISED).write_text(text, encoding="utf-8")
    click.echo(f"wrote {PROMISED}")


def _refuse_breaks(text: str) -> None:
    promised = _held(PROMISED)
    if promised is None:
        return
    today = datetime.now(UTC).date()
    found = compatibility.breaks(json.loads(promised), json.loads(text), today)
    if found:
        told = "\n".join(f"  {one}" for one in found)
        raise click.ClickException(f"What {PROMISED} promises is broken:\n{told}")


def _held(path: str) -> str | None:
    file = Path(path)
    return file.read_text(encoding="utf-8") if file.exists() else None


def _settings_page() -> str:
    rows = []
    for field in dataclasses.fields(Settings):
        name = PREFIX + field.name.upper()
        twin = f", or `{name}_FILE` with a path" if field.metadata["secret"] else ""
        default = f"`{field.default}`" if str(field.default) else "empty"
        rows.append(f"| `{name}`{twin} | {default} | {field.metadata['help']} |\n")
    return (
        "# Settings\n\n" + _MADE + "Environment variables, read once at start. "
        f"An unknown `{PREFIX}…` stops the start and names the nearest known one.\n\n"
        "| Variable | Default | Meaning |\n| --- | --- | --- |\n" + "".join(rows)
    )


def _errors_page() -> str:
    rows = [
        f"| {code} | {meaning.status} | {meaning.when} | {meaning.client_should} |\n"
        for code, meaning in CATALOGUE.items()
    ]
    return (
        "# Errors\n\n" + _MADE + "Every refusal has the same shape, `{status, code, error}`; a 402 "
        "also carries `upgrade_url`. Branch on `code`: sentences may change, codes do not.\n\n"
        "| Code | HTTP | When | The client should |\n| --- | --- | --- | --- |\n" + "".join(rows)
    )
