"""Refuses settings that have the right type but cannot work, alone or together."""

import re
from dataclasses import fields
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit

from bowerbird.settings.table import Table
from bowerbird.settings.values import (
    MAILBOX,
    PREFIX,
    BadSetting,
    check_address,
    check_contact,
    check_host_name,
    check_key,
    check_network,
    check_origin,
    check_secure_address,
    one_of,
)

_LAST_PORT: Final = 65_535
# Each takes about 100 MB: a mistyped number must not stop the machine.
MOST_WORKERS: Final = 64
_LONGEST_TIMEOUT_S: Final = 86_400
_LONGEST_BUTTON_NAME: Final = 40
_SENDER: Final = re.compile(rf'(?:[^<>@"\\,;:()\[\]\x00-\x1f\x7f]*<{MAILBOX}>|{MAILBOX})')
_SHORTEST_SECRET: Final = 32
_HOST_AND_PORT: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[1-9][0-9]{0,4})?")
# So many megabytes, as bytes, are the largest number that a database can store.
_LARGEST: Final = (1 << 43) - 1
# A setting with one of them as its default has no other values.
_SWITCH: Final = ("on", "off")
# Settings that need a package of an extra.
_EXTRAS: Final = (
    ("image_text", "rapidocr", "ocr"),
    ("japanese_readings", "sudachipy", "japanese"),
    ("japanese_readings", "sudachidict_small", "japanese"),
)
# The least and the most of each number.
_BOUNDS: Final = {
    "port": (1, _LAST_PORT),
    "admin_port": (0, _LAST_PORT),
    "max_connections": (1, _LARGEST),
    "header_timeout_s": (1, _LONGEST_TIMEOUT_S),
    "body_timeout_s": (1, _LONGEST_TIMEOUT_S),
    "response_timeout_s": (1, _LONGEST_TIMEOUT_S),
    "idle_timeout_s": (1, _LONGEST_TIMEOUT_S),
    "workers": (1, MOST_WORKERS),
    "free_calls_per_month": (0, _LARGEST),
    "answer_cache_mb": (0, _LARGEST),
    "sqlite_mapped_mb": (0, _LARGEST),
    "vector_cache_mb": (0, _LARGEST),
    "media_quota_mb": (1, _LARGEST),
    "video_quota_mb": (1, _LARGEST),
    "postgres_connections": (1, _LARGEST),
    "stop_timeout_s": (0, _LONGEST_TIMEOUT_S),
}


def check(settings: Table) -> None:
    _check_words(settings)
    for network in settings.trusted_proxies.split(","):
        check_network("trusted_proxies", network.strip())
    _check_extras(settings)
    _check_data_folder(settings)
    _check_numbers(settings)
    _check_ports(settings)
    _check_addresses(settings)
    if settings.intro_url and not settings.intro_model:
        raise BadSetting(f"{PREFIX}INTRO_MODEL is empty; {PREFIX}INTRO_URL requires it.")
    for name in ("operator_contact", "security_contact"):
        check_contact(name, getattr(settings, name))
    for name in ("database_url", "database_read_url"):
        url: str = getattr(settings, name)
        if url and not url.startswith(("postgresql://", "postgres://")):
            empty = "for SQLite" if name == "database_url" else "if there is no replica"
            raise BadSetting(
                f"{PREFIX}{name.upper()} must start with postgresql:// (leave it empty {empty})."
            )
    if settings.database_read_url and not settings.database_url:
        raise BadSetting(f"{PREFIX}DATABASE_READ_URL requires {PREFIX}DATABASE_URL.")
    _check_files(settings)
    _check_mail(settings)
    _check_sign_in(settings)
    _check_sources(settings)


def _check_extras(settings: Table) -> None:
    for name, package, extra in _EXTRAS:
        if getattr(settings, name) == "on" and find_spec(package) is None:
            raise BadSetting(
                f"{PREFIX}{name.upper()} is on, and the package {package} is missing. "
                f"Install the packages of bowerbird[{extra}], or turn it off."
            )


def _check_words(settings: Table) -> None:
    for switch in fields(settings):
        if switch.default in _SWITCH:
            one_of(switch.name.upper(), getattr(settings, switch.name), _SWITCH)
    one_of("DEFAULT_PLAN", settings.default_plan, ("free", "pro"))
    one_of("SIGN_UP", settings.sign_up, ("closed", "invite", "open"))
    one_of("LOG_FORMAT", settings.log_format, ("auto", "json", "text"))
    one_of("LOG_LEVEL", settings.log_level, ("debug", "info", "warning", "error"))


def _check_numbers(settings: Table) -> None:
    for name, (least, most) in _BOUNDS.items():
        value = getattr(settings, name)
        given = f"{PREFIX}{name.upper()}={value}"
        if value < least:
            raise BadSetting(f"{given} is too small; the minimum is {least}.")
        if value > most:
            unit = " seconds" if name.endswith("_s") else ""
            raise BadSetting(f"{given} is too large; the maximum is {most}{unit}.")


def _check_data_folder(settings: Table) -> None:
    folder = settings.data_dir.absolute()
    if folder.exists() and not folder.is_dir():
        raise BadSetting(f"{PREFIX}DATA_DIR: {folder} is a file, not a folder.")


