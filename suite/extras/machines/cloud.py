"""Renders the job files with which SkyPilot, Kubernetes, Slurm and single machines (cloud-init) run the shards of a
plan. The templates are in cloud/. It starts no job."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from suite.environments.images import official_base
from suite.environments.locks import ORCHESTRATOR, newest
from suite.errors import UserError, check_known
from suite.extras.machines.accelerators import FILE, Accelerator

FOLDER = FILE.parent
SKYPILOT, KUBERNETES, SLURM, CLOUD_INIT = SCHEDULERS = ("skypilot", "kubernetes", "slurm", "cloud-init")
SLACK = 3  # a run that takes this many times its longest estimate counts as hung, and is ended
SETUP_SECONDS = 3600  # for installing, which a scheduler's time limit includes
REFUSED = re.compile(r"[$\\`]")  # characters that a shell, YAML or Kubernetes would expand in a job's text
NAME_MAX = 40  # Kubernetes appends an index and allows 63


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudJob:
    """The values that the templates of a job use: its command, its source, where it archives results, its machine and
    its time limit.

    `run` is a shell command. If `archive` or `repository` is empty, whoever starts the job fills it in. If `image` is
    empty, the job has no image and installs its environments.
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
        return self.accelerator.target

    @property
    def name(self) -> str:
        """Returns the job's name, which has only letters, digits and dashes, so that all three schedulers accept it."""
        plain = re.sub(r"[^a-z0-9]+", "-", f"stack-wars-{self.preset}-{self.target}".lower())
        return plain[:NAME_MAX].strip("-")

    @property
    def wall_seconds(self) -> int:
        """Returns the job's time limit for a scheduler, which includes installing."""
        return self.limit_seconds + SETUP_SECONDS

    @property
    def wall_clock(self) -> str:
        """Returns `wall_seconds` as Slurm reads it: hours:minutes:seconds."""
        minutes, seconds = divmod(self.wall_seconds, 60)
        return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"


def check_plain(kind: str, text: str) -> None:
    """Raises UserError for text that can't stand unchanged in a shell command and in YAML."""
    if not text.isprintable():
        raise UserError(
            f"{kind} {text[:60]!r} has a line break or a character that can't be printed, which a job file can't have."
        )
    refused = REFUSED.search(text)
    if refused:
        raise UserError(
            f"{kind} {text[:60]!r} has {refused[0]!r}, which a shell or Kubernetes would expand in the job: "
            "leave it out."
        )


def render(job: CloudJob, schedulers: Collection[str] = SCHEDULERS) -> dict[str, str]:
    """Returns {file name: text} of the job files: for SkyPilot and cloud-init one for each shard, for the others one
    for all shards. Raises UserError for an unknown scheduler, and if the archive would be deleted with a machine."""
    for scheduler in schedulers:
        check_known("scheduler", scheduler, SCHEDULERS)
    check_place(job, schedulers)
    texts: dict[str, str] = {}
    for shard in range(1, job.shards + 1):
        if SKYPILOT in schedulers:
            texts |= rendered("skypilot.yaml", f"skypilot-{shard}-of-{job.shards}.yaml", job, shard=shard)
        if CLOUD_INIT in schedulers:
            texts |= rendered("cloud-init.sh", f"cloud-init-{shard}-of-{job.shards}.sh", job, shard=shard)
    if KUBERNETES in schedulers:
        base = official_base(newest(ORCHESTRATOR, job.target).python)
        texts |= rendered("kubernetes.yaml", "kubernetes.yaml", job, base=base)
    if SLURM in schedulers:
        texts |= rendered("slurm.sh", "slurm.sh", job)
    return texts


def check_place(job: CloudJob, schedulers: Collection[str]) -> None:
    """Raises UserError if the archive is a folder that would be deleted with the machine that wrote it."""
    deleting = [scheduler for scheduler in schedulers if scheduler != SLURM]
    if job.archive and not job.archive.startswith(("s3://", "gs://")) and deleting:
        raise UserError(
            f"--to={job.archive} would be a folder on a machine that is deleted when its shard is done. For "
            f"{' and '.join(deleting)} it must begin with s3:// or gs://; a folder that all nodes share works with "
            f"--on={SLURM}."
        )


def rendered(template: str, file: str, job: CloudJob, **more: Any) -> Mapping[str, str]:
    return {
        file: templates().get_template(f"{template}.j2").render(job=job, accelerator=job.accelerator, file=file, **more)
    }


@lru_cache(maxsize=1)
def templates() -> Environment:
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
