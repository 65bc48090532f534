"""What deploy/ says, read: the commands of its containers, and what the containers know."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = DEPLOY / "Dockerfile"
COMPOSE = DEPLOY / "compose.yaml"
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
SLURM = DEPLOY / "slurm" / "train.sbatch"
PLACEHOLDERS = {"$(RANK)": "1", "$(ADDRESS)": "127.0.0.1"}  # what Kubernetes puts in


@dataclass(frozen=True)
class Container:
    """A container: where it is described, its command's words, and all else that is said of it."""

    name: str
    command: list[str]
    said: dict[str, Any]


def documents(file: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(file.read_text()))


def pod_of(document: dict[str, Any]) -> dict[str, Any] | None:
    """The pod's description inside of whatever makes pods."""
    spec = document["spec"]
    return spec.get("predictor") or spec.get("template", {}).get("spec")


def containers() -> list[Container]:
    """Those that run the image's program: its own command, compose's services, Kubernetes' pods."""
    found = [Container("Dockerfile", words("CMD"), {})]
    for name, service in yaml.safe_load(COMPOSE.read_text())["services"].items():
        found.append(Container(f"compose.{name}", service["command"], service))
    for file in KUBERNETES:
        for pod in filter(None, map(pod_of, documents(file))):
            for said in (said for said in pod["containers"] if "command" not in said):
                found.append(Container(f"{file.stem}.{said['name']}", filled(said["args"]), said))
    return found


def job() -> tuple[dict[str, Any], dict[str, Any]]:
    """The Job of a program that trains, and its Service."""
    service, job = documents(DEPLOY / "kubernetes" / "train.yaml")
    return job, service


def filled(arguments: list[str]) -> list[str]:
    """The arguments as the container gets them."""
    for placeholder, value in PLACEHOLDERS.items():
        arguments = [word.replace(placeholder, value) for word in arguments]
    return arguments


def words(instruction: str) -> list[str]:
    """The list behind an instruction of the Dockerfile, or behind the CMD of its HEALTHCHECK."""
    joined = DOCKERFILE.read_text().replace("\\\n", " ")
    (found,) = re.findall(rf"^{instruction} [^\[\n]*(\[.*\])$", joined, re.MULTILINE)
    return list(json.loads(found))
