"""Jobs for tests, and the judges of what is rendered."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from suite.environments import venv
from suite.extras.machines.accelerators import find
from suite.extras.machines.cloud import CloudJob

JUDGE = Path(__file__).with_name("judge_jobs.py")
REVISION = "0123456789abcdef0123456789abcdef01234567"


def job(target: str = "cpu", **facts: Any) -> CloudJob:
    """A job of two shards."""
    plain: dict[str, Any] = {
        "preset": "ops",
        "accelerator": find(None, target),
        "shards": 2,
        "run": f"stackwars run --target={target} --preset=ops",
        "archive": "s3://bucket/stack-wars",
        "repository": "https://example.org/stack-wars.git",
        "revision": REVISION,
        "image": "",
        "limit_seconds": 7200,
    }
    return CloudJob(**{**plain, **facts})


def judged(folder: Path) -> dict[str, Any]:
    """What the environment `skypilot` says of every job below a folder, by its path there."""
    home = folder.parent / "sky-home"  # SkyPilot writes into its user's home
    home.mkdir(exist_ok=True)
    alone = {**os.environ, "HOME": str(home), "SKYPILOT_DISABLE_USAGE_COLLECTION": "1"}
    done = subprocess.run(
        [venv.ensure("skypilot", "test").python, JUDGE, folder], env=alone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


# What the published schema leaves to the server: words, and what goes with what (Kubernetes' reference of Job).
def beyond_the_schema(manifest: dict[str, Any]) -> list[str]:
    """What an API server would refuse although the schema takes it."""
    spec, pod = manifest["spec"], manifest["spec"]["template"]["spec"]
    rules = spec.get("podFailurePolicy", {}).get("rules", [])
    wrong = {
        "completionMode": spec.get("completionMode") not in ("Indexed", "NonIndexed"),
        "backoffLimitPerIndex": "backoffLimitPerIndex" in spec and spec.get("completionMode") != "Indexed",
        "action": any(rule["action"] not in ("FailJob", "FailIndex", "Ignore", "Count") for rule in rules),
        "restartPolicy": bool(rules) and pod.get("restartPolicy") != "Never",
        "name": len(f"{manifest['metadata']['name']}-{spec['completions']}") > 63,
        "containerName": any(
            rule["onExitCodes"].get("containerName") not in [c["name"] for c in pod["containers"]]
            for rule in rules
            if "onExitCodes" in rule
        ),
        "topologyKey": "podAntiAffinity" not in pod["affinity"],
    }
    return [name for name, is_wrong in wrong.items() if is_wrong]
