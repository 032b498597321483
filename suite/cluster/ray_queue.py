"""`python -m suite.cluster.ray_queue SET`: Ray as the queue of a run, in Ray's own environment.

A task is one comparison, a machine takes one at a time, and what it measures comes back as a share of the set. Ray
tries a task again where its machine was lost, never where a case failed: that is a row, and no exception.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from suite.cluster import node
from suite.cluster.collect import unlikeness
from suite.errors import UserError
from suite.plan.plan import Plan
from suite.plan.shards import Shard, share, units
from suite.results.store import INTERRUPTED, ResultSet
from suite.run.start import plan_of
from suite.workloads.catalog import Workload, find

ROOT = Path(__file__).parents[2]
SLOT = "slot"  # the resource that a machine offers once: nothing runs beside what is measured
DEVICES = {"cuda": "GPU", "tpu": "TPU"}
LOST_MAX = 3  # machines that a comparison may lose before it is given up
UNFINISHED = 1
PATIENCE_SECONDS = 10.0  # for an address to answer


@dataclass(frozen=True, slots=True)
class Queue:
    """The comparisons of a set that no machine has measured yet."""

    store: ResultSet
    plan: Plan
    workloads: dict[str, Workload]
    force: bool

    @classmethod
    def of(cls, folder: Path, force: bool) -> Queue:
        """Of a set that was begun."""
        store = ResultSet.open(folder)
        plan = plan_of(store.plan, store.plan.cases, store.plan.set_id)
        return cls(store, plan, find([*map(Path, store.plan.workload_paths)]), force)

    @property
    def offers(self) -> dict[str, float]:
        """What a machine must have free to take a task."""
        device = DEVICES.get(self.store.plan.target)
        return {SLOT: 1.0} | ({device: 1.0} if device else {})

    def pending(self) -> list[Shard]:
        """The longest first, by the plan's own estimate: then machines end at about the same time."""
        of = len(units(self.plan))
        shards = [Shard(index, of) for index in range(1, of + 1)]
        rest = [shard for shard in shards if not self.store.share_folder(str(shard)).exists()]
        return sorted(rest, key=lambda shard: -share(self.plan, shard).seconds(self.workloads))

    def run(self) -> int:
        """Hand out what is left, and take in what comes back. The exit code."""
        machines = check_offers(ray.nodes(), self.offers)
        self.check_machines(machines)
        (self.store.folder / "shares").mkdir(exist_ok=True)
        left = self.pending()
        say(f"{len(left)} comparisons for {len(machines)} machine(s)")
        unfinished = 0
        for done, (shard, told) in enumerate(self.results(left), 1):
            if isinstance(told, RayError):
                unfinished += 1
                say(f"{done} of {len(left)}: comparison {shard} has no result: {why(told)}")
                continue
            data, notes = told
            node.unpack(data, self.store.share_folder(str(shard)))
            for text in notes:
                say(f"comparison {shard}: {text}")
            say(f"{done} of {len(left)}: {sentence(ResultSet.open(self.store.share_folder(str(shard))))}")
        return UNFINISHED if unfinished else 0

    def results(self, left: Sequence[Shard]) -> Iterator[tuple[Shard, Any]]:
        """Each share as it comes back: (the share, its archive and notes, or Ray's error)."""
        fields = ray.put(self.store.plan.to_json())
        # Ray's own resource of cores says nothing here: the slot is the whole machine.
        task = ray.remote(node.measure).options(max_retries=LOST_MAX, retry_exceptions=False, **asked(self.offers))
        tasks = {task.remote(fields, shard, self.force): shard for shard in left}
        while tasks:
            (ended,), _ = ray.wait([*tasks], num_returns=1)
            shard = tasks.pop(ended)
            try:
                yield shard, ray.get(ended)
            except RayError as lost:
                yield shard, lost

    def check_machines(self, machines: Sequence[dict[str, Any]]) -> None:
        """Make each ready. Raises UserError for one that lacks something, or that is unlike the others."""
        fields = ray.put(self.store.plan.to_json())
        task = ray.remote(node.ready)
        asks = [task.options(scheduling_strategy=NodeAffinitySchedulingStrategy(each["NodeID"], soft=False),
                             max_retries=0, **asked(self.offers)).remote(fields) for each in machines]  # fmt: skip
        told = [(each["NodeManagerHostname"], answer(each["NodeManagerHostname"], ask))
                for each, ask in zip(machines, asks, strict=True)]  # fmt: skip
        for name, found in told:
            if found["lacking"]:
                raise UserError(f"{name} can't measure this: it lacks {'; '.join(found['lacking'])}.")
        first, machine = told[0][0], told[0][1]["machine"]
        for name, found in told[1:]:
            if unlike := unlikeness(machine, found["machine"]):
                raise UserError(f"{first} and {name} are unlike machines: they differ in {', '.join(unlike)}. Their "
                                "times can't stand on one page; offer slots on machines of one kind.")  # fmt: skip
        self.store.machine = machine


