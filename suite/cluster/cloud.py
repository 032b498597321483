"""Writes jobs that run a plan's shards by SkyPilot, Kubernetes and Slurm, from the templates in cloud/. Nothing is
started."""

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
SLACK = 3  # a run is taken to hang after so many times the longest estimate
SETUP_SECONDS = 3600  # for installing, which a scheduler's time limit includes
# A shell, YAML and Kubernetes each read a job's text, and each expands some of these.
REFUSED = re.compile(r"[$\\`]")
NAME_MAX = 40  # Kubernetes appends an index and allows 63


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudJob:
    """What a template needs: the run's command, where its source and results are, on what it runs, and how long at
    most.

    `run` is a shell's words. Whoever starts the job fills in an empty `archive` or `repository`; an empty `image`:
    none.
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
        """Returns the hardware class."""
        return self.accelerator.target

    @property
    def name(self) -> str:
        """Returns the job's name, of letters, digits and dashes alone, as all three schedulers take it."""
        plain = re.sub(r"[^a-z0-9]+", "-", f"stack-wars-{self.preset}-{self.target}".lower())
        return plain[:NAME_MAX].strip("-")

    @property
    def wall_seconds(self) -> int:
        """Returns the time limit for a scheduler, installing included."""
        return self.limit_seconds + SETUP_SECONDS

    @property
    def wall_clock(self) -> str:
        """Returns `wall_seconds` as Slurm reads it: hours:minutes:seconds."""
        minutes, seconds = divmod(self.wall_seconds, 60)
        return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"


def check_plain(kind: str, text: str) -> None:
    """Raises UserError for text that can't stand as it is in a shell's line and in YAML."""
    if not text.isprintable():
        raise UserError(
            f"{kind} {text[:60]!r} has a line break or a character that can't be printed; a job's file can't hold it."
        )
    refused = REFUSED.search(text)
    if refused:
        raise UserError(
            f"{kind} {text[:60]!r} has {refused[0]!r}, which a shell or Kubernetes would expand in the job: "
            "leave it out."
        )


def render(job: CloudJob, schedulers: Collection[str] = SCHEDULERS) -> dict[str, str]:
    """Returns {file name: text}: for SkyPilot a file for each shard, for the others one for all shards."""
    for scheduler in schedulers:
        if scheduler not in SCHEDULERS:
            raise unknown("scheduler", scheduler, SCHEDULERS)
    check_place(job, schedulers)
    texts: dict[str, str] = {}
    if SKYPILOT in schedulers:
        for shard in range(1, job.shards + 1):
            texts |= one("skypilot.yaml", f"skypilot-{shard}-of-{job.shards}.yaml", job, shard=shard)
    if KUBERNETES in schedulers:
        base = official_base(python_of(ORCHESTRATOR, job.target))
        texts |= one("kubernetes.yaml", "kubernetes.yaml", job, base=base)
    if SLURM in schedulers:
        texts |= one("slurm.sh", "slurm.sh", job)
    return texts


def check_place(job: CloudJob, schedulers: Collection[str]) -> None:
    """Raises UserError for an archive that would be deleted with the machine that wrote it."""
    leaving = [scheduler for scheduler in schedulers if scheduler != SLURM]
    if job.archive and not job.archive.startswith(("s3://", "gs://")) and leaving:
        raise UserError(
            f"--to={job.archive} is a folder of a machine that is gone when its shard is done: "
            f"{' and '.join(leaving)} need s3:// or gs://. A folder that all nodes see is for "
            f"--on={SLURM}."
        )


def one(template: str, file: str, job: CloudJob, **more: Any) -> Mapping[str, str]:
    """Returns {file name: text} of one file. Raises UndefinedError for a name that only the template has."""
    return {
        file: templates().get_template(f"{template}.j2").render(job=job, accelerator=job.accelerator, file=file, **more)
    }


@lru_cache(maxsize=1)
def templates() -> Environment:
    """Returns the templates, with a filter for each language in which a value may stand."""
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
