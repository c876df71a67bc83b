"""The chart of Kubernetes, and the page about deployment."""

import copy
import json
import re
from typing import Any

import jsonschema_rs
import kubernetes_validate
import pytest
import yaml
from opentelemetry.sdk.environment_variables import OTEL_EXPORTER_OTLP_HEADERS

from bowerbird import __version__
from bowerbird.cli import program
from bowerbird.web.visits import router
from tests.deploy.named_settings import DEPLOY, KNOWN, SECRET, STANDARD, checked
from tests.support.programs.helm_templates import render

CHART = DEPLOY / "helm" / "bowerbird"

SCHEMA = jsonschema_rs.validator_for(json.loads((CHART / "values.schema.json").read_text("utf-8")))

VALUES_TEXT = (CHART / "values.yaml").read_text(encoding="utf-8")


def values(**changes: Any) -> dict[str, Any]:
    """The default values with the one that everybody has to set, and changes by their path."""
    found: dict[str, Any] = yaml.safe_load(VALUES_TEXT)
    found["baseUrl"] = "https://posts.example.org"
    for path, value in changes.items():
        *parents, last = path.split("__")
        inner = found
        for name in parents:
            inner = inner[name]
        inner[last] = value
    return found


EVERYTHING = values(
    ingress__enabled=True,
    ingress__host="posts.example.org",
    ingress__tlsSecret="posts-tls",
    networkPolicy__enabled=True,
    worker__autoscaling__enabled=True,
    files__endpoint="https://s3.example.org",
    files__keyId="shelf",
    settings={
        "BOWERBIRD_SIGN_UP": "invite",
        "BOWERBIRD_STOP_TIMEOUT_S": 20,
        "BOWERBIRD_TRACES": "on",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector.monitoring:4318",
    },
    tracesSecret="collector",
    image__pullSecrets=["registry"],
    server__nodeSelector={"disk": "fast"},
)

CASES = {"default": values(), "everything": EVERYTHING, "few": values(metrics__enabled=False)}


def objects(case: str) -> dict[tuple[str, str], dict[str, Any]]:
    rendered = render(CHART, copy.deepcopy(CASES[case]))
    found = {(each["kind"], each["metadata"]["name"]): each for each in rendered}
    assert len(found) == len(rendered)
    return found


def pods(case: str) -> dict[str, dict[str, Any]]:
    found = objects(case).values()
    return {
        each["metadata"]["name"]: each["spec"]["template"]
        for each in found
        if each["kind"] in ("Deployment", "Job")
    }


def environment(container: dict[str, Any]) -> dict[str, str]:
    # A URL is also a secret that is long enough.
    secret = "postgresql://bowerbird@database.example.org/bowerbird"
    return {each["name"]: each.get("value", secret) for each in container["env"]}


@pytest.mark.parametrize("case", CASES)
def test_the_values_fit_the_schema(case: str) -> None:
    SCHEMA.validate(CASES[case])


@pytest.mark.parametrize(
    "wrong",
    [
        {"baseUrl": ""},
        {"server__replica": 3},
        {"settings": {"SIGN_UP": "open"}},
        {"service__port": 70_000},
        {"worker__scratchSize": "large"},
    ],
)
def test_wrong_values_do_not_fit_the_schema(wrong: dict[str, Any]) -> None:
    assert not SCHEMA.is_valid(values(**wrong))


def test_every_value_is_described_and_used() -> None:
    described = json.loads((CHART / "values.schema.json").read_text("utf-8"))["properties"]
    templates = "".join(file.read_text("utf-8") for file in (CHART / "templates").iterdir())

    assert described.keys() - {"global"} == values().keys()
    for name, value in values().items():
        for path in [f"{name}.{inner}" for inner in value] if isinstance(value, dict) else [name]:
            assert f".Values.{path}" in templates or f".Values.{name} " in templates, path


def test_the_chart_has_the_version_of_the_service() -> None:
    about = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))

    assert about["appVersion"] == __version__


def test_the_default_has_servers_a_worker_and_a_migration() -> None:
    assert objects("default").keys() == {
        ("Deployment", "shelf-server"),
        ("Deployment", "shelf-worker"),
        ("Job", "shelf-migrate"),
        ("Service", "shelf"),
        ("HorizontalPodAutoscaler", "shelf-server"),
        ("PodDisruptionBudget", "shelf-server"),
        ("PodDisruptionBudget", "shelf-worker"),
    }
    more = objects("everything").keys() - objects("default").keys()
    assert {kind for kind, _ in more} == {"Ingress", "NetworkPolicy", "HorizontalPodAutoscaler"}