def answer(machine: str, ask: Any) -> dict[str, Any]:
    """What a machine says of itself. Raises UserError where it can't."""
    try:
        found: dict[str, Any] = ray.get(ask)
    except RayError as lost:
        raise UserError(f"{machine} couldn't be made ready: {why(lost)}") from None
    return found


def asked(offers: dict[str, float]) -> dict[str, Any]:
    """A task's resources as Ray takes them: GPUs have a word of their own."""
    rest = {name: count for name, count in offers.items() if name != "GPU"}
    return {"num_cpus": 0, "num_gpus": offers.get("GPU", 0), "resources": rest}


def check_offers(nodes: Sequence[dict[str, Any]], offers: dict[str, float]) -> list[dict[str, Any]]:
    """The machines that offer what a task asks. Raises UserError where there is none: Ray would wait for ever."""
    alive = [each for each in nodes if each["Alive"]]
    found = [each for each in alive if all(each["Resources"].get(name, 0) >= n for name, n in offers.items())]
    if not found:
        wanted = " and ".join(f"{name!r}" for name in offers)
        raise UserError(f"None of the cluster's {len(alive)} machine(s) offers {wanted}. Start Ray on each that shall "
                        f"measure with: ray start --address=HOST:PORT --resources='{{\"{SLOT}\": 1}}'")  # fmt: skip
    return found


def sentence(done: ResultSet) -> str:
    """What came of one share."""
    facts = done.facts()
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(facts["outcomes"].items()))
    return f"{done.plan.cases[0].case.comparison_name}: {counted}, on {done.plan.machine_id}"


def why(lost: RayError) -> str:
    """One line of Ray's error; of ours, what was raised."""
    text = str(lost.cause) if isinstance(lost, RayTaskError) and lost.cause is not None else str(lost)
    return next((line for line in text.splitlines() if line.strip()), type(lost).__name__)


def say(text: str) -> None:
    """To whoever waits."""
    print(text, file=sys.stderr, flush=True)


def connect(address: str) -> None:
    """To the cluster. Raises UserError where there is none."""
    check_answers(address)
    # Workers find this program where the driver has it, on every machine.
    variables = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": os.environ.get("PYTHONDONTWRITEBYTECODE", "")}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", runtime_env={"env_vars": variables})
    except (ConnectionError, RuntimeError, ValueError, RayError) as refused:
        raise UserError(f"There is no Ray cluster at {address}: {str(refused).splitlines()[0]}") from None


def check_answers(address: str) -> None:
    """Raises UserError where nobody listens: Ray itself tries for minutes."""
    host, _, port = address.rpartition(":")
    if address == "auto" or "://" in address:
        return
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS).close()
    except (OSError, ValueError) as refused:
        raise UserError(f"There is no Ray cluster at {address}: {refused}") from None


def main() -> int:
    """The exit code: 0 all shares are there, 1 some aren't, 2 it can't be done, 130 interrupted."""
    parser = argparse.ArgumentParser(description="Hand a set's comparisons to the machines of a Ray cluster.")
    parser.add_argument("set", type=Path)
    parser.add_argument("--address", default="auto")
    parser.add_argument("--force", action="store_true")
    options = parser.parse_args()
    try:
        connect(options.address)
        return Queue.of(options.set, options.force).run()
    except UserError as mistake:
        say(str(mistake))
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        ray.shutdown()


if __name__ == "__main__":
    sys.exit(main())
