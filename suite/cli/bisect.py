"""`./stackwars bisect`: which release of a framework made a stack slower on one question."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from suite import results
from suite.cli import commands
from suite.cli.console import print_table
from suite.cli.options import Options
from suite.environments import locks, releases, say, variants, venv
from suite.errors import UserError, unknown
from suite.plan.bisection import Bisection, Finding
from suite.results.outcomes import FAILED, INTERRUPTED
from suite.results.speedup.verdicts import Speedup
from suite.results.store.result_set import ResultSet
from suite.stacks.catalog import IMPORTS, STACKS, environment_of

BLOCKS = (5, 10, 20)  # of one run each: the next where nothing was decided


class Interrupted(Exception):
    """Ctrl-C in one of the runs, which has said what is kept."""


@dataclass
class Search:
    """One stack on one question; `options` have all of it but the stacks. `told` is what was seen of each release."""

    options: Options
    stack: str
    good: str
    threshold: float
    python: str | None
    force: bool
    told: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> str:
        """Whose variants are made."""
        return STACKS[self.stack].environment

    @property
    def package(self) -> str:
        """Whose releases are tried."""
        return IMPORTS.get(self.environment, (self.environment,))[0]

    @property
    def folder(self) -> Path:
        """Of the sets of this search, whoever asks for it again."""
        asked = replace(self.options, results="").command() + f" {self.threshold} {self.python}"
        digest = hashlib.sha256(asked.encode()).hexdigest()[:8]
        return Path(self.options.results) / f"bisect-{self.stack}-{self.good}-{digest}"

    def run(self, names: Sequence[str]) -> Bisection:
        """Until the first slower release is bracketed. Raises UserError where the good one can't be had."""
        if reason := self.lacking(self.good):
            raise UserError(f"{self.stack}@{self.good}, which the others are held against, can't be had: {reason}")
        bisection = Bisection(names)
        while (release := bisection.next()) is not None:
            bisection.found[release] = self.judge(release)
            say(f"{self.stack}@{release}: {bisection.found[release]}, {self.told[release]}")
        return bisection

    def lacking(self, release: str) -> str | None:
        """Make the variant of a release, unless it is there; why that can't be done."""
        name = environment_of(self.stack, release)
        if self.environment == locks.ORCHESTRATOR:
            return None  # tests' versions are scenes
        try:
            if locks.lock_sha256(name, self.options.target) is None:
                wanted = [f"{self.package}=={release}"]
                variants.create(self.environment, release, self.options.target, wanted, (), self.python)
            venv.ensure(name, self.options.target)
        except UserError as refused:
            return str(refused).splitlines()[0]
        return self.unlike(name, release)

    def unlike(self, name: str, release: str) -> str | None:
        """Why a variant that was there can't stand beside the others: another release, or another interpreter, which
        would be compared with theirs as well."""
        pins = locks.pins(locks.lock_path(name, self.options.target).read_text(encoding="utf-8"))
        python = self.python or locks.python_of(self.environment, self.options.target)
        found = pins.get(self.package.replace("_", "-"), pins.get(self.package))
        if found == release and pins["python"] == python:
            return None
        return f"the lock of {name} has {self.package} {found} on Python {pins['python']}, not {release} on {python}"

    def judge(self, release: str) -> Finding:
        """By as many blocks as it takes."""
        if reason := self.lacking(release):
            self.told[release] = reason
            return Finding.SKIPPED
        for blocks in BLOCKS:
            speedup = self.measured(release, blocks)
            if speedup is None or speedup.ratio.low is None or speedup.ratio.high is None:
                self.told[release] = "it has no time to compare"
                return Finding.SKIPPED
            least, most = 1 / speedup.ratio.high, 1 / speedup.ratio.low
            ratio = 1 / speedup.ratio.value
            self.told[release] = f"{ratio:.3f}× [{least:.3f}, {most:.3f}] of the time of {self.good}, {blocks} blocks"
            if speedup.verdict == "slower" and ratio >= self.threshold:
                return Finding.SLOWER
            if most < self.threshold:
                return Finding.NOT_SLOWER
        return Finding.UNDECIDED

    def measured(self, release: str, blocks: int) -> Speedup | None:
        """A release over the good one, in one run of so many blocks: a whole set that is there, one that is completed,
        or a new one. Raises UserError for more than one question."""
        folder = self.folder / f"{release}-{blocks}"
        begun = newest(folder)
        if begun is None:
            both = tuple(f"{self.stack}@{each}" for each in (self.good, release))
            asked = replace(self.options, stack=both, baseline=both[0], repeats=str(blocks), results=str(folder))
            code = commands.run(asked, None, (), force=self.force, dry_run=False, as_json=False)
        elif not ResultSet.open(begun).is_whole:
            code = commands.run(Options(), str(begun), (), force=self.force, dry_run=False, as_json=False)
        else:
            code = 0
        if code == INTERRUPTED:
            raise Interrupted
        analysis = results.load(newest(folder) or folder).analysis()
        if len(analysis.comparisons) != 1:
            raise UserError(
                f"One question is searched for at a time, and these are {len(analysis.comparisons)}: say "
                "--workload, --pass and --size."
            )
        return next((each for each in analysis.speedups if each.stack == f"{self.stack}@{release}"), None)


