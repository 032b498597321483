"""Regenerates hashed locks: what `invoke lock` does and nothing else needs."""

from __future__ import annotations

import re
from pathlib import Path

from suite import environments
from suite.errors import UserError, unknown

# The oldest system that every wheel of a target runs on: libtpu's need a newer one.
PLATFORMS = {"cpu": "x86_64-manylinux_2_28", "cuda": "x86_64-manylinux_2_28", "tpu": "x86_64-manylinux_2_31",
             "test": "x86_64-manylinux_2_28"}  # fmt: skip


def compile_lock(name: str, target: str = "cpu") -> Path:
    """Regenerate a lock from its .in file: hashes, no address, no header. Keeps the old one on failure."""
    lock = environments.lock_path(name, target)
    source = lock.with_suffix(".in")
    if not source.is_file():
        raise unknown(f"list of requirements for target {target} of environment", name,
                      [*environments.names(target), environments.ORCHESTRATOR])  # fmt: skip
    python = ".".join(map(str, environments.PYTHON_VERSION))
    # The orchestrator has one lock for all targets.
    platform = PLATFORMS["cpu" if name == environments.ORCHESTRATOR else target]
    # Says which requirement of a requirement isn't wanted, and why.
    override = lock.with_suffix(".override")
    overridden = ["--override", str(override)] if override.is_file() else []
    # To standard output, so that neither the old lock nor a shell's settings have a say in the new one.
    command = [environments.find_uv(lock), "pip", "compile", "--quiet", "--upgrade", "--generate-hashes", "--no-header",
               "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--python-platform", platform,
               "--python-version", python, *environments.wheel_source(name, target),
               *overridden, str(source)]  # fmt: skip
    text = environments.run(command, f"{source} could not be resolved; {lock.name} is as it was.")
    if re.search(r"://|^\s*-(?!-hash=)", text, re.MULTILINE):
        raise UserError(f"The new {lock} names an address or an index: it must not, so {lock.name} is as it was.")
    lock.write_text(text, encoding="utf-8")
    return lock
