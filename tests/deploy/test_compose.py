"""compose.yaml: one container by default, and a profile with PostgreSQL and several nodes."""

import re
from typing import Any

import pytest
import yaml
from opentelemetry.sdk.environment_variables import OTEL_EXPORTER_OTLP_HEADERS

from bowerbird.cli import program
from tests.deploy.named_settings import DEPLOY, KNOWN, SECRET, checked, settings_in

TEXT = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
EXAMPLE = (DEPLOY / "example.env").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: each for name, each in SERVICES.items() if "build" in each}


def environment(service: dict[str, Any]) -> dict[str, str]:
    """The environment of a container, with the values of a filled example.env."""
    filled = {"POSTGRES_PASSWORD": "p" * 64, "BOWERBIRD_SOURCES_KEY": "k" * 64, "S3_SECRET": "s"}

    def value(match: "re.Match[str]") -> str:
        return filled.get(match[1], match[2])

    texts = {name: str(text) for name, text in service.get("environment", {}).items()}
    return {name: re.sub(r"\$\{(\w+):-([^}]*)\}", value, text) for name, text in texts.items()}


def test_only_one_container_runs_by_default() -> None:
    default = [name for name, each in SERVICES.items() if "profiles" not in each]

    assert default == ["bowerbird"]
    assert SERVICES["bowerbird"]["volumes"] == ["library:/data"]
    assert checked(environment(SERVICES["bowerbird"])).is_sqlite


def test_the_profile_has_a_database_two_servers_a_worker_and_a_store() -> None:
    profile = {name for name, each in SERVICES.items() if each.get("profiles") == ["postgres"]}

    assert profile == SERVICES.keys() - {"bowerbird"}
    assert {"postgres", "s3", "migrate", "server-1", "server-2", "worker"} < profile


@pytest.mark.parametrize("name", SERVICES)
def test_every_container_is_restricted(name: str) -> None:
    service = SERVICES[name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "/tmp" in service["tmpfs"]  # noqa: S108 - a folder in the container
    assert "privileged" not in service
    assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "balancer" else [])
    assert name in OURS or service["user"].split(":")[0] != "0"


@pytest.mark.parametrize("name", sorted(SERVICES.keys() - OURS.keys()))
def test_foreign_images_have_a_version(name: str) -> None:
    assert re.fullmatch(r"[\w/]+:\d+\.\d+(\.\d+)?(-\w+)?", SERVICES[name]["image"])


@pytest.mark.parametrize("name", OURS)
def test_the_settings_of_our_containers_are_accepted(name: str) -> None:
    settings = checked(environment(OURS[name]))

    assert settings.is_sqlite == (name == "bowerbird")
    assert settings.admin_host in (name, "127.0.0.1")


@pytest.mark.parametrize("name", OURS)
def test_the_commands_exist(name: str) -> None:
    words = OURS[name].get("command", ["serve"])
    command = program.load_all()[words[0]]
    options = {option for each in command.params for option in each.opts}

    assert set(words[1:]) <= options


def test_all_nodes_share_database_files_and_key() -> None:
    nodes = [environment(SERVICES[name]) for name in ("server-1", "server-2", "worker")]
    shared = [{k: v for k, v in each.items() if k != "BOWERBIRD_ADMIN_HOST"} for each in nodes]

    assert shared[0] == shared[1] == shared[2]
    assert "BOWERBIRD_SOURCES_KEY" in shared[0]
    assert shared[0]["BOWERBIRD_DATABASE_URL"].endswith("@postgres/bowerbird")


def test_servers_start_after_the_migration_and_it_after_the_database() -> None:
    for name in ("server-1", "server-2", "worker"):
        migrated = SERVICES[name]["depends_on"]["migrate"]["condition"]
        assert migrated == "service_completed_successfully"
    assert SERVICES["migrate"]["depends_on"]["postgres"]["condition"] == "service_healthy"
    assert SERVICES["migrate"]["restart"] == "no"


def test_only_this_machine_reaches_the_published_ports() -> None:
    published = [port for each in SERVICES.values() for port in each.get("ports", ())]

    assert published == ["127.0.0.1:8080:8080"] * 2


def test_no_secret_is_in_the_file() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if name in SECRET or re.search("PASSWORD|SECRET|KEY", name):
                assert re.search(r"\$\{\w+:-\w*\}", str(value)), name
    assert (
        re.findall(r"^(\w*(?:PASSWORD|SECRET|SOURCES_KEY|HEADERS)\w*)=(.+)$", EXAMPLE, re.MULTILINE)
        == []
    )


def test_every_variable_is_in_the_example_and_every_setting_exists() -> None:
    used = set(re.findall(r"\$\{(\w+)", TEXT))
    shown = set(re.findall(r"^(\w+)=", EXAMPLE, re.MULTILINE))

    assert used == shown
    assert settings_in(TEXT) | settings_in(EXAMPLE) <= KNOWN


def test_the_token_of_the_collector_reaches_every_node() -> None:
    for name in ("bowerbird", "server-1", "server-2", "worker"):
        given = SERVICES[name]["environment"][OTEL_EXPORTER_OTLP_HEADERS]
        assert given == f"${{{OTEL_EXPORTER_OTLP_HEADERS}:-}}"


def test_every_volume_and_mounted_file_exists() -> None:
    mounted = [volume for each in SERVICES.values() for volume in each.get("volumes", ())]
    named = {volume.split(":")[0] for volume in mounted if not volume.startswith(".")}
    files = [volume.split(":")[0] for volume in mounted if volume.startswith(".")]

    assert named == COMPOSE["volumes"].keys()
    assert [file for file in files if not (DEPLOY / file).is_file()] == []
