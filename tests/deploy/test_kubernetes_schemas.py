"""What the Helm chart renders is valid for the oldest and the newest Kubernetes that is known.

The JSON schemas of each release come from the package kubernetes-validate. They are strict: a
field that Kubernetes does not know is an error.
"""

import copy
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.deploy.test_chart import CASES, CHART, objects

OLDEST = "1.25"
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


def test_the_oldest_release_is_the_one_that_the_chart_names() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))

    assert chart["kubeVersion"] == f">={OLDEST}.0-0"


@pytest.mark.parametrize(("name", "value"), [("replicaz", 1), ("replicas", "two")])
def test_a_wrong_field_is_found(name: str, value: object) -> None:
    wrong = copy.deepcopy(objects("default")["Deployment", "shelf-worker"])
    wrong["spec"][name] = value

    [problem] = problems(wrong, NEWEST)

    assert name in problem or "integer" in problem
