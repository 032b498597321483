"""A real Docker engine for the tests that need one, with the images that they run."""

from __future__ import annotations

import subprocess
import sys

import pytest
from docker import DockerClient

from suite.environments import images, locks
from suite.errors import UserError


def engine_or_skip() -> DockerClient:
    """The engine that answers; without one the test is skipped, which in CI is a failure."""
    try:
        return images.connect()
    except UserError as missing:
        pytest.skip(str(missing))


def images_or_skip(*environments: str) -> DockerClient:
    """The engine with these images for `cpu`, built if they aren't there, on a base made here if need be."""
    client = engine_or_skip()
    missing = [name for name in environments if images.find(client, locks.newest(name, "cpu")) is None]
    for python in sorted({locks.newest(name, "cpu").python for name in missing}):
        if client.images.list(images.own_base(python)):
            continue
        command = [sys.executable, "-m", "tools.base_image", f"--python={python}"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            pytest.skip(f"no base image: {made.stderr.strip()}")
    for name in missing:
        images.build(client, locks.newest(name, "cpu"))
    return client
