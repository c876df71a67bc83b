"""The table of settings: name, type, default and description of each.

`make generate` writes docs/settings.md from this table; `make check` fails when the two differ.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def setting(default: Any, help: str, *, secret: bool = False) -> Any:
    return field(default=default, metadata={"help": help, "secret": secret})


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    data_dir: Path = setting(Path("data"), "Folder for the database and the files.")
    database_url: str = setting(
        "",
        "`postgresql://…` stores the library in PostgreSQL. If empty, the library is one SQLite "
        "file in the data folder.",
        secret=True,
    )
    database_read_url: str = setting(
        "",
        "`postgresql://…` of a replica of that database. Lists, counts and searches are then read "
        "from it, unless it lacks changes of the account that the primary has.",
        secret=True,
    )
    host: str = setting("127.0.0.1", "Address the service listens on.")
    port: int = setting(8080, "Port the service listens on.")
    admin_host: str = setting("127.0.0.1", "Address or name the admin port listens on.")
    admin_port: int = setting(
        0,
        "Port that serves `/metrics`, such as 8081; server process *n*, counted from 0, uses this "
        "port plus *n*. 0 means that there is no admin port.",
    )
    max_connections: int = setting(
        4096,
        "Connections that one server process keeps open. When more arrive, those whose client has "
        "been silent longest are closed.",
    )
    header_timeout_s: int = setting(
        10,
        "Seconds in which the headers of a request must arrive.",
    )
    body_timeout_s: int = setting(
        30,
        "Seconds in which the body of a request must arrive, plus one second for every 16 KiB "
        "received.",
    )
    response_timeout_s: int = setting(
        60,
        "Seconds in which a client must read a part of a response, plus one second for every "
        "16 KiB.",
    )
    idle_timeout_s: int = setting(
        75, "Seconds that a connection may stay open without a request after an earlier one."
    )
    workers: int = setting(
        1,
        "Number of server processes, which share the port. On SQLite they take turns to write, so "
        "more than one only helps if reads keep a core busy.",
    )
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
    tool_preload: str = setting(
        "on",
        "`off` loads the code of the MCP server with the first message that needs it. Until then "
        "the process needs 37 MB less.",
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
    demo: str = setting(
        "on",
        "`off` removes `/demo`, a library of invented posts for people without an account.",
    )
    sharing: str = setting(
        "on",
        "`off` forbids accounts to share labels and Smart Views, and to have private feeds. "
        "Addresses that exist answer 404. See [sharing.md](sharing.md).",
    )
    default_plan: str = setting(
        "pro",
        "Plan of a new account: `pro` or `free`. A hosted service that charges for `pro` sets "
        "`free`.",
    )
    sign_up: str = setting(
        "closed",
        "Who may create an account on the website: `closed` (only the command line creates "
        "accounts), `invite` (people with an invitation from the owner) or `open` (everybody).",
    )
    trusted_proxies: str = setting(
        "127.0.0.1, ::1",
        "Addresses or networks of reverse proxies, separated by commas, such as `10.0.0.0/8`. For "
        "a connection from one of them, the client's address is read from `X-Forwarded-For`.",
    )
    free_calls_per_month: int = setting(100, "API calls per calendar month (UTC) on the free plan.")
    answer_cache_mb: int = setting(
        64, "Size of the response cache in megabytes. 0 turns the cache off."
    )
    sqlite_mapped_mb: int = setting(
        2_047,
        "How much of a SQLite file short reads and writes map into memory, in megabytes. Mapped "
        "pages count as memory of the process until the system needs it. 0 maps nothing; a list "
        "then takes a quarter longer.",
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
    fetch_posts: str = setting(
        "on",
        "Workers read the text of posts that are saved as links, from the public addresses of the "
        "networks. `off` forbids it. See [importing.md](importing.md#links).",
    )
    keep_media: str = setting(
        "on",
        "Workers download the images of saved posts from the networks, for every account that has "
        "not turned this off. `off` forbids it for all. See [library.md](library.md).",
    )
    media_quota_mb: int = setting(
        1_000, "Size of the images that are kept for one account, in megabytes."
    )
    keep_video: str = setting(
        "off",
        "`on`: the videos and GIFs of posts that are saved from then on are kept as well, where "
        "images are. See [library.md](library.md).",
    )
    video_quota_mb: int = setting(
        2_000, "Size of the videos that are kept for one account, in megabytes."
    )
    image_text: str = setting(
        "off",
        "`on`: workers read the text in kept images, so that a search finds it. It needs the "
        "packages of `bowerbird[ocr]`. See [library.md](library.md#images).",
    )
    japanese_readings: str = setting(
        "off",
        "`on`: searches in kana find Japanese words in kanji, such as 図書館 with `としょかん`. "
        "It needs the packages of `bowerbird[japanese]`. See [search.md](search.md#japanese).",
    )
    media_hosts: str = setting(
        "",
        "Further hosts from which images may be downloaded, separated by commas, such as "
        "`files.example.social`. Those of X, Bluesky and Reddit are known.",
    )
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
    email_sign_in: str = setting(
        "on",
        "`on` or `off`: whether the sign-in page offers to send a link to the email address of an "
        "account. Needs an SMTP server.",
    )
    oidc_issuer: str = setting(
        "",
        "Issuer of an OpenID provider that people may sign in with, such as "
        "`https://id.example.com`. It must be exactly the issuer that the provider publishes. "
        "See [sign-in.md](sign-in.md).",
    )
    oidc_client_id: str = setting("", "Client ID that the OpenID provider gave this site.")
    oidc_client_secret: str = setting(
        "", "Client secret that the OpenID provider gave this site.", secret=True
    )
    oidc_name: str = setting("Single sign-on", "Name of the OpenID provider on its sign-in button.")
    google_client_id: str = setting(
        "", "Client ID from Google. If set, people may sign in with Google."
    )
    google_client_secret: str = setting("", "Client secret from Google.", secret=True)
    github_client_id: str = setting(
        "", "Client ID from GitHub. If set, people may sign in with GitHub."
    )
    github_client_secret: str = setting("", "Client secret from GitHub.", secret=True)
    github_url: str = setting(
        "https://github.com", "URL of GitHub. Change it for your own GitHub Enterprise Server."
    )
    x_client_id: str = setting("", "OAuth 2.0 client ID from X. If set, people may sign in with X.")
    x_client_secret: str = setting("", "OAuth 2.0 client secret from X.", secret=True)
    sources_key: str = setting(
        "",
        "Secret that encrypts the access tokens of connected sources and the secrets of webhooks, "
        "at least 32 characters. If empty, the service creates one in the file `sources.key` in "
        "the data folder. Set it if servers and workers do not share that folder. See "
        "[sources.md](sources.md).",
        secret=True,
    )
    sources_private_hosts: str = setting(
        "",
        "Hosts with private addresses that people may connect as sources, separated by commas, "
        "such as `mastodon.lan` or `localhost:3000`. All others must have public addresses.",
    )
    webhooks_private_hosts: str = setting(
        "",
        "Hosts with private addresses that people may use for webhooks, separated by commas, such "
        "as `n8n.lan` or `localhost:5678`. They may use `http://` too. All others must have public "
        "addresses and `https://`. See [webhooks.md](webhooks.md).",
    )
    x_api_url: str = setting(
        "https://api.x.com",
        "URL of X's API for connected sources. Change it only to send requests through a proxy.",
    )
    model_dir: str = setting(
        "",
        "Folder of the models for search by meaning. Defaults to `share/bowerbird/model` in the "
        "Python environment, where `bowerbird model` builds them.",
    )
    model_build: str = setting(
        "on",
        "`off`: the service does not download and build missing models for search by meaning when "
        "it starts. It never does so if `BOWERBIRD_MODEL_DIR` or `BOWERBIRD_EMBEDDING_URL` is set.",
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
        "as `https://api.example.com/v1`, and proposes new labels for a post if it is asked. It "
        "receives the authors, titles and texts of these posts, and names of labels. If empty, "
        "there are neither.",
    )
    intro_key: str = setting("", "API key of the service that writes introductions.", secret=True)
    intro_model: str = setting(
        "", "Model that writes introductions. Required with `BOWERBIRD_INTRO_URL`."
    )
    postgres_connections: int = setting(
        10,
        "Maximum number of PostgreSQL connections per process. A server process that runs jobs too "
        "opens up to as many again for them, unless it is started with `--no-worker`.",
    )
    postgres_named_statements: str = setting(
        "on",
        "`off` lets PostgreSQL prepare each statement again. A pooler in transaction mode that "
        "cannot follow named statements needs it, such as PgBouncer before 1.21. See "
        "[scaling.md](scaling.md#connection-pooling).",
    )
    log_level: str = setting("info", "Lowest level to log: `debug`, `info`, `warning` or `error`.")
    log_format: str = setting(
        "auto",
        "Form of the log: `json` (one object per line), `text` (lines for people) or `auto` "
        "(`text` on a terminal, otherwise `json`). `NO_COLOR=1` turns colours off.",
    )
    traces: str = setting(
        "off",
        "`on` sends OpenTelemetry traces of requests and jobs to the collector that "
        "`OTEL_EXPORTER_OTLP_ENDPOINT` names. Needs the extra `telemetry`. See "
        "[monitoring.md](monitoring.md#traces).",
    )
    stop_timeout_s: int = setting(
        30, "Seconds that open requests have to finish when the server stops."
    )

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

    def link_url(self, token: str) -> str:
        """The URL of a one-time link. Browsers do not send the part after `#`."""
        return f"{self.site_origin}/link#{token}"

    def invitation_url(self, token: str) -> str:
        """The URL of an invitation. It works like `link_url`, but its page says what it is."""
        return f"{self.site_origin}/link?invitation=yes#{token}"

    def provider_return_url(self, provider: str) -> str:
        """Where a sign-in provider sends the browser back to."""
        return f"{self.site_origin}/sign-in/{provider}/return"

    @property
    def upgrade_url(self) -> str:
        return f"{self.site_origin}/upgrade"
