"""Each file of deploy/ and the workflow against its tool's own schema, without a network."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest

from tests.deploy.manifests import COMPOSE, DOCKERFILE, KUBERNETES, ROOT, documents, pod_of

WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
KSERVE = "serving.kserve.io/v1beta1"
# What KServe's V1beta1PredictorSpec has beside a pod's own fields, as far as we use it.
OF_KSERVE = {"minReplicas": int, "maxReplicas": int, "timeout": int}

DOCUMENTS = [
    pytest.param(document, id=f"{file.stem}-{document['kind']}")
    for file in KUBERNETES
    for document in documents(file)
]


def schema_says(schema: str, file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, file]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def as_kubernetes_knows_it(document: dict[str, Any]) -> dict[str, Any]:
    """An InferenceService has no schema here, but its pod has: KServe's own fields are taken off."""
    if document["apiVersion"] != KSERVE:
        return document
    pod = {key: value for key, value in pod_of(document).items() if key not in OF_KSERVE}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": document["metadata"], "spec": pod}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_kubernetes_knows_each_field(document: dict[str, Any]) -> None:
    version = kubernetes_validate.latest_version()
    kubernetes_validate.validate(as_kubernetes_knows_it(document), version, strict=True)


def test_a_field_that_kubernetes_does_not_know_is_found() -> None:
    (document,) = (d for file in KUBERNETES for d in documents(file) if d["kind"] == "StatefulSet")
    document["spec"]["template"]["spec"]["shareProcesses"] = True
    with pytest.raises(kubernetes_validate.ValidationError, match="shareProcesses"):
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


def test_the_inference_service_has_kserves_own_fields_in_their_types() -> None:
    (document,) = (d for file in KUBERNETES for d in documents(file) if d["apiVersion"] == KSERVE)
    assert document.keys() == {"apiVersion", "kind", "metadata", "spec"}
    assert document["kind"] == "InferenceService"
    assert document["spec"].keys() == {"predictor"}
    for name, kind in OF_KSERVE.items():
        assert type(document["spec"]["predictor"][name]) is kind


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "file"), [("vendor.compose-spec", COMPOSE), ("vendor.github-workflows", WORKFLOW)]
)
def test_a_tools_own_schema_takes_the_file(schema: str, file: Path, tmp_path: Path) -> None:
    done = schema_says(schema, file)
    assert done.returncode == 0, done.stdout
    broken = tmp_path / file.name
    broken.write_text(file.read_text() + "\nsomething: [1]\n")
    assert "something" in schema_says(schema, broken).stdout


def test_the_dockerfile_has_none_of_the_known_mistakes() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run(
        [hadolint, "--no-color", DOCKERFILE], check=False, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_workflow_runs_the_script_that_ci_runs() -> None:
    (workflow,) = documents(WORKFLOW)
    assert ".ci/run" in [step.get("run") for step in workflow["jobs"]["check"]["steps"]]
    assert {job: workflow["jobs"][job].get("needs") for job in ("wheels", "sdist")} == {
        "wheels": "check",
        "sdist": "check",
    }


@pytest.mark.slow
def test_wheels_are_made_for_each_python_that_the_package_names() -> None:
    """cibuildwheel reads its part of pyproject.toml, and says what it would build."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"Python :: 3\.(\d+)", "\n".join(project["classifiers"]))
    for machine in ("x86_64", "aarch64"):
        done = subprocess.run(
            [
                *(sys.executable, "-m", "cibuildwheel", "--print-build-identifiers"),
                *("--platform", "linux", "--archs", machine, ROOT),
            ],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == [f"cp3{minor}-manylinux_{machine}" for minor in named]