def newest(folder: Path) -> Path | None:
    """The set that was begun last; names begin with their time."""
    sets = [plan.parent for plan in folder.glob("*/plan.json") if not plan.parent.is_symlink()]
    return max(sets, default=None)


def bisect(
    options: Options,
    stack: str | None,
    good: str | None,
    bad: str | None,
    threshold: str,
    names: str | None,
    python: str | None,
    *,
    force: bool,
) -> int:
    """`./stackwars bisect`. The exit code: 0 where a slower release is bracketed, 3 where the bad one isn't slower."""
    if not (stack and good and bad):
        raise UserError("A search is for --stack=jax_jit from --good=0.10.2 to --bad=0.12.0.1.")
    if stack not in STACKS:
        raise unknown("stack", stack, STACKS)
    try:
        least = float(threshold)
    except ValueError:
        least = 0.0
    if not least > 1:
        raise UserError(f"--threshold={threshold}: a factor above 1, like 1.1 for a tenth slower.")
    search = Search(options, stack, good, least, python, force)
    known = [each.strip() for each in (names or "").split(",") if each.strip()]
    if not known:
        version = python or locks.python_of(search.environment, options.target)
        known = releases.between(search.package, good, bad, version, options.target)
    if good not in known or bad not in known or known.index(good) >= known.index(bad):
        raise UserError(f"--releases names the good one, {good}, before the bad one, {bad}.")
    known = known[known.index(good) : known.index(bad) + 1]
    say(f"{len(known)} releases: {', '.join(known)}. Sets in {search.folder}")
    try:
        return concluded(search, search.run(known))
    except Interrupted:
        say("The same command goes on from here.")
        return INTERRUPTED


def concluded(search: Search, bisection: Bisection) -> int:
    """What was found, in a table and a sentence. The exit code."""
    lines = [
        [
            release,
            str(bisection.found.get(release, "good" if release == search.good else "not tried")),
            search.told.get(release, ""),
        ]
        for release in bisection.releases
    ]
    print_table(f"{search.stack}, releases of {search.package}", ["release", "found", "why"], lines)
    first, last = bisection.slower, bisection.not_slower
    if first is None:
        bad = bisection.releases[-1]
        print(f"{bad} isn't slower than {search.good} by {search.threshold:g}: nothing to search for.")
        return FAILED
    print(
        f"{first} is the first release that is slower than {search.good}, {search.told[first]}; {last} isn't yet.",
        f"Nothing is known of {', '.join(bisection.between)} between them." if bisection.between else "",
    )
    return 0
