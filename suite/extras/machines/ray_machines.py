"""Connects to a Ray cluster, finds its machines that can measure, and checks that they are of one kind."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from suite.errors import UserError
from suite.launch.engine import ROOT
from suite.sets.comparability import OF_KIND, machines_differ

SLOT = "slot"  # a resource that each machine offers once, so that it measures one comparison at a time
PATIENCE_SECONDS = 10.0  # the longest wait for an address to answer


def connect(address: str) -> None:
    check_answers(address)
    # On every machine this program must be at the path that it has here, from which Ray's workers import it.
    variables = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", "")}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", runtime_env={"env_vars": variables})
    except (ConnectionError, RuntimeError, ValueError, RayError) as refused:
        raise UserError(f"There is no Ray cluster at {address}: {str(refused).splitlines()[0]}") from None


def check_answers(address: str) -> None:
    """Raises UserError if nothing answers at an address. Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if address == "auto" or "://" in address:
        return
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS).close()
    except (OSError, ValueError) as refused:
        raise UserError(f"There is no Ray cluster at {address}: {refused}") from None


def offering(nodes: Sequence[dict[str, Any]], needs: Mapping[str, float]) -> list[dict[str, Any]]:
    """Returns the machines that offer the resources that a task needs. Raises UserError if there is none, because Ray
    would wait for ever, and if a machine offers several slots, because its comparisons would disturb each other."""
    alive = [node for node in nodes if node["Alive"]]
    able = [node for node in alive if all(node["Resources"].get(name, 0) >= n for name, n in needs.items())]
    if not able:
        wanted = " and ".join(f"{name!r}" for name in needs)
        raise UserError(
            f"None of the cluster's {len(alive)} machine(s) offers {wanted}. On each machine that is to measure, start "
            f"Ray with: ray start --address=HOST:PORT --resources='{{\"{SLOT}\": 1}}'"
        )
    for node in able:
        if node["Resources"][SLOT] != 1:
            raise UserError(
                f"{node['NodeManagerHostname']} offers {node['Resources'][SLOT]:g} slots; a machine must offer one, "
                "since comparisons that run at once disturb each other."
            )
    return able


def answer(machine: str, task: Any) -> dict[str, Any]:
    """Returns the result of a machine's task `node.ready`. Raises UserError if the task fails, or if the machine can't
    measure this plan."""
    try:
        state: dict[str, Any] = ray.get(task)
    except RayError as lost:
        raise UserError(f"{machine} couldn't be made ready: {why(lost)}") from None
    if state["lacking"]:
        raise UserError(f"{machine} can't measure this: it lacks {'; '.join(state['lacking'])}.")
    return state


def check_alike(first: str, machine: dict[str, Any], name: str, other: dict[str, Any]) -> None:
    if unlike := machines_differ(machine, other, OF_KIND):
        raise UserError(
            f"{first} and {name} aren't of one kind: they differ in {', '.join(unlike)}, so that their times can't "
            "stand on one page. Offer slots only on machines of one kind."
        )


def why(problem: Exception) -> str:
    """Returns the first line of an error's message. If a task raised an exception, that is its message, else Ray's."""
    text = str(problem.cause) if isinstance(problem, RayTaskError) and problem.cause is not None else str(problem)
    return next((line for line in text.splitlines() if line.strip()), type(problem).__name__)
