"""`./stackwars bisect`: finds the release of a framework that made a stack slower on one question."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from suite import results
from suite.case import stack_name
from suite.cli.measure.run import run
from suite.cli.options import ProcessOptions, RunOptions
from suite.cli.terminal.output import print_table
from suite.cli.values import Names, absolute
from suite.environments import locks, releases, say, variants, venv
from suite.errors import UserError, check_known
from suite.extras.bisect.bisection import ReleaseVerdict, bracket, next_release
from suite.results.outcomes import FAILED, INTERRUPTED
from suite.sets.files import sha256
from suite.sets.listing import folders
from suite.sets.result_set import ResultSet
from suite.stacks.catalog import IMPORTS, STACKS, environment_of
from suite.stacks.catalog import add as add_stacks
from suite.verdicts.verdicts import Speedup

BLOCKS = (5, 10, 20)  # of the first, second and third run of a release; a further run only if the last decided nothing


@dataclass(frozen=True, kw_only=True)
class BisectOptions(ProcessOptions):
    """The options of `bisect`, which select one stack and one question."""

    good: str = ""
    """a release that is fast enough, like 0.10.2"""
    bad: str = ""
    """a later release that is too slow"""
    threshold: float = 1.1
    """the factor of time from which on a release counts as slower"""
    releases: Names = ()
    """the releases to search among, oldest first, comma-separated (default: all that the package index has)"""
    python: str | None = None
    """the Python that every release runs on, like 3.13 (default: that of the stack's lock)"""
    pass_: Names = ()
    """forward or train (default: train; of a question file forward)"""
    preset: str = "quick"
    """the preset, which has the protocol and the size"""
    file: tuple[str, ...] = ()
    """a question file of your own; the stack then has its function, like --stack=jax_jit:solve"""


class Interrupted(Exception):
    """Ctrl-C was pressed during one of the runs, which has already printed what is kept."""


@dataclass(frozen=True)
class Tried:
    """The verdict on a release, and what was measured, or why nothing was."""

    verdict: ReleaseVerdict
    reason: str


def verdicts_of(tried: Mapping[str, Tried]) -> dict[str, ReleaseVerdict]:
    return {release: each.verdict for release, each in tried.items()}


@dataclass(frozen=True)
class Search:
    """The search for one stack on one question. `options` are those of every run, except for stacks and blocks."""

    options: RunOptions
    stack: str
    good: str
    threshold: float
    python: str | None
    function: str = ""  # of a question file

    def named(self, release: str) -> str:
        return stack_name(self.stack, release, self.function)

    @property
    def environment(self) -> str:
        """The stack's environment, of which the search makes a variant for each release."""
        return STACKS[self.stack].environment

    @property
    def package(self) -> str:
        return IMPORTS.get(self.environment, (self.environment,))[0]

    @property
    def folder(self) -> Path:
        """The folder of this search's sets. Only the options decide it, so that the same command finds them."""
        files = [sha256(Path(file)) for file in self.options.file]
        question = " ".join([*self.options.given(), *files]) + f" {self.threshold} {self.python}"
        digest = hashlib.sha256(question.encode()).hexdigest()[:8]
        return Path(self.options.results) / f"bisect-{self.stack}-{self.good}-{digest}"

    def run(self, names: Sequence[str]) -> dict[str, Tried]:
        """Tries releases of `names` until no untried one lies between the last that isn't slower and the first that is.
        Raises UserError if the good release can't be installed."""
        if reason := self.lacking(self.good):
            raise UserError(f"{self.stack}@{self.good}, the baseline of the search, can't be installed: {reason}")
        tried: dict[str, Tried] = {}
        while (release := next_release(names, verdicts_of(tried))) is not None:
            tried[release] = self.judge(release)
            say(f"{self.stack}@{release}: {tried[release].verdict}, {tried[release].reason}")
        return tried

    def lacking(self, release: str) -> str | None:
        """Makes the variant of a release, unless it exists. Returns why it can't be used; None if it can."""
        name = environment_of(self.stack, release)
        if self.environment == locks.ORCHESTRATOR:
            return None  # a stack of the tests: no release is installed for it
        try:
            if not locks.newest(name, self.options.target).exists:
                wanted = [f"{self.package}=={release}"]
                variants.create(self.environment, release, self.options.target, wanted, (), self.python)
            venv.ensure(name, self.options.target)
        except UserError as refused:
            return str(refused).splitlines()[0]
        return self.unlike(name, release)

    def unlike(self, name: str, release: str) -> str | None:
        """Returns why an existing variant can't be compared with the others: its lock has another release, or another
        Python, whose speed would be compared too. None if it can."""
        pins = locks.newest(name, self.options.target).pins
        python = self.python or locks.newest(self.environment, self.options.target).python
        locked = pins.get(self.package.replace("_", "-"), pins.get(self.package))
        if locked == release and pins["python"] == python:
            return None
        return f"the lock of {name} has {self.package} {locked} on Python {pins['python']}, not {release} on {python}"

    def judge(self, release: str) -> Tried:
        """Runs more and more blocks until a verdict on the release is decided."""
        if lack := self.lacking(release):
            return Tried(ReleaseVerdict.SKIPPED, lack)
        reason = ""
        for blocks in BLOCKS:
            speedup = self.measured(release, blocks)
            if speedup is None or speedup.ratio.low is None or speedup.ratio.high is None:
                return Tried(ReleaseVerdict.SKIPPED, "it has no time to compare")
            least, most = 1 / speedup.ratio.high, 1 / speedup.ratio.low
            ratio = 1 / speedup.ratio.value
            reason = f"{ratio:.3f}× [{least:.3f}, {most:.3f}] of the time of {self.good}, {blocks} blocks"
            if speedup.verdict == "slower" and ratio >= self.threshold:
                return Tried(ReleaseVerdict.SLOWER, reason)
            if most < self.threshold:
                return Tried(ReleaseVerdict.NOT_SLOWER, reason)
        return Tried(ReleaseVerdict.UNDECIDED, reason)

    def measured(self, release: str, blocks: int) -> Speedup | None:
        """Returns the speedup of a release over the good one, from one run of `blocks` blocks. If an earlier search has
        begun that run, its set is completed and read. Raises UserError if the options select more than one question."""
        folder = self.folder / f"{release}-{blocks}"
        begun = newest(folder)
        if begun is None:
            both = (self.named(self.good), self.named(release))
            asked = replace(self.options, stack=both, baseline=both[0], repeats=blocks, results=str(folder))
            code = run(options=asked)
        elif not ResultSet.open(begun).is_whole:
            code = run(options=RunOptions(resume=str(begun), force=self.options.force))
        else:
            code = 0
        if code == INTERRUPTED:
            raise Interrupted
        analysis = results.load(newest(folder) or folder).analysis()
        if len(analysis.comparisons) != 1:
            raise UserError(
                f"A search is about one question, but these options select {len(analysis.comparisons)}: choose one "
                "with --workload, --pass and --size."
            )
        return next((speedup for speedup in analysis.speedups if speedup.stack == self.named(release)), None)


def newest(folder: Path) -> Path | None:
    return max(folders(folder), default=None)


def bisect(*, options: BisectOptions = BisectOptions()) -> int:
    """Runs the search; the same command again continues an interrupted one. Returns the exit code: 0 if a slower
    release was found, 3 if the bad one isn't slower, 130 after Ctrl-C."""
    good, bad = options.good, options.bad
    if not (good and bad and len(options.stack) == 1):
        raise UserError("A search needs a stack and two releases, like --stack=jax_jit --good=0.10.2 --bad=0.12.0.1.")
    stack, _, function = options.stack[0].partition(":")
    add_stacks(absolute(options.stack_path))
    check_known("stack", stack, STACKS)
    if not 1 < options.threshold < math.inf:
        raise UserError(f"--threshold={options.threshold:g}: a factor above 1, like 1.1 for a tenth slower.")
    if bool(function) != bool(options.file):
        raise UserError(
            "--file and a stack with a function of it belong together: --file=mine.py --stack=jax_jit:mine."
        )
    asked = RunOptions(
        **options.as_fields(ProcessOptions), file=options.file, preset=options.preset, ir="off", profile="off"
    )
    if not (asked.pass_ or asked.file):
        asked = replace(asked, pass_=("train",))
    search = Search(asked, stack, good, options.threshold, options.python, function)
    known: Sequence[str] = options.releases
    if not known:
        version = options.python or locks.newest(search.environment, options.target).python
        known = releases.between(search.package, good, bad, version, options.target)
    if good not in known or bad not in known or known.index(good) >= known.index(bad):
        raise UserError(f"--releases names the good one, {good}, before the bad one, {bad}.")
    known = known[known.index(good) : known.index(bad) + 1]
    say(f"{len(known)} releases: {', '.join(known)}. Sets in {search.folder}")
    try:
        return concluded(search, known, search.run(known))
    except Interrupted:
        say("The same command continues the search.")
        return INTERRUPTED


def concluded(search: Search, releases: Sequence[str], tried: Mapping[str, Tried]) -> int:
    """Prints the verdict on each release, and the two releases between which the change lies. Returns the exit code."""
    untried = {release: ["good" if release == search.good else "not tried", ""] for release in releases}
    known = untried | {release: [str(each.verdict), each.reason] for release, each in tried.items()}
    lines = [[release, *words] for release, words in known.items()]
    print_table(f"{search.stack}, releases of {search.package}", ["release", "verdict", "why"], lines)
    found = bracket(releases, verdicts_of(tried))
    if found.high is None:
        print(f"{releases[-1]} isn't slower than {search.good} by {search.threshold:g}: nothing to search for.")
        return FAILED
    first, last, between = releases[found.high], releases[found.low], releases[found.low + 1 : found.high]
    print(
        f"{first} is the first release that is slower than {search.good}, {tried[first].reason}; {last} isn't yet.",
        f"Nothing is known of {', '.join(between)} between them." if between else "",
    )
    return 0