@pytest.mark.parametrize("case", CASES)
def test_every_pod_is_restricted(case: str) -> None:
    for pod in pods(case).values():
        spec = pod["spec"]
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] == 10001
        [container] = spec["containers"]
        assert container["securityContext"] == {
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
        mounted = {each["mountPath"] for each in container["volumeMounts"]}
        assert mounted == {"/data", "/tmp"}  # noqa: S108 - folders in the container
        assert {each["name"] for each in container["volumeMounts"]} == {
            each["name"] for each in spec["volumes"]
        }


@pytest.mark.parametrize("case", CASES)
def test_every_container_has_a_command_and_settings_that_exist(case: str) -> None:
    for pod in pods(case).values():
        [container] = pod["spec"]["containers"]
        name, *options = container["args"]
        known = {option for each in program.load_all()[name].params for option in each.opts}
        assert set(options) <= known
        given = environment(container)
        assert given.keys() <= KNOWN | STANDARD
        assert not checked(given).is_sqlite
        secret = {each["name"] for each in container["env"] if "valueFrom" in each}
        assert secret == given.keys() & SECRET


def test_the_token_of_the_collector_comes_from_a_secret_of_its_own() -> None:
    for name in ("shelf-server", "shelf-worker"):
        [container] = pods("everything")[name]["spec"]["containers"]
        [token] = [each for each in container["env"] if each["name"] == OTEL_EXPORTER_OTLP_HEADERS]
        assert token["valueFrom"] == {"secretKeyRef": {"name": "collector", "key": "otlp-headers"}}
        [without] = pods("default")[name]["spec"]["containers"]
        assert OTEL_EXPORTER_OTLP_HEADERS not in environment(without)


def test_the_probes_ask_for_real_paths_on_real_ports() -> None:
    [server] = pods("default")["shelf-server"]["spec"]["containers"]
    probes = {name: server[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness")}
    ports = {each["name"]: each["containerPort"] for each in server["ports"]}

    assert server["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}
    assert [each["path"] for each in probes.values()] == ["/healthz", "/livez"]
    assert ports == {"http": 8080, "metrics": 8081}
    assert environment(server)["BOWERBIRD_ADMIN_PORT"] == "8081"


def test_the_migration_runs_before_an_installation_and_an_upgrade() -> None:
    job = objects("default")["Job", "shelf-migrate"]

    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert job["spec"]["template"]["spec"]["restartPolicy"] == "Never"


@pytest.mark.parametrize("case", CASES)
def test_every_selector_chooses_the_pods_of_one_kind(case: str) -> None:
    labels = {name: pod["metadata"]["labels"] for name, pod in pods(case).items()}
    found = objects(case)
    for (kind, name), each in found.items():
        selector = each["spec"].get("selector")
        if kind in ("Deployment", "PodDisruptionBudget", "Service"):
            wanted = selector.get("matchLabels", selector).items()
            chosen = [pod for pod, own in labels.items() if wanted <= own.items()]
            assert chosen == [name if name in labels else "shelf-server"]
        if kind == "HorizontalPodAutoscaler":
            assert ("Deployment", each["spec"]["scaleTargetRef"]["name"]) in found
            assert "replicas" not in found["Deployment", name]["spec"]


def test_stopping_may_take_as_long_as_the_service_needs() -> None:
    spec = pods("default")["shelf-server"]["spec"]
    [server] = spec["containers"]
    pause_s = int(server["lifecycle"]["preStop"]["exec"]["command"][1])

    assert spec["terminationGracePeriodSeconds"] > pause_s + checked({}).stop_timeout_s


def test_the_ingress_accepts_the_largest_upload() -> None:
    annotations = objects("everything")["Ingress", "shelf"]["metadata"]["annotations"]
    by_name = {name.partition("/")[2]: value for name, value in annotations.items()}

    assert by_name["proxy-body-size"] == str(router.MAX_BODY_BYTES)
    assert by_name["proxy-buffering"] == "off"


def test_the_image_is_the_version_of_the_chart_unless_another_is_named() -> None:
    images = {pod["spec"]["containers"][0]["image"] for pod in pods("default").values()}
    other = render(CHART, values(image__tag="1.2.3"))

    assert images == {f"bowerbird:{__version__}"}
    assert "bowerbird:1.2.3" in str(other)
    assert not re.search(r"bowerbird:latest", str(other))


ABOUT = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
OLDEST = ABOUT["kubeVersion"].removeprefix(">=").removesuffix(".0-0")

NEWEST = kubernetes_validate.latest_version()


def problems(found: dict[str, Any], release: str) -> list[str]:
    try:
        kubernetes_validate.validate(found, release, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [f"{found['kind']}: {error.message}"]
    return []


@pytest.mark.parametrize("release", [OLDEST, NEWEST])
@pytest.mark.parametrize("case", CASES)
def test_every_object_of_the_chart_is_valid(case: str, release: str) -> None:
    found = [problem for each in objects(case).values() for problem in problems(each, release)]

    assert found == []


TEXT = (DEPLOY / "README.md").read_text(encoding="utf-8")


def test_every_file_is_named() -> None:
    folders = {path.name for path in DEPLOY.iterdir()} - {"README.md", "healthcheck.py"}

    assert [name for name in folders if name not in TEXT and name != "__pycache__"] == []
