"""Jobs as text: a plan's shards for SkyPilot, Kubernetes and Slurm, by the templates in cloud/. Nothing is started."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from suite.cluster.accelerators import FILE, Accelerator
from suite.environments.images import official_base
from suite.environments.locks import ORCHESTRATOR, python_of
from suite.errors import UserError, unknown

FOLDER = FILE.parent
SKYPILOT, KUBERNETES, SLURM = SCHEDULERS = ("skypilot", "kubernetes", "slurm")
SLACK = 3  # times the longest estimate, after which a run is taken to hang
SETUP_SECONDS = 3600  # for installing, which scheduler's clocks count too
# A shell, YAML and Kubernetes each read what stands in a job, and each expands some of these.
REFUSED = re.compile(r"[$\\`]")
NAME_MAX = 40  # Kubernetes puts an index behind it and allows 63


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is rendered: the run's command, where its source and results are, on what, and how long at most.

    `run` is a shell's words. Empty `archive` and `repository` are filled in by whoever starts it; `image` empty: none.
    """

    preset: str
    accelerator: Accelerator
    shards: int
    run: str
    archive: str
    repository: str
    revision: str
    image: str
    limit_seconds: int

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, str):
                check_plain(field.name, value)

    @property
    def target(self) -> str:
        """Hardware class."""
        return self.accelerator.target

    @property
    def name(self) -> str:
        """Of letters, digits and dashes alone, as all three schedulers take them."""
        plain = re.sub(r"[^a-z0-9]+", "-", f"stack-wars-{self.preset}-{self.target}".lower())
        return plain[:NAME_MAX].strip("-")

    @property
    def wall_seconds(self) -> int:
        """What a scheduler allows, installing included."""
        return self.limit_seconds + SETUP_SECONDS

    @property
    def wall_clock(self) -> str:
        """The same as Slurm reads it: hours:minutes:seconds."""
        minutes, seconds = divmod(self.wall_seconds, 60)
        return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"


def check_plain(kind: str, text: str) -> None:
    """Raises UserError for text that couldn't stand in a shell's line and in YAML as it is."""
    if not text.isprintable():
        raise UserError(
            f"{kind} {text[:60]!r} has a line break or a character that can't be seen, which no job's file can hold."
        )
    found = REFUSED.search(text)
    if found:
        raise UserError(
            f"{kind} {text[:60]!r} has {found[0]!r}, which a shell or Kubernetes would expand in the job: "
            "do without it."
        )


def render(job: Job, schedulers: Collection[str] = SCHEDULERS) -> dict[str, str]:
    """{name of a file: its text}: one for each shard for SkyPilot, one for all for the others."""
    for scheduler in schedulers:
        if scheduler not in SCHEDULERS:
            raise unknown("scheduler", scheduler, SCHEDULERS)
    check_place(job, schedulers)
    made: dict[str, str] = {}
    if SKYPILOT in schedulers:
        for shard in range(1, job.shards + 1):
            made |= one("skypilot.yaml", f"skypilot-{shard}-of-{job.shards}.yaml", job, shard=shard)
    if KUBERNETES in schedulers:
        base = official_base(python_of(ORCHESTRATOR, job.target))
        made |= one("kubernetes.yaml", "kubernetes.yaml", job, base=base)
    if SLURM in schedulers:
        made |= one("slurm.sh", "slurm.sh", job)
    return made


def check_place(job: Job, schedulers: Collection[str]) -> None:
    """Raises UserError for an archive that would go with the machine that wrote it."""
    leaving = [each for each in schedulers if each != SLURM]
    if job.archive and not job.archive.startswith(("s3://", "gs://")) and leaving:
        raise UserError(
            f"--to={job.archive} is a folder of a machine that is gone when its shard is done: "
            f"{' and '.join(leaving)} need s3:// or gs://. A folder that all nodes see is for "
            f"--on={SLURM}."
        )


def one(template: str, file: str, job: Job, **more: Any) -> Mapping[str, str]:
    """One file. Raises UndefinedError for a word that a template uses and nobody gives."""
    return {
        file: templates().get_template(f"{template}.j2").render(job=job, accelerator=job.accelerator, file=file, **more)
    }


@lru_cache(maxsize=1)
def templates() -> Environment:
    """The templates, with a filter for each language that a value may stand in."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["sh"] = shlex.quote
    environment.filters["yaml"] = lambda value: json.dumps(value, ensure_ascii=False)  # JSON is YAML
    return environment
