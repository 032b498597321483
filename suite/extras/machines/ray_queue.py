"""Hands a set's comparisons to the machines of a Ray cluster: `python -m suite.extras.machines.ray_queue SET`.

It runs in Ray's own environment. One task measures one comparison. Each machine is checked first. Then it gets one task
at a time, and sends each result back as a share of the set. If a machine is lost, its comparison goes to another
machine. A case that fails is a row of its share, not a failed task.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

import ray
from ray.exceptions import OutOfMemoryError, RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from suite.errors import UserError
from suite.extras.machines import node
from suite.extras.machines.collect import devices_of
from suite.extras.machines.ray_machines import SLOT, answer, check_alike, connect, offering, why
from suite.guard.printable import printable
from suite.plan import layout
from suite.plan.durations import plan_seconds
from suite.plan.shards import Shard, share, units
from suite.results.outcomes import INTERRUPTED
from suite.run.start.reopen import own_code
from suite.sets.result_set import ResultSet
from suite.workloads.catalog import Workload

DEVICES = {"cuda": "GPU", "tpu": "TPU"}  # Ray's resource, by target
LOST_MAX = 3  # a comparison that failed on so many machines is given up
UNFINISHED = 1  # exit code: some comparison has no share
REMIND_SECONDS = 60.0  # between two messages about machines that aren't ready yet


@dataclass
class Queue:
    """The comparisons of a set that no machine has measured yet.

    `machines` are the machines that may measure them, as {Ray's id: name}. `lost` says on how many machines each
    comparison has failed, and `unfinished` why a comparison was given up.
    """

    store: ResultSet
    workloads: dict[str, Workload]
    force: bool
    machines: dict[str, str] = field(default_factory=dict)
    lost: Counter[Shard] = field(default_factory=Counter)
    unfinished: dict[Shard, str] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, force: bool) -> Queue:
        store = ResultSet.open(folder)
        return cls(store, own_code(store.plan_file)[0], force)

    @property
    def needs(self) -> dict[str, float]:
        device = DEVICES.get(self.store.plan_file.target)
        return {SLOT: 1.0} | ({device: 1.0} if device else {})

    def pending(self) -> list[Shard]:
        """Returns the comparisons that have no share yet. The longest comes first, by the plan's estimate, so that all
        machines end at about the same time."""
        of = len(units(self.store.plan))
        shards = [Shard(index, of) for index in range(1, of + 1)]
        rest = [shard for shard in shards if not self.store.share_folder(str(shard)).exists()]
        return sorted(rest, key=lambda shard: -plan_seconds(share(self.store.plan, shard), self.workloads))

    def run(self) -> int:
        self.check_machines(offering(ray.nodes(), self.needs))
        pending = self.pending()
        say(f"{len(pending)} comparisons for {len(self.machines)} machine(s)")
        fields, free, total = ray.put(self.store.plan_file.to_json()), [*self.machines], len(pending)
        busy: dict[Any, tuple[Shard, str]] = {}
        while busy or (pending and free):
            while pending and free:
                machine, shard = free.pop(0), pending.pop(0)
                busy[self.task(node.measure, machine).remote(fields, shard, self.force)] = shard, machine
            (ended,), _ = ray.wait([*busy], num_returns=1)
            shard, machine = busy.pop(ended)
            try:
                self.take_in(shard, machine, *ray.get(ended))
                free.append(machine)
            except (RayError, UserError) as problem:
                self.put_back(shard, machine, problem, pending, free)
            say(f"{total - len(pending) - len(busy)} of {total}: {self.progress(shard)}")
        for shard in pending:
            self.unfinished[shard] = "no machine is left"
        return UNFINISHED if self.unfinished else 0

    def task(self, function: Any, machine: str) -> Any:
        """Returns a function as a task for one machine. Ray must not retry it, because Ray can't tell a lost machine
        from a case that has filled the machine's memory."""
        there = NodeAffinitySchedulingStrategy(machine, soft=False)
        # The slot stands for the whole machine, so the task requests no cores from Ray.
        resources = {name: count for name, count in self.needs.items() if name != "GPU"}
        return ray.remote(function).options(
            max_retries=0, num_cpus=0, num_gpus=self.needs.get("GPU", 0), resources=resources, scheduling_strategy=there
        )

    def take_in(self, shard: Shard, machine: str, data: bytes, notes: Sequence[str]) -> None:
        """Unpacks a share into the set. Raises UserError if it ran on another accelerator than the shares before it."""
        with node.unpacked(data, self.store.share_folder(str(shard))) as draft:
            new, known = devices_of([ResultSet(draft)]), devices_of(self.store.shares())
            if new and known and new != known:
                raise UserError(f"it measured on {', '.join(sorted(new))}, others on {', '.join(sorted(known))}")
        for text in notes:
            say(f"{self.machines[machine]}, comparison {shard}: {text}")

    def put_back(self, shard: Shard, machine: str, problem: Exception, pending: list[Shard], free: list[str]) -> None:
        """Puts a failed comparison back into the queue, or gives it up after `LOST_MAX` failures; its machine gets no
        more work. But if Ray's memory monitor ended the task, gives the comparison up at once, and the machine goes on.
        """
        self.lost[shard] += 1
        name, reason = self.machines[machine], why(problem)
        if isinstance(problem, OutOfMemoryError):
            self.unfinished[shard] = (
                f"Ray's memory monitor ended it on {name}; start Ray there with RAY_memory_monitor_refresh_ms=0"
            )
            free.append(machine)
            return
        say(f"{name} takes no more comparisons: {reason}")
        if self.lost[shard] < LOST_MAX:
            pending.insert(0, shard)
        else:
            self.unfinished[shard] = f"it failed on {LOST_MAX} machines, last because {reason}"

    def progress(self, shard: Shard) -> str:
        """Returns in words how a comparison stands: its outcomes, that it goes to another machine, or why it was given
        up."""
        folder = self.store.share_folder(str(shard))
        if shard in self.unfinished:
            return f"comparison {shard} has no result: {self.unfinished[shard]}"
        if not folder.exists():
            return f"comparison {shard} goes to another machine"
        done = ResultSet.open(folder)
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(done.facts()["outcomes"].items()))
        return f"{done.plan.cases[0].case.comparison_name}: {counts}, on {done.plan_file.machine_id}"

    def check_machines(self, nodes: Sequence[dict[str, Any]]) -> None:
        """Makes each machine ready. Raises UserError for a machine that can't measure this plan, and for machines that
        aren't of one kind. In a resumed set, the machines that measured its shares are compared too."""
        fields = ray.put(self.store.plan_file.to_json())
        tasks = {self.task(node.ready, machine["NodeID"]).remote(fields): machine for machine in nodes}
        known = [("the machines of this set", share.machine) for share in self.store.shares()[:1]]
        reasons: dict[str, str | None] = {}
        while tasks:
            ended, rest = ray.wait([*tasks], num_returns=1, timeout=REMIND_SECONDS)
            if not ended:
                names = ", ".join(tasks[task]["NodeManagerHostname"] for task in rest)
                say(f"Waiting for {names}: running another task, or installing environments")
                continue
            machine = tasks.pop(ended[0])
            name = machine["NodeManagerHostname"]
            state = answer(name, ended[0])
            known.append((name, state["machine"]))
            self.machines[machine["NodeID"]] = name
            check_alike(*known[0], *known[-1])
            reasons = reasons or state["unsupported"]
            if reasons != state["unsupported"]:
                raise UserError(
                    f"{known[0][0]} and {name} can't run the same cases. Install the same things on both of them."
                )
        if not self.store.shares():
            self.settle(reasons, known[-1][1])

    def settle(self, reasons: dict[str, str | None], machine: dict[str, Any]) -> None:
        """Writes into the plan which cases these machines can't run, and keeps a machine's facts in the set. It is
        called only before there is a share."""
        cases = tuple(replace(planned, unsupported=reasons[planned.case.case_id]) for planned in self.store.plan.cases)
        plan = replace(self.store.plan, cases=cases)
        self.store.settle(replace(self.store.plan_file, plan=plan, attempts=tuple(layout.attempts(plan))))
        self.store.machine = machine


def say(text: str) -> None:
    print(printable(text), file=sys.stderr, flush=True)


def end_once() -> None:
    """Makes the first SIGINT or SIGTERM raise KeyboardInterrupt, and ignores all later ones.

    Ctrl-C causes two signals: SIGINT from the terminal, and SIGTERM from the program that started this one. For the
    second, Ray's own handler would raise SystemExit in the middle of Ray's shutdown, and Python would print a
    traceback. If SIGINT was ignored at the start, as in a script's background job, it stays ignored.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        ignore_signals()
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)


def ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def main() -> int:
    """Hands out a set's comparisons. Returns the exit code: 0 if every comparison has a share, 1 if not, 2 for a
    mistake that the user can mend, 130 if interrupted."""
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
