"""`./stackwars setup`, `build`, `base-image` and `images`: make and list the environments in which cases run."""

from __future__ import annotations

import datetime
from dataclasses import asdict
from pathlib import Path

from suite import units
from suite.case import TARGETS
from suite.cli.options.project import BaseImageOptions, BuildOptions, ImagesOptions, SetupOptions
from suite.cli.terminal.console import print_table
from suite.cli.terminal.output import print_json
from suite.cluster.schedule import CLUSTER
from suite.environments import base_image, images, pythons, say, venv
from suite.environments.locks import Locks, all_locks
from suite.environments.locks import names as environment_names
from suite.errors import UserError, unknown
from suite.machine import facts
from suite.run.predictions import ENVIRONMENT

# Environments that tests before a release need beside those of the stacks, with their targets.
RELEASE = (("oracle", "test"), ("skypilot", "test"), ("ray", CLUSTER), (ENVIRONMENT, ENVIRONMENT))
# These are tested from their oldest lock as well: a machine with an older Python runs that.
OLDEST = {name: all_locks(name, "cpu")[-1] for name in ("jax", "torchax")}


def set_up(options: SetupOptions) -> None:
    """Makes every environment of a target. If the Python of some can't be installed, makes all others, then raises
    UserError."""
    target = options.target
    facts.refuse_platform()
    if target not in (known := (*TARGETS, CLUSTER, ENVIRONMENT)):
        raise unknown("target", target, known)
    refused = venv.get_pythons(environment_names(target), target, again=True)
    lacking = [name for name in environment_names(target) if refused and pythons.lacking(name, target)]
    makeable = [name for name in environment_names(target) if name not in lacking]
    for sentence in venv.fallbacks(makeable, venv.fitting(makeable, Locks(target))):
        say(sentence)
    for name in makeable:
        venv.ensure(name, target)
    if refused:
        refused.append(f"Environments that couldn't be made: {', '.join(lacking)}. All others are ready.")
        raise UserError("\n".join(refused))


def make_for_tests(*, release: bool) -> dict[str, str]:
    """Makes the environments that the tests need, with `release` also those of the tests that only a release needs.
    Returns {environment: reason} of those that can't be made."""
    wanted: list[tuple[str, str, Path | None]] = [(name, "cpu", None) for name in environment_names("cpu")]
    if release:
        wanted += [(name, target, None) for name, target in RELEASE]
        wanted += [(name, "cpu", lock) for name, lock in OLDEST.items()]
    lacking = {}
    for name, target, lock in wanted:
        try:
            venv.ensure(name, target, lock)
        except UserError as refused:
            lacking[lock.stem if lock else name] = str(refused).splitlines()[0]
    return lacking


def build_images(options: BuildOptions) -> None:
    """Builds the images of the environments in the options, by default of all environments of a target. An image that
    is built already is kept, unless `--base` is given."""
    target, base = options.target, options.base
    if target not in TARGETS:
        raise unknown("target", target, TARGETS)
    client = images.connect()
    for name in options.environment or environment_names(target):
        if base is None and images.find(client, name, target) is not None:
            say(f"{images.tag(name, target)} is already built")
        else:
            images.build(client, name, target, base)


def make_base_images(options: BaseImageOptions) -> None:
    """Makes base images by debootstrap, and prints their tags."""
    client = images.connect()
    for version in options.python or base_image.RELEASES:
        print(base_image.make(client, version, options.mirror, say))


def print_images(options: ImagesOptions) -> None:
    """Lists the images that are built; with --prune, removes and lists those that aren't of a newest lock."""
    client = images.connect()
    listed = images.prune(client) if options.prune else list(images.built(client))
    if options.json:
        objects = [asdict(image) | {"created": image.created.isoformat()} for image in listed]
        print_json({"removed": options.prune, "images": objects})
        return
    now = datetime.datetime.now(datetime.UTC)
    rows = [
        [
            image.tag,
            f"{image.size_bytes / 1e6:.0f} MB",
            image.lock_sha256[:12],
            units.age((now - image.created).total_seconds()),
            "yes" if image.current else "no: its lock has changed",
        ]
        for image in listed
    ]
    print_table("Removed images" if options.prune else "Images", ["image", "size", "lock", "age", "current"], rows)
