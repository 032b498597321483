"""`python -m suite.cluster.ray_queue SET`: Ray as the queue of a run, in Ray's own environment.

A task is one comparison. Each machine that was checked takes one at a time, and what it measures comes back as a share
of the set. A comparison whose machine was lost is given to another; a case that failed is a row, and no exception.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import ray
from ray.exceptions import OutOfMemoryError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from suite.cluster import node
from suite.cluster.collect import devices_of, unlikeness
from suite.errors import UserError
from suite.guard.printable import printable
from suite.plan.plan import Plan
from suite.plan.shards import Shard, share, units
from suite.results.outcomes import INTERRUPTED
from suite.results.store.result_set import ResultSet
from suite.run.start import plan_of
from suite.workloads.catalog import Workload, find

ROOT = Path(__file__).parents[2]
SLOT = "slot"  # the resource that a machine offers once: nothing runs beside what is measured
DEVICES = {"cuda": "GPU", "tpu": "TPU"}
LOST_MAX = 3  # machines that a comparison may lose before it is given up
UNFINISHED = 1
PATIENCE_SECONDS = 10.0  # for an address to answer
REMIND_SECONDS = 60.0  # between two words about a machine that others keep busy


@dataclass
class Queue:
    """The comparisons of a set that no machine has measured yet, and the machines that may: {Ray's id: its name}."""

    store: ResultSet
    plan: Plan
    workloads: dict[str, Workload]
    force: bool
    machines: dict[str, str] = field(default_factory=dict)
    lost: Counter[Shard] = field(default_factory=Counter)
    unfinished: dict[Shard, str] = field(default_factory=dict)

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
        self.check(check_offers(ray.nodes(), self.offers))
        left = self.pending()
        say(f"{len(left)} comparisons for {len(self.machines)} machine(s)")
        fields, free, total = ray.put(self.store.plan.to_json()), [*self.machines], len(left)
        busy: dict[Any, tuple[Shard, str]] = {}
        while busy or (left and free):
            while left and free:
                machine, shard = free.pop(0), left.pop(0)
                busy[self.task(node.measure, machine).remote(fields, shard, self.force)] = shard, machine
            (ended,), _ = ray.wait([*busy], num_returns=1)
            shard, machine = busy.pop(ended)
            try:
                self.take(shard, machine, ray.get(ended))
                free.append(machine)
            except (RayError, UserError) as problem:
                self.miss(shard, machine, problem, left, free)
            say(f"{total - len(left) - len(busy)} of {total}: {self.fate(shard)}")
        for shard in left:
            self.unfinished[shard] = "no machine is left"
        return UNFINISHED if self.unfinished else 0

    def task(self, function: Any, machine: str) -> Any:
        """A function as a task for one machine, which Ray itself never tries again: it can't tell a lost machine from a
        case that has filled its memory."""
        there = NodeAffinitySchedulingStrategy(machine, soft=False)
        # Ray's own resource of cores says nothing here: the slot is the whole machine.
        rest = {name: count for name, count in self.offers.items() if name != "GPU"}
        return ray.remote(function).options(
            max_retries=0, num_cpus=0, num_gpus=self.offers.get("GPU", 0), resources=rest, scheduling_strategy=there
        )

    def take(self, shard: Shard, machine: str, told: tuple[bytes, list[str]]) -> None:
        """A share comes back. Raises UserError for one of another device than those that are there."""
        data, notes = told
        with node.unpacked(data, self.store.share_folder(str(shard))) as draft:
            new, others = devices_of([ResultSet(draft)]), devices_of(self.store.shares())
            if new and others and new != others:
                raise UserError(f"it measured on {', '.join(sorted(new))}, others on {', '.join(sorted(others))}")
        for text in notes:
            say(f"{self.machines[machine]}, comparison {shard}: {text}")

    def miss(self, shard: Shard, machine: str, problem: Exception, left: list[Shard], free: list[str]) -> None:
        """A share doesn't: its machine gets nothing more, unless only the task's own process is gone."""
        self.lost[shard] += 1
        name, reason = self.machines[machine], why(problem)
        if isinstance(problem, OutOfMemoryError):
            self.unfinished[shard] = (
                f"Ray's memory monitor ended it on {name}: start Ray there with RAY_memory_monitor_refresh_ms=0"
            )
            free.append(machine)
            return
        say(f"{name} takes no more comparisons: {reason}")
        if self.lost[shard] < LOST_MAX:
            left.insert(0, shard)
        else:
            self.unfinished[shard] = f"its machine was lost {LOST_MAX} times: {reason}"

    def fate(self, shard: Shard) -> str:
        """What came of a comparison so far."""
        folder = self.store.share_folder(str(shard))
        if shard in self.unfinished:
            return f"comparison {shard} has no result: {self.unfinished[shard]}"
        if not folder.exists():
            return f"comparison {shard} goes to another machine"
        done = ResultSet.open(folder)
        counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(done.facts()["outcomes"].items()))
        return f"{done.plan.cases[0].case.comparison_name}: {counted}, on {done.plan.machine_id}"

    def check(self, found: Sequence[dict[str, Any]]) -> None:
        """Make each machine ready. Raises UserError for one that lacks something, and for unlike machines: those of a
        set that is resumed count, too."""
        fields = ray.put(self.store.plan.to_json())
        asks = {self.task(node.ready, each["NodeID"]).remote(fields): each for each in found}
        known: list[tuple[str, dict[str, Any]]] = [
            ("the machines of this set", each.machine) for each in self.store.shares()[:1]
        ]
        reasons: dict[str, str | None] = {}
        while asks:
            ended, rest = ray.wait([*asks], num_returns=1, timeout=REMIND_SECONDS)
            if not ended:
                names = ", ".join(asks[ask]["NodeManagerHostname"] for ask in rest)
                say(f"Waiting for what takes the slot of {names}, or for its environments")
                continue
            each = asks.pop(ended[0])
            told = answer(each["NodeManagerHostname"], ended[0])
            known.append((each["NodeManagerHostname"], told["machine"]))
            self.machines[each["NodeID"]] = each["NodeManagerHostname"]
            check_alike(*known[0], *known[-1])
            reasons = reasons or told["unsupported"]
            if reasons != told["unsupported"]:
                raise UserError(
                    f"{known[0][0]} and {known[-1][0]} can't run the same cases: make their installations alike."
                )
        self.settle(reasons, known[-1][1])

    def settle(self, reasons: dict[str, str | None], machine: dict[str, Any]) -> None:
        """Write into the plan, before anything was measured, what these machines can't run."""
        if self.store.shares():
            return
        cases = tuple(dataclasses.replace(each, unsupported=reasons[each.case.case_id]) for each in self.plan.cases)
        self.plan = dataclasses.replace(self.plan, cases=cases)
        self.store.settle(dataclasses.replace(self.store.plan, cases=cases, attempts=tuple(self.plan.attempts())))
        self.store.machine = machine


