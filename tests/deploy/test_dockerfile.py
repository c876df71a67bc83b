"""The image is small in rights: pinned, not root, and built by the targets of the Makefile."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.deploy.named_settings import DEPLOY, checked
from tests.support import serving

ROOT = DEPLOY.parent
LAYERS = ("RUN", "COPY", "ADD")


class Step(NamedTuple):
    word: str
    text: str


def steps() -> list[Step]:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", lines)
    return [Step(*line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def stages() -> list[list[Step]]:
    found: list[list[Step]] = []
    for step in steps():
        if step.word == "FROM":
            found.append([])
        found[-1].append(step)
    return found


def of(word: str) -> list[str]:
    return [step.text for step in steps() if step.word == word]


def test_every_base_image_has_a_full_version_and_no_architecture() -> None:
    images = [text.split()[0] for text in of("FROM")]

    assert len(images) == 2
    assert [
        each for each in images if not re.fullmatch(r"[a-z/]+:\d+\.\d+\.\d+-[\w-]+", each)
    ] == []
    assert len(set(images)) == 1, "the environment of the first stage needs its Python"
    assert not re.search(r"amd64|arm64|aarch64|x86|--platform", str(steps()))


def test_the_python_of_the_image_is_new_enough() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    least = about["project"]["requires-python"].removeprefix(">=")
    version = of("FROM")[0].split(":")[1].split("-")[0]

    assert [int(part) for part in version.split(".")] >= [int(part) for part in least.split(".")]


def test_the_image_runs_as_a_user_with_a_number_that_is_not_root() -> None:
    last = stages()[-1]
    users = [index for index, step in enumerate(last) if step.word == "USER"]

    assert [last[index].text for index in users] == ["10001:10001"]
    assert not [step for step in last[users[0] :] if step.word in LAYERS]


def test_nothing_is_added_from_an_address_and_packages_leave_no_lists() -> None:
    installs = [text for text in of("RUN") if "apt-get install" in text]

    assert of("ADD") == []
    assert not re.search(r"https?://|curl|wget|sudo|index-url", str(steps()))
    assert installs
    for text in installs:
        assert "--no-install-recommends" in text
        assert text.startswith("apt-get update")
        assert "rm -rf /var/lib/apt/lists/*" in text


def test_what_the_installation_needs_is_copied_before_it() -> None:
    first = stages()[0]
    copied = str(first[: first.index(Step("RUN", "make packages"))])
    rule = re.search(r"^\$\(STAMP\): (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)

    assert rule is not None
    for needed in rule[1].split():
        assert needed.split("/")[0] in copied


def test_what_is_copied_exists_and_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = {line[1:] for line in ignored if line.startswith("!")}

    assert "*" in ignored
    for text in of("COPY"):
        *sources, _ = text.split()
        if sources[0].startswith("--from"):
            continue
        for source in sources:
            assert (ROOT / source).exists(), source
            assert {source, *map(str, Path(source).parents)} & kept, source


def test_the_settings_of_the_image_work_without_others() -> None:
    pairs = dict(re.findall(r"(\w+)=(\S+)", of("ENV")[0]))
    settings = checked(pairs)

    assert str(settings.data_dir) == of("VOLUME")[0] == "/data"
    assert str(settings.port) == of("EXPOSE")[0]
    assert settings.host == "0.0.0.0"  # noqa: S104 - inside a container
    assert of("ENTRYPOINT") == ['["bowerbird"]']


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[serving.Server]:
    with serving.started(tmp_path_factory.mktemp("container")) as started:
        started.wait_until_it_answers()
        yield started


def health(server: serving.Server, *arguments: str) -> "subprocess.CompletedProcess[str]":
    # As in the image: a program that the environment's proxies must not disturb.
    environment = {**server.environment, "http_proxy": "http://127.0.0.1:1"}
    command = [sys.executable, str(DEPLOY / "healthcheck.py"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_health_check_succeeds_while_the_service_is_ready(server: serving.Server) -> None:
    assert "/opt/bowerbird/deploy/healthcheck.py" in of("HEALTHCHECK")[0]
    assert health(server).returncode == 0
    assert health(server, f"http://127.0.0.1:{server.admin_port}/metrics").returncode == 0


def test_the_health_check_fails_with_the_reason_if_nothing_answers(server: serving.Server) -> None:
    ran = health(server, f"http://127.0.0.1:{serving.free_port()}/readyz")

    assert ran.returncode == 1
    assert "refused" in ran.stderr
    assert health(server, f"http://127.0.0.1:{server.admin_port}/readyz").returncode == 1


def test_kubernetes_can_check_health_by_the_address_of_a_pod(server: serving.Server) -> None:
    for path in ("/healthz", "/livez", "/readyz"):
        response = serving.http.get(
            f"http://127.0.0.1:{server.port}{path}", headers={"Host": "10.2.3.4:8080"}
        )
        assert response.status_code == 200, path
