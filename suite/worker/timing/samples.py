"""The samples of the synced clock: which of them count, when there are enough, and the columns derived from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import median

from suite.case import Flag
from suite.protocol import ENOUGH, FULL, MORE, OTHERS_SHARE_MAX, Protocol
from suite.stats import MEDIAN_EFFICIENCY, Steady, spread, steady_start
from suite.worker.events import Events
from suite.worker.timing.cores import Stretch

FAULTS_SHARE_MAX = 0.05  # of this process's processor time; flag `page_faults` if page faults may have taken more
# The most that one page fault is taken to cost: clearing a huge page, 2 MiB at 8 GB/s. On a virtual machine, whose host
# first has to find the memory, a fault has taken 3 to 8 ms. That much is assumed only from `OWN_FAULTS` faults a step
# on, since fewer may come from this process's own reading of counters.
FAULT_SECONDS_MAX = 250e-6
HOST_FAULT_SECONDS_MAX = 10e-3
OWN_FAULTS = 10
WARM_SAMPLES = 40  # fewer can't show a steady state (suite/stats.py)
LEADING_FROM = 3  # in a turn of this many samples or more, the first doesn't count


@dataclass
class SyncedSamples:
    """Samples of the synced clock in seconds, and what the cores did while they were taken."""

    seconds: list[float] = field(default_factory=list)
    clean: list[int] = field(default_factory=list)  # places in `seconds` of the undisturbed samples
    replaced_seconds: float = 0.0  # the sum of the disturbed samples
    before: int = 0  # how many samples the process took before these
    stretches: list[Stretch] = field(default_factory=list)

    def add(self, seconds: list[float], stretch: Stretch) -> None:
        if disturbed(stretch):
            self.replaced_seconds += sum(seconds)
        else:
            self.clean += range(len(self.seconds), len(self.seconds) + len(seconds))
        self.seconds += seconds
        self.stretches.append(stretch)

    @property
    def spent(self) -> float:
        return sum(self.seconds)

    def all_places(self) -> list[int]:
        return [*range(len(self.seconds))]

    def places(self, protocol: Protocol) -> list[int]:
        """Returns the places of the samples that count: the undisturbed ones, or all once the protocol's time for
        replacing disturbed samples is spent."""
        return self.clean if self.replaced_seconds <= protocol.replaced_seconds_max else self.all_places()

    def counted(self, protocol: Protocol) -> list[float]:
        return [self.seconds[place] for place in self.places(protocol)]

    def close(self, protocol: Protocol, events: Events) -> float:
        clean = [self.seconds[place] for place in self.clean]
        most = 2 * len(clean) >= protocol.samples_max  # very fast calls, which stop by their number
        if self.replaced_seconds and not protocol.at_once and not most and not (clean and enough(clean, protocol)):
            events.write("flag", flag=str(Flag.DISTURBED))
        places = self.places(protocol) or self.all_places()
        steady = self.steadiness(places)
        if steady.state != "steady":
            events.write("flag", flag=str(Flag(steady.state)))
        wall, processor, kernel = (
            sum(getattr(stretch, name) for stretch in self.stretches)
            for name in ("seconds", "own_seconds", "kernel_seconds")
        )
        faults = sum(stretch.faults for stretch in self.stretches) / len(self.seconds)
        most_each = FAULT_SECONDS_MAX if faults < OWN_FAULTS else HOST_FAULT_SECONDS_MAX
        touching = min(kernel, faults * len(self.seconds) * most_each)
        # Fewer than one fault a step comes from the worker's writing of events.
        if faults >= 1 and touching > FAULTS_SHARE_MAX * processor:
            events.write("flag", flag=str(Flag.PAGE_FAULTS))
        events.facts(
            synced_warmup=self.before + places[steady.warmup],
            effective_cores=processor / wall if wall else None,
            kernel_share=kernel / processor if processor else None,
            minor_faults_per_step=faults,
        )
        return median(self.seconds[place] for place in places[steady.warmup :])

    def steadiness(self, places: list[int]) -> Steady:
        return steady_start([self.seconds[place] for place in places])


@dataclass
class SamplesInRounds(SyncedSamples):
    """The samples of turns, in seconds. The samples that were taken alone before are warm-up, and have shown whether
    the process is steady. The turns can't show it: they are spread over minutes, in which the machine changes its pace,
    and that isn't a drift of the process."""

    alone_seconds: float = 0.0
    steady: Steady = field(default_factory=lambda: Steady(0, "steady"))
    usable: list[int] = field(default_factory=list)  # places of samples that don't lead into a turn
    turns: list[float] = field(default_factory=list)  # ln of the median of each turn
    clean_turns: list[float] = field(default_factory=list)

    @classmethod
    def after(cls, alone: SyncedSamples, protocol: Protocol) -> SamplesInRounds:
        """Returns the samples in rounds, none so far, of a process that has taken the samples `alone` before."""
        state = alone.steadiness(alone.places(protocol) or alone.all_places()).state
        return cls(before=len(alone.seconds), alone_seconds=alone.spent, steady=Steady(0, state))

    def add(self, seconds: list[float], stretch: Stretch) -> None:
        places = range(len(self.seconds) + leading(seconds), len(self.seconds) + len(seconds))
        turn = math.log(median(seconds[leading(seconds) :]))
        self.turns.append(turn)
        self.usable += places
        if disturbed(stretch):
            self.replaced_seconds += sum(seconds)
        else:
            self.clean_turns.append(turn)
            self.clean += places
        self.seconds += seconds
        self.stretches.append(stretch)

    @property
    def spent(self) -> float:
        return self.alone_seconds + sum(self.seconds)

    def all_places(self) -> list[int]:
        """Returns the places of all samples except those that lead into a turn."""
        return self.usable

    def steadiness(self, places: list[int]) -> Steady:
        return self.steady

    def asks_for(self, protocol: Protocol) -> str:
        """Returns the process's answer after a turn: it needs more turns (`MORE`), has had enough (`ENOUGH`), or may
        take no more (`FULL`)."""
        if self.spent >= protocol.seconds_max:
            return FULL
        counted = self.counted(protocol)
        if not counted:
            return MORE
        turns = self.clean_turns if self.replaced_seconds <= protocol.replaced_seconds_max else self.turns
        slow = median(counted) > protocol.slow_call_seconds
        most = len(self.seconds) >= protocol.samples_max
        if len(turns) < (min(protocol.rounds_min, protocol.slow_samples_min) if slow else protocol.rounds_min):
            return MORE
        return ENOUGH if most or (enough(counted, protocol) and is_sure(turns, protocol)) else MORE


