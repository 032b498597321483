"""`./stackwars setup`, `build` and `images`: make and list the environments in which cases run."""

from __future__ import annotations

import datetime
from dataclasses import asdict

from suite import units
from suite.case import TARGETS
from suite.cli import extras
from suite.cli.terminal.output import Columns, print_columns, print_json
from suite.cli.values import Json, Names
from suite.environments import images as built_images
from suite.environments import pythons, say, venv
from suite.environments.locks import Locks, names, newest
from suite.environments.together import make_all
from suite.errors import UserError, check_known
from suite.machine import facts
from suite.run.predictions import ENVIRONMENT
from suite.stacks.catalog import without_requested


def setup(*, target: str = "cpu") -> None:
    """Makes the environments of a target, but for those that are made when a run first asks for their stacks. If the
    Python of some can't be installed, makes all others, then raises UserError.

    :param target: cpu, cuda or tpu; cluster: Ray, which hands out work; predict: accelerators' compilers
    """
    facts.refuse_platform()
    check_known("target", target, (*TARGETS, *extras.targets(), ENVIRONMENT))
    wanted = without_requested(names(target))
    refused = venv.get_pythons(wanted, target, again=True)
    lacking = [name for name in wanted if refused and pythons.lacking(name, target)]
    makeable = [name for name in wanted if name not in lacking]
    for sentence in venv.fallbacks(makeable, venv.fitting(makeable, Locks(target))):
        say(sentence)
    make_all(venv.fit(name, target) for name in makeable)
    if refused:
        refused.append(f"Environments that couldn't be made: {', '.join(lacking)}. All others are ready.")
        raise UserError("\n".join(refused))


def build(*, target: str = "cpu", environment: Names = (), base: str | None = None) -> None:
    """Builds the images of environments. An image that is built already is kept, unless `--base` is given.

    :param target: hardware class: cpu, cuda or tpu
    :param environment: only this environment (default: all of the target)
    :param base: a base image of your own; it must have the locks' Python and apt
    """
    check_known("target", target, TARGETS)
    client = built_images.connect()
    for name in environment or without_requested(names(target)):
        lock = newest(name, target)
        if base is None and built_images.find(client, lock) is not None:
            say(f"{built_images.tag(lock)} is already built")
        else:
            built_images.build(client, lock, base)


def images(*, prune: bool = False, json: Json = False) -> None:
    """Lists the images that are built; with --prune, removes and lists those that aren't of a newest lock.

    :param prune: remove images that aren't of an environment's newest lock
    """
    client = built_images.connect()
    listed = built_images.prune(client) if prune else list(built_images.built(client))
    if json:
        objects = [asdict(image) | {"created": image.created.isoformat()} for image in listed]
        print_json({"removed": prune, "images": objects})
        return
    now = datetime.datetime.now(datetime.UTC)
    columns: Columns[built_images.Image] = {
        "image": lambda image: image.tag,
        "size": lambda image: f"{image.size_bytes / 1e6:.0f} MB",
        "lock": lambda image: image.lock_sha256[:12],
        "age": lambda image: units.age((now - image.created).total_seconds()),
        "current": lambda image: "yes" if image.current else "no: its lock has changed",
    }
    print_columns("Removed images" if prune else "Images", columns, listed)