def _check_ports(settings: Table) -> None:
    last_admin_port = settings.admin_port + settings.workers - 1 if settings.admin_port else 0
    if last_admin_port > _LAST_PORT:
        raise BadSetting(
            f"{PREFIX}ADMIN_PORT={settings.admin_port} is too large for {PREFIX}WORKERS="
            f"{settings.workers}: each server process has an admin port of its own, so the "
            f"maximum is {_LAST_PORT - settings.workers + 1}."
        )
    if settings.admin_port <= settings.port <= last_admin_port:
        raise BadSetting(
            f"{PREFIX}ADMIN_PORT uses port {settings.port}, which another setting uses too. "
            "Choose another port."
        )


def _check_addresses(settings: Table) -> None:
    for name in ("base_url", "site_url", "mcp_url", "embedding_url", "intro_url"):
        check_address(name, getattr(settings, name))
    for name in ("base_url", "site_url", "mcp_url"):
        value = getattr(settings, name)
        if any(mark in value for mark in "@?#"):
            raise BadSetting(
                f"{PREFIX}{name.upper()}={value!r} must have no user name, query or fragment: it "
                "is the beginning of links."
            )
    if urlsplit(settings.base_url).path.rstrip("/").endswith("/v1"):
        raise BadSetting(
            f"{PREFIX}BASE_URL={settings.base_url!r} ends in /v1. Leave that out: links in "
            "responses add it."
        )
    for origin in settings.tool_origins.split(","):
        check_origin("tool_origins", origin.strip())
    for host in settings.media_hosts.split(","):
        check_host_name("media_hosts", host.strip())
    for name in ("embedding_key", "intro_key", "files_s3_key_id", "files_s3_secret"):
        check_key(name, getattr(settings, name))


def _check_files(settings: Table) -> None:
    if settings.files_url and not _is_place_of_files(settings.files_url):
        raise BadSetting(
            f"{PREFIX}FILES_URL={settings.files_url!r} must be s3://bucket/prefix or "
            "file:///a/path (leave it empty for the data folder)."
        )
    check_address("files_s3_endpoint", settings.files_s3_endpoint)
    if bool(settings.files_s3_key_id) != bool(settings.files_s3_secret):
        missing = "SECRET" if settings.files_s3_key_id else "KEY_ID"
        raise BadSetting(f"{PREFIX}FILES_S3_{missing} is empty; an S3 key needs id and secret.")


def _is_place_of_files(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    if parts.scheme == "file":
        return parts.netloc in ("", "localhost") and bool(parts.path)
    return parts.scheme == "s3" and bool(parts.netloc) and not parts.query


def _check_mail(settings: Table) -> None:
    # The URL may contain a password, so error messages do not repeat it.
    if settings.smtp_url and not _is_mail_server(settings.smtp_url):
        raise BadSetting(
            f"{PREFIX}SMTP_URL must be smtp://host:587 or smtps://host:465, with "
            "user:password@ before the host if the server requires a login."
        )
    if settings.mail_from and not _SENDER.fullmatch(settings.mail_from):
        raise BadSetting(
            f"{PREFIX}MAIL_FROM={settings.mail_from!r} must look like "
            "bowerbird@example.com or Bowerbird <bowerbird@example.com>."
        )
    if settings.smtp_url and not settings.mail_from:
        raise BadSetting(f"{PREFIX}MAIL_FROM is empty; {PREFIX}SMTP_URL requires it.")


def _check_sign_in(settings: Table) -> None:
    for name in ("oidc_issuer", "github_url"):
        check_secure_address(name, getattr(settings, name))
    for provider in ("oidc", "google", "github", "x"):
        for name in (f"{provider}_client_id", f"{provider}_client_secret"):
            check_key(name, getattr(settings, name))
        _check_together(settings, f"{provider}_client_id", f"{provider}_client_secret")
    _check_together(settings, "oidc_issuer", "oidc_client_id")
    if not settings.github_url:
        raise BadSetting(f"{PREFIX}GITHUB_URL is empty; leave it out for https://github.com.")
    name = settings.oidc_name
    if not (name.strip() and name.isprintable() and len(name) <= _LONGEST_BUTTON_NAME):
        raise BadSetting(
            f"{PREFIX}OIDC_NAME={name!r} must be a name of 1 to {_LONGEST_BUTTON_NAME} characters."
        )


def _check_sources(settings: Table) -> None:
    if settings.sources_key and len(settings.sources_key) < _SHORTEST_SECRET:
        raise BadSetting(
            f"{PREFIX}SOURCES_KEY is too short; the minimum is {_SHORTEST_SECRET} characters."
        )
    for name, example in (("sources", "mastodon.lan"), ("webhooks", "n8n.lan")):
        for host in getattr(settings, f"{name}_private_hosts").split(","):
            if host.strip() and not _HOST_AND_PORT.fullmatch(host.strip().lower()):
                raise BadSetting(
                    f"{PREFIX}{name.upper()}_PRIVATE_HOSTS: {host.strip()!r} is not a host such as "
                    f"{example} or localhost:3000."
                )
    check_secure_address("x_api_url", settings.x_api_url)
    if not settings.x_api_url:
        raise BadSetting(f"{PREFIX}X_API_URL is empty; leave it out for https://api.x.com.")


def _check_together(settings: Table, first: str, second: str) -> None:
    """Two settings that work only together."""
    for given, missing in ((first, second), (second, first)):
        if getattr(settings, given) and not getattr(settings, missing):
            raise BadSetting(
                f"{PREFIX}{missing.upper()} is empty; {PREFIX}{given.upper()} requires it."
            )


def _is_mail_server(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    known = parts.scheme in ("smtp", "smtps") and bool(parts.hostname) and port != 0
    return known and not parts.path.strip("/") and not parts.query and not parts.fragment
