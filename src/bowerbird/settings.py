"""All settings of the service, read from the environment once at startup.

`make generate` writes docs/settings.md from this table; `make check` fails when the two differ.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

PREFIX: Final = "BOWERBIRD_"
_LAST_PORT: Final = 65_535
_LONGEST_TIMEOUT_S: Final = 86_400
_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_{|}~-]+"
_MAILBOX: Final = rf"{_ATOM}(?:\.{_ATOM})*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*"
_SENDER: Final = re.compile(rf'(?:[^<>@"\\,;:()\[\]\x00-\x1f\x7f]*<{_MAILBOX}>|{_MAILBOX})')
_VISIBLE: Final = re.compile(r"[\x21-\x7e]*")
_ORIGIN: Final = re.compile(r"[a-z]+://[^/?#@\s]+/?")
_CONTACT: Final = re.compile(rf"{_MAILBOX}|https://[^\s<>\"]+")


class BadSetting(Exception):  # noqa: N818 - named for what it is
    """A setting has an invalid value. The message names the variable and says what is valid."""


def setting(default: Any, help: str, *, secret: bool = False) -> Any:
    return field(default=default, metadata={"help": help, "secret": secret})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    data_dir: Path = setting(Path("data"), "Folder for the database and the files.")
    database_url: str = setting(
        "",
        "`postgresql://…` stores the library in PostgreSQL. If empty, the library is one SQLite "
        "file in the data folder.",
        secret=True,
    )
    host: str = setting("127.0.0.1", "Address the service listens on.")
    port: int = setting(8080, "Port the service listens on.")
    admin_host: str = setting("127.0.0.1", "Address or name the admin port listens on.")
    admin_port: int = setting(
        0,
        "Port that serves `/metrics`, such as 8081. Server process *n*, counted from 0, uses this "
        "port plus *n*. 0 means that there is no admin port.",
    )
    http2_port: int = setting(
        0,
        "Port that serves HTTP/2 without TLS, for a reverse proxy that speaks it. Only that proxy "
        "should reach it: it limits headers, but has no time-outs. 0 turns it off; the main port "
        "always speaks HTTP/1.1.",
    )
    max_connections: int = setting(
        4096,
        "Connections that one server process keeps open. When more arrive, those whose client has "
        "been silent longest are closed. Up to 64 more are kept for health checks.",
    )
    header_timeout_s: int = setting(
        10,
        "Seconds in which the headers of a request must arrive, counted from its first byte. A new "
        "connection must send its first byte within this time.",
    )
    body_timeout_s: int = setting(
        30,
        "Seconds in which the body of a request must arrive, plus one second for every 16 KiB "
        "received.",
    )
    response_timeout_s: int = setting(
        60,
        "Seconds in which a client must read what the server has sent, plus one second for every "
        "16 KiB. A long response is sent in parts, and the time counts for each of them.",
    )
    idle_timeout_s: int = setting(
        75, "Seconds that a connection may stay open without a request after an earlier one."
    )
    workers: int = setting(1, "Number of server processes. Keep it at 1 with SQLite.")
    base_url: str = setting(
        "",
        "Public origin of the API, without `/v1`. Links in responses start with it. If empty, it "
        "is `http://localhost:` and the port.",
    )
    site_url: str = setting("", "Public origin of the website. Defaults to the base URL.")
    mcp_url: str = setting(
        "", "Public URL of the MCP server. Defaults to the base URL plus `/mcp`."
    )
    tool_origins: str = setting(
        "",
        "Additional origins whose web pages may call the MCP server, separated by commas, such as "
        "`https://app.example.com`. Only browsers need this.",
    )
    operator_contact: str = setting(
        "",
        "How to reach the operator: an email address or an `https://` page. The website shows it "
        "to people who want an account, a key or another plan.",
    )
    security_contact: str = setting(
        "",
        "Where to report a vulnerability: an email address or an `https://` page, published in "
        "`/.well-known/security.txt`. Defaults to the operator's contact.",
    )
    sandbox: str = setting(
        "on", "`off` disables `/v1/sandbox`, where anyone can try the API without a key."
    )
    signup_plan: str = setting(
        "free", "Plan of a new account: `free` or `pro`. The first account is always `pro`."
    )
    free_calls_per_month: int = setting(100, "API calls per calendar month (UTC) on the free plan.")
    answer_cache_mb: int = setting(
        64, "Size of the response cache in megabytes. 0 turns the cache off."
    )
    files_url: str = setting(
        "",
        "Where to store files such as exports: `s3://bucket/prefix`, or `file:///a/path` on a disk "
        "that all nodes share. If empty, files go to the folder `files` in the data folder.",
    )
    files_s3_endpoint: str = setting(
        "", "URL of an S3 server other than Amazon's, such as `https://s3.example.com`."
    )
    files_s3_region: str = setting("us-east-1", "Region of the S3 bucket.")
    files_s3_key_id: str = setting(
        "", "Id of the S3 access key. If empty, the credentials of the machine are used."
    )
    files_s3_secret: str = setting("", "Secret of the S3 access key.", secret=True)
    smtp_url: str = setting(
        "",
        "SMTP server: `smtp://user:password@host:587` or `smtps://…:465`. `smtp://` uses STARTTLS "
        "if the server offers it, and requires it when a password is set, except on localhost. "
        "If empty, no email is sent.",
        secret=True,
    )
    mail_from: str = setting(
        "", "Sender of email: `bowerbird@example.com` or `Bowerbird <bowerbird@example.com>`."
    )
    model_dir: str = setting(
        "",
        "Folder of the model for search by meaning. Defaults to where `make install` builds it.",
    )
    vector_cache_mb: int = setting(
        256, "Size of the cache of vectors for search by meaning, in megabytes."
    )
    embedding_url: str = setting(
        "",
        "URL of a service with an OpenAI-compatible embeddings API, such as "
        "`http://localhost:11434/v1`. It replaces the built-in model.",
    )
    embedding_key: str = setting("", "API key of the embedding service.", secret=True)
    embedding_model: str = setting(
        "text-embedding-3-small",
        "Model name to send to the embedding service. Changing it embeds every library again.",
    )
    intro_url: str = setting(
        "",
        "Base URL of an OpenAI-compatible chat service that writes introductions to digests, such "
        "as `https://api.example.com/v1`. It receives the authors, titles and texts of the posts "
        "shown. If empty, digests have no introduction.",
    )
    intro_key: str = setting("", "API key of the service that writes introductions.", secret=True)
    intro_model: str = setting(
        "", "Model that writes introductions. Required with `BOWERBIRD_INTRO_URL`."
    )
    postgres_connections: int = setting(10, "Maximum number of PostgreSQL connections per process.")
    log_level: str = setting("info", "Lowest level to log: `debug`, `info`, `warning` or `error`.")
    stop_timeout_s: int = setting(
        30, "Seconds that open requests have to finish when the server stops."
    )

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Self:
        known = {PREFIX + f.name.upper(): f for f in fields(cls)}
        values: dict[str, Any] = {}
        for variable, given in env.items():
            if not variable.startswith(PREFIX):
                continue
            name, text = _resolve(variable, given, known)
            values[known[name].name] = _convert(name, text, type(known[name].default))
        settings = cls(**values)
        settings.check()
        return settings

    def check(self) -> None:
        """Raises BadSetting for values that have the right type but cannot work."""
        _one_of("SIGNUP_PLAN", self.signup_plan, ("free", "pro"))
        _one_of("SANDBOX", self.sandbox, ("on", "off"))
        _one_of("LOG_LEVEL", self.log_level, ("debug", "info", "warning", "error"))
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value < least:
                raise BadSetting(
                    f"{PREFIX}{name.upper()}={value} is too small; the minimum is {least}."
                )
            if name.endswith("_timeout_s") and value > _LONGEST_TIMEOUT_S:
                raise BadSetting(
                    f"{PREFIX}{name.upper()}={value} is too large; the maximum is "
                    f"{_LONGEST_TIMEOUT_S} seconds."
                )
        self._check_ports()
        self._check_addresses()
        if self.intro_url and not self.intro_model:
            raise BadSetting(f"{PREFIX}INTRO_MODEL is empty; {PREFIX}INTRO_URL requires it.")
        for name in ("operator_contact", "security_contact"):
            _check_contact(name, getattr(self, name))
        if self.database_url and not self.database_url.startswith(("postgresql://", "postgres://")):
            raise BadSetting(
                f"{PREFIX}DATABASE_URL must start with postgresql:// (leave it empty for SQLite)."
            )
        self._check_files()
        self._check_mail()

    def _check_ports(self) -> None:
        last_admin_port = self.admin_port + self.workers - 1 if self.admin_port else 0
        for name, last in (
            ("port", self.port),
            ("http2_port", self.http2_port),
            ("admin_port", last_admin_port),
        ):
            if last > _LAST_PORT:
                value = getattr(self, name)
                raise BadSetting(
                    f"{PREFIX}{name.upper()}={value} is too large; the maximum is {_LAST_PORT}."
                )

        self._check_different_ports(last_admin_port)

    def _check_different_ports(self, last_admin_port: int) -> None:
        admin_ports = range(self.admin_port, last_admin_port + 1) if self.admin_port else ()
        for name, port, others in (
            ("HTTP2_PORT", self.http2_port, (self.port, *admin_ports)),
            ("ADMIN_PORT", self.port if self.port in admin_ports else 0, (self.port,)),
        ):
            if port and port in others:
                raise BadSetting(
                    f"{PREFIX}{name} uses port {port}, which another setting uses too. "
                    "Choose another port."
                )

    def _check_addresses(self) -> None:
        for name in ("base_url", "site_url", "mcp_url", "embedding_url", "intro_url"):
            _check_address(name, getattr(self, name))
        for origin in self.tool_origins.split(","):
            _check_origin("tool_origins", origin.strip())
        for name in ("embedding_key", "intro_key", "files_s3_key_id", "files_s3_secret"):
            _check_key(name, getattr(self, name))

    def _check_files(self) -> None:
        parts = urlsplit(self.files_url)
        is_folder = parts.scheme == "file" and parts.netloc in ("", "localhost") and parts.path
        is_bucket = parts.scheme == "s3" and parts.netloc and not parts.query
        if self.files_url and not (is_folder or is_bucket):
            raise BadSetting(
                f"{PREFIX}FILES_URL={self.files_url!r} must be s3://bucket/prefix or "
                "file:///a/path (leave it empty for the data folder)."
            )
        _check_address("files_s3_endpoint", self.files_s3_endpoint)
        if bool(self.files_s3_key_id) != bool(self.files_s3_secret):
            missing = "SECRET" if self.files_s3_key_id else "KEY_ID"
            raise BadSetting(f"{PREFIX}FILES_S3_{missing} is empty; an S3 key needs id and secret.")

    def _check_mail(self) -> None:
        # The URL may contain a password, so error messages do not repeat it.
        if self.smtp_url and not _is_mail_server(self.smtp_url):
            raise BadSetting(
                f"{PREFIX}SMTP_URL must be smtp://host:587 or smtps://host:465, with "
                "user:password@ before the host if the server requires a login."
            )
        if self.mail_from and not _SENDER.fullmatch(self.mail_from):
            raise BadSetting(
                f"{PREFIX}MAIL_FROM={self.mail_from!r} must look like "
                "bowerbird@example.com or Bowerbird <bowerbird@example.com>."
            )
        if self.smtp_url and not self.mail_from:
            raise BadSetting(f"{PREFIX}MAIL_FROM is empty; {PREFIX}SMTP_URL requires it.")

    @property
    def is_sqlite(self) -> bool:
        return not self.database_url

    @property
    def api_origin(self) -> str:
        # "localhost" rather than 127.0.0.1: passkeys do not work on an IP address.
        return (self.base_url or f"http://localhost:{self.port}").rstrip("/")

    @property
    def site_origin(self) -> str:
        return self.site_url.rstrip("/") or self.api_origin

    @property
    def tool_server(self) -> str:
        return self.mcp_url.rstrip("/") or f"{self.api_origin}/mcp"

    @property
    def register_url(self) -> str:
        return f"{self.site_origin}/keys"

    @property
    def upgrade_url(self) -> str:
        return f"{self.site_origin}/upgrade"


_LEAST: Final = {
    "port": 1,
    "admin_port": 0,
    "http2_port": 0,
    "max_connections": 1,
    "header_timeout_s": 1,
    "body_timeout_s": 1,
    "response_timeout_s": 1,
    "idle_timeout_s": 1,
    "workers": 1,
    "free_calls_per_month": 0,
    "answer_cache_mb": 0,
    "vector_cache_mb": 0,
    "postgres_connections": 1,
    "stop_timeout_s": 0,
}


def _resolve(variable: str, given: str, known: Mapping[str, Any]) -> tuple[str, str]:
    """The setting of a variable, and its text. NAME_FILE contains the path of a secret's file."""
    if variable in known:
        return variable, given
    name = variable.removesuffix("_FILE")
    if name == variable or name not in known or not known[name].metadata["secret"]:
        near = difflib.get_close_matches(variable, known, n=1, cutoff=0)
        raise BadSetting(
            f"{variable} is not a setting. Did you mean {near[0]}? See docs/settings.md."
        )
    try:
        return name, Path(given).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{variable}: cannot read {given!r}: {error}.") from None


