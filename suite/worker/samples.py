"""The samples of the synced clock: which of them count, when there are enough, and what they say together."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from suite.case import Flag
from suite.protocol import OTHERS_SHARE_MAX, Protocol
from suite.stats import steady_start
from suite.worker.cores import Stretch
from suite.worker.events import Events

FAULTS_SHARE_MAX = 0.05  # of our processor time that touching memory anew may take
# What one page may have cost: clearing a huge one, 2 MiB at 8 GB/s. Where a host first has to find the memory, it is
# 3 to 8 ms (seen on a virtual machine); of a few pages, which may be our own reading, that isn't assumed.
FAULT_SECONDS_MAX = 250e-6
HOST_FAULT_SECONDS_MAX = 10e-3
OWN_FAULTS = 10  # a step


@dataclass
class Taken:
    """Samples of the synced clock in seconds, the clean ones among them with their places, and what the cores did."""

    seconds: list[float] = field(default_factory=list)
    clean: list[int] = field(default_factory=list)  # places in `seconds`
    replaced_seconds: float = 0.0  # of disturbed samples
    stretches: list[Stretch] = field(default_factory=list)

    def add(self, seconds: list[float], stretch: Stretch) -> None:
        """A batch."""
        if disturbed(stretch):
            self.replaced_seconds += sum(seconds)
        else:
            self.clean += range(len(self.seconds), len(self.seconds) + len(seconds))
        self.seconds += seconds
        self.stretches.append(stretch)

    def places(self, protocol: Protocol) -> list[int]:
        """Of the samples that count: the clean ones, or all once the budget for replacing others is spent."""
        return self.clean if self.replaced_seconds <= protocol.replaced_seconds_max else [*range(len(self.seconds))]

    def counted(self, protocol: Protocol) -> list[float]:
        """The samples that count, in order."""
        return [self.seconds[place] for place in self.places(protocol)]

    def close(self, protocol: Protocol, events: Events) -> float:
        """Write what the samples say together. The median call in seconds."""
        clean = [self.seconds[place] for place in self.clean]
        most = 2 * len(clean) >= protocol.samples_max  # of very fast calls, which end by their number
        if self.replaced_seconds and not most and not (clean and enough(clean, protocol)):
            events.write("flag", flag=str(Flag.DISTURBED))
        places = self.places(protocol) or [*range(len(self.seconds))]
        verdict = steady_start([self.seconds[place] for place in places])
        if verdict.state != "steady":
            events.write("flag", flag=str(Flag(verdict.state)))
        wall, own, kernel = (
            sum(getattr(each, name) for each in self.stretches) for name in ("seconds", "own_seconds", "kernel_seconds")
        )
        faults = sum(each.faults for each in self.stretches) / len(self.seconds)
        most_each = FAULT_SECONDS_MAX if faults < OWN_FAULTS else HOST_FAULT_SECONDS_MAX
        touching = min(kernel, faults * len(self.seconds) * most_each)
        if faults >= 1 and touching > FAULTS_SHARE_MAX * own:  # fewer are this process's own reading and writing
            events.write("flag", flag=str(Flag.PAGE_FAULTS))
        events.facts(
            synced_warmup=places[verdict.warmup],
            effective_cores=own / wall if wall else None,
            kernel_share=kernel / own if own else None,
            minor_faults_per_step=faults,
        )
        return median(self.seconds[place] for place in places[verdict.warmup :])


def disturbed(stretch: Stretch) -> bool:
    """Whether others took so much of our cores that a sample may say more about them than about us."""
    return stretch.others is not None and stretch.others > OTHERS_SHARE_MAX


def enough(samples: list[float], protocol: Protocol) -> bool:
    """Whether both minima of the stop rule hold."""
    if median(samples) > protocol.slow_call_seconds:
        return len(samples) >= protocol.slow_samples_min
    return len(samples) >= protocol.samples_min and sum(samples) >= protocol.seconds_min
