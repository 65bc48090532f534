"""What deploy/ starts is what the command line takes, and its parts fit together."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from bridge.serve.rest.guard import OPEN
from moontide.cli import build_parser, main
from tests.deploy.manifests import COMPOSE, DEPLOY, KUBERNETES, Container, containers, documents, job, words

CONTAINERS = [pytest.param(container, id=container.name) for container in containers()]
SERVES = [one for one in containers() if one.command[0] == "serve"]
NODES = [one for one in containers() if one.command[0] == "node"]


def parsed(container: Container) -> Any:
    return build_parser().parse_args(container.command)


def probes(container: Container) -> list[dict[str, Any]]:
    return [value for key, value in container.said.items() if key.endswith("Probe")]


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_command_line_takes_the_arguments(container: Container) -> None:
    assert words("ENTRYPOINT") == ["moontide"]
    assert parsed(container).command == container.command[0]


@pytest.mark.parametrize("container", SERVES, ids=lambda one: one.name)
def test_a_server_in_a_container_can_be_reached_and_is_asked_what_it_answers(container: Container) -> None:
    arguments = parsed(container)
    assert arguments.host == "0.0.0.0"
    assert [str(path) for path in arguments.models] == ["/models"]
    ports = {port["containerPort"] for port in container.said.get("ports", []) if isinstance(port, dict)}
    assert ports <= {arguments.port, arguments.grpc_port}
    for probe in probes(container):
        assert probe["httpGet"]["path"] in OPEN  # nobody gives a probe the token


@pytest.mark.parametrize("container", NODES, ids=lambda one: one.name)
def test_a_node_is_ready_when_it_says_where_to_attach(container: Container) -> None:
    check = container.said.get("healthcheck", {}).get("test") or probes(container)[0]["exec"]["command"]
    assert check[-3:] == ["test", "-s", str(parsed(container).address_file)]


def test_a_stateful_set_has_as_many_nodes_as_each_is_told() -> None:
    (stateful,) = (d for file in KUBERNETES for d in documents(file) if d["kind"] == "StatefulSet")
    (service,) = (d for d in documents(DEPLOY / "kubernetes" / "nodes.yaml") if d["kind"] == "Service")
    (node,) = (one for one in NODES if one.name == "nodes.node")
    arguments, spec = parsed(node), stateful["spec"]
    assert spec["replicas"] == arguments.num_nodes
    assert spec["podManagementPolicy"] == "Parallel"
    port = service["spec"]["ports"][0]["port"]
    assert arguments.rendezvous == f"tcp://{stateful['metadata']['name']}-0.{spec['serviceName']}:{port}"
    assert spec["serviceName"] == service["metadata"]["name"]
    assert spec["template"]["spec"]["terminationGracePeriodSeconds"] > arguments.patience


def test_a_job_has_as_many_pods_as_each_is_told_and_the_first_one_s_name() -> None:
    training, service = job()
    spec, name = training["spec"], training["metadata"]["name"]
    env = {one["name"]: one.get("value") for one in spec["template"]["spec"]["containers"][0]["env"]}
    assert env["WORLD_SIZE"] == str(spec["completions"]) == str(spec["parallelism"])
    assert env["MASTER_ADDR"] == f"{name}-0.{service['metadata']['name']}"
    assert env["MASTER_PORT"] == str(service["spec"]["ports"][0]["port"])
    assert spec["template"]["spec"]["subdomain"] == service["metadata"]["name"]


def test_composes_nodes_are_one_cluster() -> None:
    nodes = {one.name: parsed(one) for one in NODES if one.name.startswith("compose.")}
    assert sorted(arguments.rank for arguments in nodes.values()) == list(range(len(nodes)))
    assert {arguments.num_nodes for arguments in nodes.values()} == {len(nodes)}
    for shared in ("rendezvous", "num_keys", "value_length", "techniques"):
        assert len({getattr(arguments, shared) for arguments in nodes.values()}) == 1


def test_compose_publishes_to_this_machine_alone_and_restarts_no_node() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert published
    assert all(re.match(r"127\.0\.0\.1:", port) for port in published)
    assert {services[name]["restart"] for name in ("node0", "node1")} == {"no"}


def test_nodes_get_the_keys_under_the_names_that_are_generated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["node", "--generate-keys"]) == 0
    generated = set(re.findall(r"PYPS_\w+", capsys.readouterr().out))
    for node in NODES:
        env = node.said.get("environment") or node.said["env"]
        given = set(env) if isinstance(env, dict) else {one["name"] for one in env}
        assert generated <= given, node.name
