"""Every setting of the service, read once at start.

docs/settings.md is generated from this table; `make check` fails when they differ.
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
_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_{|}~-]+"
_MAILBOX: Final = rf"{_ATOM}(?:\.{_ATOM})*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*"
_SENDER: Final = re.compile(rf'(?:[^<>@"\\,;:()\[\]\x00-\x1f\x7f]*<{_MAILBOX}>|{_MAILBOX})')
_VISIBLE: Final = re.compile(r"[\x21-\x7e]*")
_ORIGIN: Final = re.compile(r"[a-z]+://[^/?#@\s]+/?")
_CONTACT: Final = re.compile(rf"{_MAILBOX}|https://[^\s<>\"]+")


class BadSetting(Exception):  # noqa: N818 - named for what it is
    """A setting cannot be used. Names the variable, the value and the way out."""


def setting(default: Any, help: str, *, secret: bool = False) -> Any:
    return field(default=default, metadata={"help": help, "secret": secret})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    data_dir: Path = setting(Path("data"), "Folder of the library's database and files.")
    database_url: str = setting(
        "",
        "`postgresql://…` to keep the library in PostgreSQL; empty keeps it in one SQLite file "
        "in the data folder.",
        secret=True,
    )
    host: str = setting("127.0.0.1", "Address the service listens on.")
    port: int = setting(8080, "Port the service listens on.")
    admin_host: str = setting("127.0.0.1", "Address of the admin port.")
    admin_port: int = setting(
        8081,
        "Port that serves `/metrics`, and the ports above it for further workers; 0 turns it off.",
    )
    workers: int = setting(1, "Server processes. One is right for SQLite.")
    base_url: str = setting(
        "",
        "Public origin of the API, without `/v1`; links are made from it. Empty means "
        "`http://localhost:` and the port.",
    )
    site_url: str = setting("", "Public origin of the web site; empty means the base URL.")
    mcp_url: str = setting("", "Public address of the tool server; empty means base URL + `/mcp`.")
    tool_origins: str = setting(
        "",
        "Further web origins whose pages may call the tool server, parted by commas, such as "
        "`https://app.example.com`. Programs that are no web pages need none.",
    )
    operator_contact: str = setting(
        "",
        "Who runs this service: an e-mail address or an `https://` page, shown to people who want "
        "an account, a key or a plan.",
    )
    security_contact: str = setting(
        "",
        "Where weaknesses are reported: an e-mail address or an `https://` page, served as "
        "`/.well-known/security.txt`. Empty means the operator's contact.",
    )
    sandbox: str = setting(
        "on", "`off` takes `/v1/sandbox` away, where anybody may try the API on fixtures."
    )
    signup_plan: str = setting("free", "Plan of accounts that sign up: `free` or `pro`.")
    free_calls_per_month: int = setting(
        100, "API calls a free account has in a calendar month (UTC)."
    )
    answer_cache_mb: int = setting(
        64, "Memory for ready answers, in megabytes; 0 turns the cache off."
    )
    files_url: str = setting(
        "",
        "Where files such as exports are kept: `s3://bucket/prefix`, or `file:///a/path` that all "
        "nodes share; empty means the folder `files` in the data folder.",
    )
    files_s3_endpoint: str = setting(
        "", "Address of an S3 server other than Amazon's, such as `https://s3.example.com`."
    )
    files_s3_region: str = setting("us-east-1", "Region of the S3 bucket.")
    files_s3_key_id: str = setting(
        "", "Id of the S3 access key; empty takes what the machine itself offers."
    )
    files_s3_secret: str = setting("", "The S3 access key's secret.", secret=True)
    smtp_url: str = setting(
        "",
        "Mail server: `smtp://user:password@host:587` (STARTTLS where it is offered; with a "
        "password always) or `smtps://…:465`; empty sends no mail.",
        secret=True,
    )
    mail_from: str = setting(
        "", "Sender of mail, `bowerbird@example.com` or `Bowerbird <bowerbird@example.com>`."
    )
    model_dir: str = setting(
        "",
        "Folder of the model for search by meaning; empty means where `make install` builds it.",
    )
    vector_cache_mb: int = setting(
        256, "Memory for the vectors of accounts that search by meaning, in megabytes."
    )
    embedding_url: str = setting(
        "",
        "Address of a service that speaks OpenAI's embedding protocol, such as "
        "`http://localhost:11434/v1`, to embed with instead of the built-in model.",
    )
    embedding_key: str = setting("", "Key that the embedding service asks for.", secret=True)
    embedding_model: str = setting(
        "text-embedding-3-small",
        "Model that the embedding service is asked for; another one embeds every library anew.",
    )
    intro_url: str = setting(
        "",
        "Base address of an OpenAI-compatible service that writes a digest's introduction, such "
        "as `https://api.example.com/v1`; it gets the posts' authors, titles and texts. Empty "
        "means none.",
    )
    intro_key: str = setting("", "Key of that service.", secret=True)
    intro_model: str = setting("", "Name of the model that writes introductions.")
    postgres_connections: int = setting(10, "Connections a server process keeps to PostgreSQL.")
    log_level: str = setting("info", "Least serious line that is logged: `debug` to `error`.")
    stop_timeout_s: int = setting(30, "Seconds that requests under way have to finish at a stop.")

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
        """Refuses values of the right type that cannot work."""
        _one_of("SIGNUP_PLAN", self.signup_plan, ("free", "pro"))
        _one_of("SANDBOX", self.sandbox, ("on", "off"))
        _one_of("LOG_LEVEL", self.log_level, ("debug", "info", "warning", "error"))
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value < least:
                raise BadSetting(f"{PREFIX}{name.upper()}={value} is too small: at least {least}.")
        self._check_ports()
        self._check_addresses()
        if self.intro_url and not self.intro_model:
            raise BadSetting(f"{PREFIX}INTRO_MODEL is empty: say which model writes introductions.")
        for name in ("operator_contact", "security_contact"):
            _check_contact(name, getattr(self, name))
        if self.database_url and not self.database_url.startswith(("postgresql://", "postgres://")):
            raise BadSetting(
                f"{PREFIX}DATABASE_URL must begin with postgresql:// (leave it empty for SQLite)."
            )
        self._check_files()
        self._check_mail()

    def _check_ports(self) -> None:
        last_admin_port = self.admin_port + self.workers - 1 if self.admin_port else 0
        for name, last in (("port", self.port), ("admin_port", last_admin_port)):
            if last > _LAST_PORT:
                value = getattr(self, name)
                raise BadSetting(
                    f"{PREFIX}{name.upper()}={value} is too large: ports end at {_LAST_PORT}."
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
                f"{PREFIX}FILES_URL={self.files_url!r} is neither s3://bucket/prefix nor "
                "file:///a/path (leave it empty for the data folder)."
            )
        _check_address("files_s3_endpoint", self.files_s3_endpoint)
        if bool(self.files_s3_key_id) != bool(self.files_s3_secret):
            missing = "SECRET" if self.files_s3_key_id else "KEY_ID"
            raise BadSetting(f"{PREFIX}FILES_S3_{missing} is empty: a key needs both of its parts.")

    def _check_mail(self) -> None:
        # The address may hold a password, so no sentence repeats it.
        if self.smtp_url and not _is_mail_server(self.smtp_url):
            raise BadSetting(
                f"{PREFIX}SMTP_URL must be smtp://host:587 or smtps://host:465, with "
                "user:password@ before the host where the server asks for them."
            )
        if self.mail_from and not _SENDER.fullmatch(self.mail_from):
            raise BadSetting(
                f"{PREFIX}MAIL_FROM={self.mail_from!r} is not an address like "
                "bowerbird@example.com or Bowerbird <bowerbird@example.com>."
            )
        if self.smtp_url and not self.mail_from:
            raise BadSetting(f"{PREFIX}MAIL_FROM is empty: mail needs a sender's address.")

    @property
    def is_sqlite(self) -> bool:
        return not self.database_url

    @property
    def api_origin(self) -> str:
        # "localhost" rather than an IP address: passkeys work on no IP address.
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
    "workers": 1,
    "free_calls_per_month": 0,
    "answer_cache_mb": 0,
    "vector_cache_mb": 0,
    "postgres_connections": 1,
    "stop_timeout_s": 0,
}


def _resolve(variable: str, given: str, known: Mapping[str, Any]) -> tuple[str, str]:
    """The setting a variable names, and its text; NAME_FILE holds the path of a secret's text."""
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
        raise BadSetting(f"{name}={text!r} is not a whole number.") from None


