"""Locks for accelerators, on a machine without one: each is installed, imported, and compiles a program."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from suite.environments import locks, venv
from suite.environments.venv import Environment
from suite.errors import UserError

ROOT = Path(__file__).parents[2]
SECONDS = 600
LARGEST = 10e9  # bytes of an environment that CI makes
# These need few wheels beyond those that the tests need anyway: libtpu, and JAX's CUDA plugin with CUDA's libraries.
KEPT = [("jax", "tpu"), ("torchax", "tpu"), ("torch_xla", "tpu"), ("torch_tpu", "tpu"), ("jax", "cuda")]
# These need other wheels, often several GB: removed after their test.
PASSING = [("tensorflow", "tpu"), ("torch", "cuda"), ("torchax", "cuda"), ("tensorflow", "cuda")]
VERSIONS = {
    ("jax", "tpu"): ["jax", "optax"],
    ("jax", "cuda"): ["jax", "optax"],
    ("torchax", "tpu"): ["jax", "optax", "torch", "torchax"],
    ("torchax", "cuda"): ["jax", "optax", "torch", "torchax"],
    ("torch_xla", "tpu"): ["torch", "torch_xla"],
    ("torch_tpu", "tpu"): ["torch", "torch_tpu"],
    ("torch", "cuda"): ["torch"],
    ("tensorflow", "tpu"): ["tensorflow"],
    ("tensorflow", "cuda"): ["tensorflow"],
}
COMPILED = {
    "jax": {"argument_bytes": 256 * 256 * 4},
    "torchax": {"argument_bytes": 256 * 256 * 4},
    "torch_tpu": {"placeholder": "tpu:0"},
    "torch": {"cuda": "13.2", "cudnn": 92600, "h100": True},
}


def test_every_lock_for_an_accelerator_is_listed() -> None:
    known = {(name, target) for target in ("cuda", "tpu") for name in locks.names(target)}
    assert known == {*KEPT, *PASSING} == VERSIONS.keys()


@pytest.fixture
def environment(name: str, target: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Environment]:
    """A locked environment. One of `PASSING` is removed after its test, with its wheels, unless it was there before:
    so the disk never holds two of them."""
    with ExitStack() as stack:
        passing = (name, target) in PASSING and venv.status(locks.newest(name, target)) != "ready"
        if passing:
            # On the file system of the environments, so that uv links the files of the wheels instead of copying them.
            cache = tempfile.TemporaryDirectory(prefix="uv-cache-", dir=ROOT / ".environments")
            monkeypatch.setenv("UV_CACHE_DIR", stack.enter_context(cache))
        try:
            environment = venv.ensure(name, target)
        except UserError as refused:
            pytest.skip(f"environment {name} of {target} isn't made: {str(refused).splitlines()[0]}")
        folder = environment.python.parents[1]
        if passing:
            stack.callback(venv.remove, folder)
        assert venv.size(folder) <= LARGEST
        yield environment


@pytest.mark.environments()  # begins early: it mostly waits for wheels
@pytest.mark.parametrize(("name", "target"), KEPT + PASSING)
def test_a_locked_environment_is_imported_and_compiles_for_its_accelerator(
    environment: Environment, name: str, target: str
) -> None:
    done = subprocess.run(
        [str(environment.python), "-B", "-m", "tests.environments.ahead_of_time", name, target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    pins = environment.lock.pins
    for package in VERSIONS[name, target]:
        pin = pins.get(package) or pins.get(package.replace("_", "-")) or pins[f"{package}-{target}"]
        assert answer[package].partition("+")[0] == pin, package
    assert answer.items() >= COMPILED.get(name, {}).items()
    assert answer.get("code_bytes", 1) > 0
    assert answer.get("device") in (None, "TPU v6 lite", "NVIDIA H100 80GB HBM3")
    assert answer.get("program", True) and answer.get("built_with_cuda", True)
