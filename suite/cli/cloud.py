"""`./stackwars cloud`: a plan's shards as jobs for other machines, and what they may take. Nothing is started."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from suite import units
from suite.archive import listing
from suite.archive.place import Place, check_address
from suite.cli.console import print_table
from suite.cli.options import Options
from suite.cli.output import print_json
from suite.cluster import estimate
from suite.cluster.accelerators import Accelerator, find
from suite.cluster.cloud import SCHEDULERS, SLACK, SLURM, Job, render
from suite.cluster.estimate import Expected
from suite.environments import say
from suite.environments.checkout import git
from suite.environments.images import public_address
from suite.environments.locks import lock_sha256, variants
from suite.errors import UserError, unknown
from suite.plan.plan import Plan
from suite.plan.planning import make
from suite.plan.preset import Preset
from suite.results.store.files import check_writable
from suite.results.store.rows import Row
from suite.run import engines
from suite.run.start import with_variants
from suite.stacks.catalog import environment_of
from suite.workloads.catalog import Workload
from suite.workloads.catalog import find as find_workloads

HEADS = ["shard", "comparisons", "processes", "time", "at most", "cost", "cost at most", "estimated by"]
PRICE = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options of `./stackwars cloud` beside those of the run, as typed."""

    accelerator: str | None = None
    shards: str = "1"
    to: str | None = None
    price: str | None = None
    on: Sequence[str] = ()
    repository: str | None = None
    image_registry: str | None = None
    origin: str | None = None


def cloud(options: Options, asked: Asked, out: Path, *, write: bool, as_json: bool) -> None:
    """Plan, estimate and render; print the files, or write them."""
    accelerator, price = find(asked.accelerator, options.target), price_of(asked.price)
    check_secrets(asked)
    preset, workloads = shipped(options), find_workloads()
    plan = planned(preset, options, accelerator, workloads)
    known = estimate.wall_seconds(earlier(Path(options.results), asked.origin, options.target))
    shards = estimate.shards_of(plan, count_of(asked.shards), workloads, known)
    job = job_of(options, asked, accelerator, shards)
    files = render(job, asked.on or SCHEDULERS)
    written = keep(files, out) if write else []
    if as_json:
        print_json(
            {
                "shards": [shard_json(each, price) for each in shards],
                "blocks": plan.protocol.blocks,
                "blocks_max": plan.protocol.blocks_max,
                "usd_an_hour": price,
                "written": [*map(str, written)],
                "files": {} if write else files,
            }
        )
    else:
        for path in written:
            print(path)
        if not write:
            show(files)
        tell(shards, plan, price)
    for sentence in warnings(job, asked.on or SCHEDULERS):
        say(sentence)


def check_secrets(asked: Asked) -> None:
    """Raises UserError for what must not stand in a file that is passed on."""
    if asked.to and "://" in asked.to:
        check_address(asked.to)
    if asked.repository and "://" in asked.repository and public_address(asked.repository) != asked.repository:
        raise UserError(
            "--repository: An address with a secret in it, or one that isn't https://, would stand in "
            "files that are passed on: jobs clone without a password."
        )


def shipped(options: Options) -> Preset:
    """The preset. Raises UserError for a file that the machines of the jobs wouldn't have."""
    if options.preset.endswith(".toml"):
        raise UserError(
            f"--preset={options.preset}: a job has this repository's presets alone. Commit it to presets/ "
            "and give its name."
        )
    return options.chosen_preset()


def planned(preset: Preset, options: Options, accelerator: Accelerator, workloads: dict[str, Workload]) -> Plan:
    """The plan as it will be there: nothing is taken from this machine, of which the jobs need neither devices nor
    cores. A machine of that kind is taken to have all that the locks ask for."""
    selection = options.selection(range(accelerator.cores))
    plan = make("cloud", preset, with_variants(selection, preset), workloads, options.baseline, engines.unlocked)
    for name in {environment_of(each.case.stack, each.case.variant) for each in plan.cases if each.case.variant}:
        if lock_sha256(name, options.target) is None:
            raise unknown(f"lock or flags on {options.target} for the variant", name, variants(options.target))
    if not plan.cases:
        raise UserError("Nothing is selected: no workload of the preset matches the options.")
    if all(each.unsupported for each in plan.cases):
        raise UserError(f"Nothing of this plan can run on {options.target}: {plan.cases[0].unsupported}.")
    return plan


def earlier(results: Path, origin: str | None, target: str) -> list[Row]:
    """Rows of every whole set of a target, here or in an archive, for their times alone."""
    place = Place.of(origin) if origin else None
    found = listing.of_place(place) if place else listing.here(results)
    sets = [each for each in found if not each.trouble and each.facts.get("target") == target]
    return [row for each in sets for row in listing.rows_of(each, place, estimate.COLUMNS)]