def _one_of(name: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise BadSetting(f"{PREFIX}{name}={value!r} is not one of {', '.join(accepted)}.")


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
            f"{PREFIX}{name.upper()}={value!r} is not an http:// or https:// address "
            "(a port behind the host must be a number)."
        )


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        # Asked for, because only then it is looked at.
        is_sound = parts.port != 0 and _VISIBLE.fullmatch(text) is not None
    except ValueError:
        return False
    return is_sound and parts.scheme in ("http", "https") and bool(parts.hostname)


def _check_origin(name: str, value: str) -> None:
    if value and not (_is_web_address(value) and _ORIGIN.fullmatch(value)):
        raise BadSetting(
            f"{PREFIX}{name.upper()}: {value!r} is not an origin like https://app.example.com."
        )


def _check_key(name: str, value: str) -> None:
    # It goes into a header. It is a secret, so the sentence does not repeat it.
    if not _VISIBLE.fullmatch(value):
        raise BadSetting(
            f"{PREFIX}{name.upper()} holds characters that no key has; copy the key anew."
        )


def _check_contact(name: str, value: str) -> None:
    # It is written into a document of lines, so it may not hold a line's end.
    if value and not _CONTACT.fullmatch(value):
        raise BadSetting(
            f"{PREFIX}{name.upper()}={value!r} is neither an e-mail address nor an https:// page."
        )
