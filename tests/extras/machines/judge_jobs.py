"""Runs in the environment `skypilot`: what SkyPilot's own reader and Kubernetes' published schema say of each job in a
folder, as JSON. `python judge_jobs.py FOLDER`."""

import json
import sys
from pathlib import Path

import kubernetes_validate
import sky
import yaml

KUBERNETES = "1.33"  # the first whose backoffLimitPerIndex is no beta


def of_skypilot(path: Path) -> dict:
    try:
        task = sky.Task.from_yaml(str(path))
    except Exception as refused:  # noqa: BLE001  # whatever it raises is its refusal
        return {"refused": f"{type(refused).__name__}: {refused}"}
    resources = next(iter(task.resources))
    stop = resources.autostop_config
    return {
        "refused": None,
        "name": task.name,
        "nodes": task.num_nodes,
        "envs": dict(task.envs),
        "setup": task.setup,
        "run": task.run,
        "accelerators": resources.accelerators,
        "arguments": resources.accelerator_args,
        "cpus": resources.cpus,
        "image": resources.image_id,
        "spot": resources.use_spot,
        "down": bool(stop and stop.enabled and stop.down),
        "recovery": resources.job_recovery,
    }


def of_kubernetes(path: Path) -> dict:
    manifest = yaml.safe_load(path.read_text(encoding="utf-8"))
    try:
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    except kubernetes_validate.ValidationError as refused:
        return {"refused": refused.message, "manifest": manifest}
    return {"refused": None, "manifest": manifest}


def of(path: Path) -> dict:
    return of_kubernetes(path) if path.name.startswith("kubernetes") else of_skypilot(path)


folder = Path(sys.argv[1])
print(json.dumps({str(path.relative_to(folder)): of(path) for path in sorted(folder.rglob("*.yaml"))}))