def check_alike(first: str, machine: dict[str, Any], name: str, other: dict[str, Any]) -> None:
    """Raises UserError for two kinds of machine."""
    if unlike := unlikeness(machine, other):
        raise UserError(
            f"{first} and {name} are unlike machines: they differ in {', '.join(unlike)}. Their times "
            "can't stand on one page; offer slots on machines of one kind."
        )


def answer(machine: str, ask: Any) -> dict[str, Any]:
    """What a machine says of itself. Raises UserError where it can't, or can't measure this."""
    try:
        found: dict[str, Any] = ray.get(ask)
    except RayError as lost:
        raise UserError(f"{machine} couldn't be made ready: {why(lost)}") from None
    if found["lacking"]:
        raise UserError(f"{machine} can't measure this: it lacks {'; '.join(found['lacking'])}.")
    return found


def check_offers(nodes: Sequence[dict[str, Any]], offers: dict[str, float]) -> list[dict[str, Any]]:
    """The machines that offer what a task asks. Raises UserError where there is none (Ray would wait for ever), and for
    one that offers several slots: what runs on it at once would disturb each other."""
    alive = [each for each in nodes if each["Alive"]]
    found = [each for each in alive if all(each["Resources"].get(name, 0) >= n for name, n in offers.items())]
    if not found:
        wanted = " and ".join(f"{name!r}" for name in offers)
        raise UserError(
            f"None of the cluster's {len(alive)} machine(s) offers {wanted}. Start Ray on each that shall "
            f"measure with: ray start --address=HOST:PORT --resources='{{\"{SLOT}\": 1}}'"
        )
    for each in found:
        if each["Resources"][SLOT] != 1:
            raise UserError(
                f"{each['NodeManagerHostname']} offers {each['Resources'][SLOT]:g} slots; a machine has "
                "one, since what runs beside what is measured disturbs it."
            )
    return found


def why(problem: Exception) -> str:
    """One line of Ray's error; of ours, what was raised."""
    text = str(problem.cause) if isinstance(problem, RayTaskError) and problem.cause is not None else str(problem)
    return next((line for line in text.splitlines() if line.strip()), type(problem).__name__)


def say(text: str) -> None:
    """To whoever waits."""
    print(printable(text), file=sys.stderr, flush=True)


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


def end_once() -> None:
    """Lets the first Ctrl-C or SIGTERM end the wait, and only the first.

    A terminal's Ctrl-C comes with a SIGTERM from who started this. Ray's own handler would raise SystemExit for that
    one in the middle of its shutdown, where Python prints a traceback. What a script starts with `&` ignores SIGINT,
    and goes on doing so.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        ignore_signals()
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)


def ignore_signals() -> None:
    """Lets nothing interrupt the end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def main() -> int:
    """The exit code: 0 all shares are there, 1 some aren't, 2 it can't be done, 130 interrupted."""
    parser = argparse.ArgumentParser(description="Hand a set's comparisons to the machines of a Ray cluster.")
    parser.add_argument("set", type=Path)
    parser.add_argument("--address", default="auto")
    parser.add_argument("--force", action="store_true")
    options = parser.parse_args()
    try:
        connect(options.address)
        end_once()
        return Queue.of(options.set, options.force).run()
    except UserError as mistake:
        say(str(mistake))
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        ignore_signals()
        ray.shutdown()


if __name__ == "__main__":
    sys.exit(main())