def is_sure(turns: list[float], protocol: Protocol) -> bool:
    """Whether the median of these turns, as logarithms, is known well enough by their spread, or takes too many."""
    if not protocol.median_error or len(turns) >= protocol.turns_max:
        return True
    return len(turns) > 1 and MEDIAN_EFFICIENCY * spread(turns) <= protocol.median_error * math.sqrt(len(turns))


def leading(seconds: list[float]) -> int:
    return 1 if len(seconds) >= LEADING_FROM else 0


def warm(samples: list[float], protocol: Protocol) -> bool:
    """Whether the samples before the first turn are enough to recognise a steady state. Of slow calls, fewer samples
    are enough."""
    if len(samples) >= WARM_SAMPLES:
        return True
    return len(samples) >= protocol.slow_samples_min and sum(samples) >= protocol.seconds_min


def disturbed(stretch: Stretch) -> bool:
    return stretch.others is not None and stretch.others > OTHERS_SHARE_MAX


def enough(samples: list[float], protocol: Protocol) -> bool:
    """Whether the stop rule's minimum number of samples and minimum seconds are both reached."""
    if median(samples) > protocol.slow_call_seconds:
        return len(samples) >= protocol.slow_samples_min
    return len(samples) >= protocol.samples_min and sum(samples) >= protocol.seconds_min