def _convert(name: str, text: str, kind: type) -> object:
    try:
        return kind(text)
    except ValueError:
        unit = " of seconds" if name.endswith("_S") else ""
        raise BadSetting(f"{name}={text!r} must be a whole number{unit}.") from None


def _one_of(name: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise BadSetting(f"{PREFIX}{name}={value!r} must be one of {', '.join(accepted)}.")


def _is_mail_server(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    known = parts.scheme in ("smtp", "smtps") and bool(parts.hostname) and port != 0
    return known and not parts.path.strip("/") and not parts.query and not parts.fragment


def _check_address(name: str, value: str) -> None:
    if not value:
        return
    if not _is_web_address(value):
        raise BadSetting(
            f"{PREFIX}{name.upper()}={value!r} is not an http:// or https:// URL "
            "(if it has a port, the port must be a number from 1 to 65535)."
        )


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        # urlsplit checks the port only when it is read.
        is_sound = parts.port != 0 and _VISIBLE.fullmatch(text) is not None
    except ValueError:
        return False
    return is_sound and parts.scheme in ("http", "https") and bool(parts.hostname)


def _check_origin(name: str, value: str) -> None:
    if value and not (_is_web_address(value) and _ORIGIN.fullmatch(value)):
        raise BadSetting(
            f"{PREFIX}{name.upper()}: {value!r} is not an origin such as https://app.example.com."
        )


def _check_key(name: str, value: str) -> None:
    # The key is sent in a header. It is a secret, so the error message does not repeat it.
    if not _VISIBLE.fullmatch(value):
        raise BadSetting(
            f"{PREFIX}{name.upper()} contains characters that a key cannot contain; copy it again."
        )


def _check_contact(name: str, value: str) -> None:
    # security.txt has one field per line, so a contact must not contain a line break.
    if value and not _CONTACT.fullmatch(value):
        raise BadSetting(
            f"{PREFIX}{name.upper()}={value!r} must be an email address or an https:// URL."
        )
