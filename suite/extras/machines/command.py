"""`./stackwars cloud`: writes a job for each shard of a plan, to be run on other machines, and estimates its time and
cost. It starts none of them. `./stackwars collect` puts their results into one set."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from suite import units
from suite.cli.measure.carry_out import say_latest
from suite.cli.options import CaseOptions, RunOptions, command
from suite.cli.sets.naming import named
from suite.cli.terminal.output import Columns, print_columns, print_json
from suite.cli.values import Json, Names, Origin, ResultsFolder, Several, Whole
from suite.environments import ROOT, say
from suite.environments.checkout import git, project_address, public_address, revision
from suite.errors import UserError
from suite.extras.archive import listing
from suite.extras.archive.storage import check_address
from suite.extras.archive.web import storage_of
from suite.extras.machines import cloud as jobs
from suite.extras.machines import collect as shares
from suite.extras.machines import estimate
from suite.extras.machines.accelerators import Accelerator, find
from suite.extras.machines.cloud import SCHEDULERS, SLACK, SLURM, CloudJob
from suite.extras.machines.estimate import ShardEstimate
from suite.page.formats.render import render
from suite.plan.planning import make
from suite.results import load
from suite.results.outcomes import exit_code
from suite.run.start import engines
from suite.run.start.prepare import check_selected, with_variants
from suite.sets.files import check_writable
from suite.sets.plan import Plan
from suite.sets.rows import Row
from suite.stacks.catalog import add as add_stacks
from suite.workloads.catalog import Workload
from suite.workloads.catalog import find as find_workloads

SHARD_COLUMNS: Columns[dict[str, Any]] = {
    "shard": lambda shard: str(shard["number"]),
    "comparisons": lambda shard: str(shard["comparisons"]),
    "processes": lambda shard: str(shard["processes"]),
    "time": lambda shard: units.duration(shard["seconds"]),
    "at most": lambda shard: units.duration(shard["most_seconds"]),
    "cost": lambda shard: dollars(shard["usd"]),
    "cost at most": lambda shard: dollars(shard["most_usd"]),
    "estimated by": lambda shard: estimated_by(shard["known"], shard["processes"]),
}
SHARDS_MAX = 9999


@dataclass(frozen=True, kw_only=True)
class CloudOptions(CaseOptions):
    """The options of `cloud`: those of a run that a job can have, and where the jobs run."""

    accelerator: str | None = None
    """the machine of each job, by its name in cloud/accelerators.toml (default: the target's first)"""
    preset: str = "quick"
    """the preset, which has the questions and stacks: a name (./stackwars list)"""
    repeats: Whole | None = None
    """run exactly this many blocks"""
    shards: Whole = 1
    """the number of machines, each of which measures its share of the plan's comparisons"""
    to: str | None = None
    """the archive of the shards' result sets: s3://bucket/prefix or gs://bucket/prefix; on Slurm also a folder"""
    price: float | None = None
    """US dollars for an hour of one machine, like 2.70, to estimate the cost with"""
    on: Names = ()
    """skypilot, kubernetes, slurm or cloud-init (default: all)"""
    repository: str | None = None
    """the address that jobs clone this repository from (default: this checkout's origin)"""
    image_registry: str | None = None
    """the registry of an image made from cloud/Dockerfile: jobs start from it and install nothing"""
    results: str = "results"
    """the folder of the result sets to estimate from"""
    from_: Origin = None
    """estimate from the result sets of this archive (default: from those in --results)"""
    write: bool = False
    """write the jobs' files, in place of printing them"""
    out: str = "cloud-jobs"
    """with --write: the folder for the files"""
    json: Json = False

    @property
    def run(self) -> RunOptions:
        """Returns the options of the run that each job makes a share of."""
        return RunOptions(**self.as_fields(CaseOptions), preset=self.preset, repeats=self.repeats)


def cloud(*, options: CloudOptions = CloudOptions()) -> None:
    """Plans the shards, estimates their time and cost, and prints or writes the jobs' files."""
    accelerator = find(options.accelerator, options.target)
    refuse(options)
    options = replace(options, stack_path=tuple(map(committed, options.stack_path)))
    add_stacks(ROOT / path for path in options.stack_path)
    workloads = find_workloads()
    plan = planned(options, accelerator, workloads)
    known = estimate.wall_seconds(earlier(Path(options.results), options.from_, options.target))
    estimates = estimate.shards_of(plan, options.shards, workloads, known)
    job = job_of(options, accelerator, estimates)
    files = jobs.render(job, options.on or SCHEDULERS)
    written = keep(files, Path(options.out)) if options.write else []
    shards = [shard_json(shard, options.price) for shard in estimates]
    if options.json:
        blocks = {"blocks": plan.protocol.blocks, "blocks_max": plan.protocol.blocks_max}
        kept = {"written": [*map(str, written)], "files": {} if options.write else files}
        print_json({"shards": shards, **blocks, "usd_an_hour": options.price, **kept})
    else:
        for path in written:
            print(path)
        if not options.write:
            show(files)
        print_estimate(shards, plan, options.price)
    for sentence in warnings(job, options.on or SCHEDULERS):
        say(sentence)


def refuse(options: CloudOptions) -> None:
    """Raises UserError for a number that is out of range, for a preset that the jobs' machines don't have, and for an
    address with a secret, which would stand in the jobs' files."""
    if not 1 <= options.shards <= SHARDS_MAX:
        raise UserError(f"--shards={options.shards} isn't understood: a whole number from 1 to {SHARDS_MAX}.")
    if options.price is not None and not 0 <= options.price < math.inf:
        raise UserError(f"--price={options.price} isn't understood. Write US dollars an hour like --price=2.70.")
    if options.preset.endswith(".toml"):
        raise UserError(
            f"--preset={options.preset}: a job has only this repository's presets. Commit the file to presets/ "
            "and give its name."
        )
    if options.to and "://" in options.to:
        check_address(options.to)
    if options.repository and "://" in options.repository and public_address(options.repository) != options.repository:
        raise UserError(
            "--repository must be an https:// address without a password: the jobs' files contain it, others may read "
            "them, and jobs clone without a password."
        )


def committed(path: str) -> str:
    """Returns the path of a stack relative to the root of this repository, as a job names it. Raises UserError if the
    file or folder isn't committed, or has uncommitted changes."""
    file = Path(path).resolve()
    inside = str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else ""
    if not inside or not git("ls-files", "--", inside) or git("status", "--porcelain", "--", inside).strip():
        raise UserError(
            f"--stack-path={path}: a job has only the files that this repository has committed. Commit the stack with "
            "all its changes, and give its path in the repository."
        )
    return inside


def planned(options: CloudOptions, accelerator: Accelerator, workloads: dict[str, Workload]) -> Plan:
    """Returns the plan as the jobs' machines will make it: with the accelerator's devices and cores, not this
    machine's. It assumes that those machines have everything that the locks need."""
    preset = options.run.chosen_preset()
    selection = with_variants(options.run.selection(range(accelerator.cores)), preset)
    plan = make("cloud", preset, selection, workloads, None, engines.unlocked)
    check_selected(plan, options.target)
    if all(case.unsupported for case in plan.cases):
        raise UserError(f"Nothing of this plan can run on {options.target}: {plan.cases[0].unsupported}.")
    return plan


def earlier(results: Path, origin: str | None, target: str) -> list[Row]:
    """Returns the rows of every whole set of a target, from `results` or from the archive `origin` if it is given, with
    the columns that an estimate needs."""
    storage = storage_of(origin)
    sets = [
        entry
        for entry in listing.sets_of(storage, results)
        if not entry.trouble and entry.facts.get("target") == target
    ]
    return [row for entry in sets for row in listing.rows_of(entry, storage, estimate.COLUMNS)]


def job_of(options: CloudOptions, accelerator: Accelerator, shards: Sequence[ShardEstimate]) -> CloudJob:
    """Returns the values that the jobs' templates need. Raises UserError outside a git checkout."""
    commit = revision()
    if not commit:
        raise UserError("This folder is no git checkout, so the jobs' files can't name the revision to run.")
    registry = (options.image_registry or "").rstrip("/")
    return CloudJob(
        preset=options.preset,
        accelerator=accelerator,
        shards=len(shards),
        # The job's file itself chooses the folder of results. Its environments are installed or in its image, so it
        # starts no containers.
        run=command(options.run.given(engine=engines.LOCAL)),
        archive=options.to or "",
        repository=options.repository or project_address(),
        revision=commit,
        image=f"{registry}/stackwars/job-{options.target}:{commit[:12]}" if registry else "",
        limit_seconds=max(3600, round(SLACK * estimate.longest(shards))),
    )


def keep(files: dict[str, str], out: Path) -> list[Path]:
    """Deletes an earlier plan's jobs' files and writes the new ones. Returns their paths."""
    check_writable(out, "--out")
    for pattern in ("skypilot-*-of-*.yaml", "kubernetes.yaml", "slurm.sh", "cloud-init-*-of-*.sh"):
        for stale in out.glob(pattern):
            stale.unlink()
    for name, text in files.items():
        (out / name).write_text(text, encoding="utf-8")
    return [out / name for name in files]


def show(files: dict[str, str]) -> None:
    """Prints the jobs' files. Of those of single shards it prints only the first, since they differ only in SHARD."""
    alike = [name for name in files if re.fullmatch(r".*-(?!1-)\d+-of-\d+\.\w+", name)]
    for name, text in files.items():
        if name not in alike:
            print(f"==> {name} <==\n{text}")
    if alike:
        print(f"{', '.join(alike)}: the same with another SHARD.\n")


def shard_json(shard: ShardEstimate, price: float | None) -> dict[str, Any]:
    """Returns one shard's estimate as JSON; costs are in US dollars, null without a price."""
    costs = [None if price is None else price * seconds / 3600 for seconds in (shard.seconds, shard.most_seconds)]
    return asdict(shard) | {"usd": costs[0], "most_usd": costs[1]}


def print_estimate(shards: Sequence[dict[str, Any]], plan: Plan, price: float | None) -> None:
    print_columns("Estimate", SHARD_COLUMNS, shards, numbers=SHARD_COLUMNS.keys() - {"estimated by"})
    blocks = plan.protocol.blocks, plan.protocol.blocks_max
    print(
        f"Times are for {blocks[0]} block(s), 'at most' for {blocks[1]}, without installing. Rough estimates assume a "
        "small machine without an accelerator."
    )
    if price is None:
        print("No cost is estimated: give what an hour of one machine costs in US dollars, like --price=2.70.")
    else:
        least, most = (sum(shard[key] for shard in shards) for key in ("usd", "most_usd"))
        print(f"All shards: {dollars(least)}, {dollars(most)} at most, at {dollars(price)} an hour, as given.")


def dollars(usd: float | None) -> str:
    return units.UNKNOWN if usd is None else f"{usd:,.2f} USD"


def estimated_by(known: int, of: int) -> str:
    rest = "; the rest rough" if known < of else ""
    return f"earlier sets: {known} of {of} processes{rest}" if known else "rough"


def warnings(job: CloudJob, schedulers: Sequence[str]) -> list[str]:
    """Returns what to do before a job can start, and a warning if jobs would run without uncommitted changes."""
    sentences = []
    if not job.archive:
        sentences.append(
            "No --to is given: ARCHIVE is empty in these files, and a job refuses to start until it names where "
            "results go."
        )
    if not job.repository and not job.image and set(schedulers) - {SLURM}:  # Slurm's jobs run in a shared checkout
        sentences.append(
            "This checkout's origin is no address that others could clone, so REPOSITORY is empty in these files; "
            "--repository=URL fills it in."
        )
    if git("status", "--porcelain").strip():
        sentences.append(f"This checkout has uncommitted changes: jobs run {job.revision[:12]} without them.")
    return sentences


def collect(set: Several = (), *, stack_path: tuple[str, ...] = (), results: ResultsFolder = "results") -> int:
    """Puts shares together and renders the report. Returns the exit code that a single run with the same rows would
    return.

    :param set: the result sets of the shares: `collect A B`
    :param stack_path: your copy of the shares' own stacks, a file or folder; their code is never taken from the shares
    """
    add_stacks(map(Path, stack_path))
    folder = Path(results)
    store = shares.collect([named(name, folder) for name in set], folder)
    page = render(store.folder)
    store.make_latest()
    say_latest(store)
    print(f"{store.folder}  {len(store.plan_file.collected)} shares, {len(store.plan.cases)} cases\nReport: {page}")
    return exit_code(load(store.folder).rows)
