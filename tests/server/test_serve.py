"""`bowerbird serve` as a process: its output, responses, log and errors."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from bowerbird.settings import BadSetting, Settings
from tests.support import make, serving
from tests.support.serving import Server
from tests.support.waiting import wait_until

REQUEST_FIELDS = {
    "at",
    "level",
    "event",
    "id",
    "method",
    "route",
    "status",
    "ms",
    "bytes",
    "account",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("serve")) as running:
        yield running


@pytest.fixture(scope="module")
def key(server: Server) -> str:
    return server.new_key()


def test_a_start_deletes_what_a_killed_server_had_received(tmp_path: Path) -> None:
    leftover = tmp_path / "data" / "scratch" / "7-upload0123456789abcdef-abcdefgh"
    leftover.mkdir(parents=True)
    (leftover / "lock").touch()
    (leftover / "sent").write_text("[]")

    with serving.serving(tmp_path):
        assert not leftover.exists()


def test_prints_its_addresses_and_names_the_website_first(server: Server) -> None:
    output = server.output()

    assert output.startswith(f"Bowerbird is at http://localhost:{server.port}\n")
    assert f"http://localhost:{server.port}/v1" in output
    for name in ("Library", "API", "Sandbox", "Tools", "Keys"):
        assert f"\n  {name}" in output
    assert f"  Metrics  http://127.0.0.1:{server.admin_port}/metrics\n" in output


def test_a_created_or_revoked_key_takes_effect_with_the_next_request(
    server: Server, key: str
) -> None:
    assert server.get("/v1/bookmarks", key).status_code == 200

    row = server.run("key", "list", "you@example.com").splitlines()[-1]
    server.run("key", "revoke", "you@example.com", row.split("\t")[0])

    assert server.get("/v1/bookmarks", key).status_code == 401


def test_an_imported_post_is_listed_with_the_next_request(server: Server) -> None:
    key = server.new_key("reader@example.com")
    server.run("account", "plan", "reader@example.com", "pro")
    assert server.get("/v1/bookmarks", key).json()["meta"]["total_count"] == 0
    file = server.folder / "posts.json"
    file.write_text(json.dumps([make.post(text="found"), make.post()]), encoding="utf-8")

    server.run("import", "reader@example.com", str(file))

    assert server.get("/v1/bookmarks", key).json()["meta"]["total_count"] == 2
    assert len(server.get("/v1/bookmarks", key, q="found").json()["data"]) == 1


def test_metrics_are_only_on_the_admin_port(server: Server) -> None:
    server.get("/v1/bookmarks")

    metrics = serving.http.get(f"http://127.0.0.1:{server.admin_port}/metrics").text

    assert 'bowerbird_requests_total{method="GET",route=' in metrics
    assert server.get("/metrics").status_code == 404


def test_a_request_is_logged_as_one_line_of_json_without_secrets(server: Server) -> None:
    key = server.new_key("logged@example.com")
    paths = ["/v1/bookmarks?q=private-words&cursor=private-cursor", "/v1/bookmarks/123456789"]
    for number, path in enumerate(paths):
        headers = {"Authorization": f"Bearer {key}", "X-Request-Id": f"logged-{number}"}
        serving.http.get(f"http://127.0.0.1:{server.port}{path}", headers=headers)

    wait_until(lambda: "logged-1" in server.errors())
    lines = [line for line in server.log() if line.get("id", "").startswith("logged-")]
    assert [line["route"] for line in lines] == ["/v1/bookmarks", "/v1/bookmarks/{post_id}"]
    assert all(line.keys() == REQUEST_FIELDS for line in lines)
    for secret in (key, "private", "123456789"):
        assert secret not in server.errors()


def test_a_port_in_use_is_reported_in_one_sentence(server: Server, tmp_path: Path) -> None:
    environment = server.environment | {"BOWERBIRD_DATA_DIR": str(tmp_path)}

    for arguments in ((), ("--workers", "2")):
        ran = serving.bowerbird("serve", *arguments, environment=environment)

        assert ran.returncode == 1
        assert ran.stderr == (
            f"Error: Cannot listen on 127.0.0.1:{server.port}: Address already in use. "
            "Choose another one with --host and --port, or with BOWERBIRD_HOST and "
            "BOWERBIRD_PORT.\n"
        )
        # It claims no addresses that it does not have, and creates no library.
        assert ran.stdout == ""
        assert list(tmp_path.iterdir()) == []


def test_an_admin_port_in_use_is_reported_in_one_sentence(server: Server, tmp_path: Path) -> None:
    environment = server.environment | {
        "BOWERBIRD_DATA_DIR": str(tmp_path),
        "BOWERBIRD_PORT": str(serving.free_port()),
    }

    ran = serving.bowerbird("serve", environment=environment)

    assert ran.returncode == 1
    assert ran.stderr.startswith(f"Error: Cannot listen on the admin port {server.admin_port}")
    assert ran.stderr.count("\n") == 1
    assert ran.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_an_address_of_another_machine_is_reported_in_one_sentence(tmp_path: Path) -> None:
    environment = serving.environment_of(data_dir=tmp_path, host="192.0.2.1")

    ran = serving.bowerbird("serve", environment=environment)

    assert ran.returncode == 1
    assert ran.stderr.startswith("Error: Cannot listen on 192.0.2.1:8080: ")
    assert ran.stderr.count("\n") == 1


def test_listens_on_a_host_name_and_has_no_admin_port_unless_it_is_set(tmp_path: Path) -> None:
    port = serving.free_port()
    arguments = ("--host", "localhost", "--port", str(port))
    with serving.serving(tmp_path, *arguments, port=port, admin_port=0) as running:
        assert running.output().startswith(f"Bowerbird is at http://localhost:{port}\n")
        assert "Metrics" not in running.output()
        assert running.get("/readyz").status_code == 200
    assert Settings().admin_port == 0


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"PORT": "70000"}, "BOWERBIRD_PORT=70000 is too large; the maximum is 65535."),
        ({"ADMIN_PORT": "65536"}, "BOWERBIRD_ADMIN_PORT=65536 is too large; the maximum is 65535."),
        ({"PORT": "9000", "ADMIN_PORT": "9000"}, "BOWERBIRD_ADMIN_PORT uses port 9000, which"),
        (
            {"PORT": "9001", "ADMIN_PORT": "9000", "WORKERS": "2"},
            "BOWERBIRD_ADMIN_PORT uses port 9001, which another setting uses too. Choose another",
        ),
        ({"HEADER_TIMEOUT_S": "1" + "0" * 30}, "is too large; the maximum is 86400 seconds."),
    ],
)
def test_settings_that_no_server_can_have_are_refused(
    values: dict[str, str], sentence: str
) -> None:
    with pytest.raises(BadSetting) as refused:
        Settings.from_env({f"BOWERBIRD_{name}": value for name, value in values.items()})

    assert sentence in str(refused.value)


def test_a_misspelt_setting_is_reported_with_the_most_similar_name() -> None:
    environment = serving.environment_of(databse_url="x")

    ran = serving.bowerbird("serve", environment=environment)

    assert ran.returncode == 1
    assert "BOWERBIRD_DATABSE_URL is not a setting" in ran.stderr
    assert "BOWERBIRD_DATABASE_URL" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_secret_is_read_from_the_file_in_its_file_variable(tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text(f"postgresql://postgres@/none?host={tmp_path}\n", encoding="utf-8")
    environment = serving.environment_of(database_url_file=secret)

    ran = serving.bowerbird("account", "list", environment=environment)

    assert ran.returncode == 1
    assert ran.stderr.startswith("Error: PostgreSQL cannot be reached")


def test_a_restore_is_refused_while_the_server_runs(server: Server, tmp_path: Path) -> None:
    archive = tmp_path / "copy"
    server.run("backup", str(archive))

    ran = serving.bowerbird("restore", str(archive), environment=server.environment)

    assert ran.returncode == 1
    assert server.get("/readyz").status_code == 200


def test_an_incomplete_request_does_not_claim_its_idempotency_key(server: Server) -> None:
    key = server.new_key("cut-off@example.com")
    body = b'{"tweet_ids": ["1"], "label_name": "x"}'
    head = (
        "POST /v1/labels/add HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: once\r\n"
        f"Authorization: Bearer {key}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(head.encode() + body[:20])
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(head.encode() + body)
        response = connection.recv(65536).decode()

    # The library has no such post. A claimed key would give 422 instead.
    assert response.startswith("HTTP/1.1 404")