def count_of(text: str) -> int:
    """`--shards`."""
    if not re.fullmatch(r"[1-9]\d{0,3}", text):
        raise UserError(f"--shards={text} isn't understood: a whole number from 1 on.")
    return int(text)


def price_of(text: str | None) -> float | None:
    """`--price`, in US dollars for an hour of one machine."""
    if text is not None and not PRICE.fullmatch(text):
        raise UserError(f"--price={text} isn't understood. Write US dollars an hour like --price=2.70.")
    return None if text is None else float(text)


def job_of(options: Options, asked: Asked, accelerator: Accelerator, shards: Sequence[Expected]) -> Job:
    """The facts that the templates are given."""
    revision = git("rev-parse", "HEAD").strip()
    if not revision:
        raise UserError("This folder is no git checkout: jobs couldn't be told which revision to run.")
    registry = (asked.image_registry or "").rstrip("/")
    return Job(
        preset=options.preset,
        accelerator=accelerator,
        shards=len(shards),
        # Where results go is the job's own affair, and its environments are made or in its image: no engine is chosen.
        run=replace(options, results=Options().results, engine=engines.LOCAL).command(),
        archive=asked.to or "",
        repository=asked.repository or public_address(git("remote", "get-url", "origin").strip()),
        revision=revision,
        image=f"{registry}/stackwars/job-{options.target}:{revision[:12]}" if registry else "",
        limit_seconds=max(3600, round(SLACK * estimate.longest(shards))),
    )


def keep(files: dict[str, str], out: Path) -> list[Path]:
    """Write them, in place of those of an earlier plan; where they are."""
    check_writable(out)
    out.mkdir(parents=True, exist_ok=True)
    for stale in (*out.glob("skypilot-*-of-*.yaml"), out / "kubernetes.yaml", out / "slurm.sh"):
        stale.unlink(missing_ok=True)
    for name, text in files.items():
        (out / name).write_text(text, encoding="utf-8")
    return [out / name for name in files]


def show(files: dict[str, str]) -> None:
    """Print them; of SkyPilot's the first, from which the others differ in their number."""
    alike = [name for name in files if re.fullmatch(r"skypilot-(?!1-)\d+-of-\d+\.yaml", name)]
    for name, text in files.items():
        if name not in alike:
            print(f"==> {name} <==\n{text}")
    if alike:
        print(f"{', '.join(alike)}: the same with another SHARD.\n")


def tell(shards: Sequence[Expected], plan: Plan, price: float | None) -> None:
    """The estimate, and what it rests on."""
    print_table("Estimate", HEADS, [line(each, price) for each in shards], numbers=HEADS[:-1])
    blocks = plan.protocol.blocks, plan.protocol.blocks_max
    print(
        f"Times are those of {blocks[0]} block(s), at most of {blocks[1]}; installing isn't in them. Rough: as on a "
        "small machine without accelerator."
    )
    if price is None:
        print("No cost: --price=2.70 says what an hour of one machine costs, in US dollars.")
    else:
        least, most = (
            price * sum(seconds) / 3600
            for seconds in zip(*((each.seconds, each.most_seconds) for each in shards), strict=True)
        )
        print(f"All shards: {least:,.2f} USD, {most:,.2f} USD at most, at {price:,.2f} USD an hour, as given.")


def shard_json(shard: Expected, price: float | None) -> dict[str, Any]:
    """One shard: `known` of its processes are estimated by earlier sets; costs in US dollars, null without a price."""
    costs = [None if price is None else price * each / 3600 for each in (shard.seconds, shard.most_seconds)]
    return asdict(shard) | {"usd": costs[0], "most_usd": costs[1]}


def line(shard: Expected, price: float | None) -> list[str]:
    """One line of the table."""
    times = shard.seconds, shard.most_seconds
    costs = [f"{price * each / 3600:,.2f} USD" if price is not None else units.UNKNOWN for each in times]
    by = f"earlier sets: {shard.known} of {shard.processes} processes" if shard.known else "rough"
    rest = "; the rest rough" if 0 < shard.known < shard.processes else ""
    return [
        str(shard.number),
        str(shard.comparisons),
        str(shard.processes),
        *map(units.duration, times),
        *costs,
        by + rest,
    ]


def warnings(job: Job, schedulers: Sequence[str]) -> list[str]:
    """What is still to be done before a job can start."""
    told = []
    if not job.archive:
        told.append(
            "No --to: ARCHIVE is empty in these files, and a job refuses to start until it says where results go."
        )
    if not job.repository and not job.image and set(schedulers) - {SLURM}:  # Slurm's have the checkout that they see
        told.append(
            "This checkout's origin is no address that others could clone: REPOSITORY is empty in these files; "
            "--repository=URL fills it in."
        )
    if git("status", "--porcelain").strip():
        told.append(f"This checkout has changes that aren't committed: jobs run {job.revision[:12]} without them.")
    return told
