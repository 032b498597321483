"""The docker engine: each worker runs in a container of its own.

The container's first process is the supervisor that the local engine uses too. So the same code handles deadlines,
memory kills, logs and stray processes in both engines; Docker adds its own evidence (OOMKilled). Paths are the same
inside and outside the container, so that tracebacks name real files.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from docker import DockerClient
from docker.errors import APIError, DockerException, NotFound
from docker.models.containers import Container as DockerContainer
from docker.types import DeviceRequest, LogConfig, Mount, Ulimit
from requests.exceptions import ConnectionError as Unreachable
from requests.exceptions import RequestException

from suite.guard import plain_files
from suite.launch.engine import COMMON, ROOT, Engine, ProcessRequest, supervisor_spec
from suite.launch.insist import insist
from suite.launch.process import EXIT_FILE, Exit
from suite.machine import processes

PYTHON = "/opt/environment/bin/python"
PATH = "/opt/environment/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SPEC_FILE = "supervisor.json"
USER_ID = 10001  # the images' user, as which workers run if the orchestrator is root
PIDS_MAX = 4096  # threads count: a framework on a large machine has hundreds
SCRATCH_BYTES = 4 * 2**30  # the largest tmpfs for caches and temporary files
GRACE_SECONDS = 60.0  # beyond the supervisor's deadline, before the container counts as hung
SIGNALS_FROM = 128  # exit codes above it are 128 + a signal's number
OWNER, SET, CASE = "stackwars.owner", "stackwars.set", "stackwars.case"


class Container(Engine):
    """Runs workers of one image."""

    def __init__(self, client: DockerClient, image_id: str, lock_sha256: str | None, target: str, set_id: str) -> None:
        self.client = client
        self.image_id = image_id
        self.target = target
        self.labels = {OWNER: owner(os.getpid()), SET: set_id}
        version = str(client.version()["Version"])
        image = {"image_digest": image_id, "lock_sha256": lock_sha256}
        self.columns = {"engine": "docker", "engine_version": version, **image}

    def warm_up(self, code: str) -> None:
        with suppress(DockerException, RequestException):
            self.client.containers.run(
                self.image_id, [PYTHON, "-c", code], remove=True, network_mode="none", labels=self.labels
            )

    def launch(self, request: ProcessRequest) -> Exit:
        plain_files.clear(request.folder / EXIT_FILE)
        user = user_of(self.client)
        command, environment = [PYTHON, *request.arguments], variables(request, self.target)
        inside = {"in_container": True, "parent_pid": 0}
        spec = supervisor_spec(command, environment, request.folder, request.limits, company=request.company, **inside)
        plain_files.write(request.folder / SPEC_FILE, json.dumps(spec))
        container = None
        try:
            give(request.folder, user)
            container = self.client.containers.create(self.image_id, **self.options(request, user))
            container.start()
            with suppress(RequestException):  # a timeout: `account` reads the container's state below
                # The worker also waits while the others of its company take their turns, each for up to its own limit.
                container.wait(timeout=request.company * request.limits.timeout_seconds + GRACE_SECONDS)
            container.reload()
            return account(container, request)
        except (DockerException, RequestException) as failed:
            return Exit.lost(complaint(failed), request.limits)
        finally:
            # Also at Ctrl-C: no container outlives its case.
            insist(partial(remove, container), partial(give, request.folder, None))

    def options(self, request: ProcessRequest, user: str) -> dict[str, Any]:
        """Returns Docker's options: what the container may see, use and do; everything else is denied."""
        limit = request.limits.memory_bytes
        scratch = str(request.cache_directory)
        suite = ROOT / "suite"
        reads = [suite, *(path for path in request.reads if not path.is_relative_to(suite))]
        mounts = [Mount(str(path), str(path), type="bind", read_only=True) for path in reads]
        mounts.append(Mount(str(request.folder), str(request.folder), type="bind"))
        tmpfs = {"/tmp": "rw,exec,nosuid,nodev,mode=1777"}
        if request.keep_cache:
            give(request.cache_directory, user)
            mounts.append(Mount(scratch, scratch, type="bind"))
        else:
            tmpfs[scratch] = f"rw,exec,nosuid,nodev,mode=1777,size={SCRATCH_BYTES}"
        return {
            "entrypoint": [PYTHON, "-S", "-m", "suite.launch.supervisor.supervise"],
            "command": [str(request.folder / SPEC_FILE)],
            "environment": COMMON | {"PATH": PATH},
            "working_dir": str(request.folder),
            "user": user,
            "labels": self.labels | {CASE: request.name},
            "mounts": mounts,
            "tmpfs": tmpfs,
            "read_only": True,
            "network_mode": "none",
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "pids_limit": PIDS_MAX,
            "cpuset_cpus": ",".join(map(str, request.cpus)),
            "mem_limit": limit,
            "memswap_limit": limit,  # memory and swap together: no swap
            "log_config": LogConfig(type="json-file", config={"max-size": "1m"}),  # the supervisor's own words
            **devices(self.target),
        }


def variables(request: ProcessRequest, target: str) -> dict[str, str]:
    scratch = str(request.cache_directory)
    values = COMMON | {"PATH": PATH, "HOME": scratch, "TMPDIR": scratch, "USER": "stackwars", "LOGNAME": "stackwars"}
    values |= request.variables
    if target == "tpu":
        # Without a network there is no metadata server to ask; the machine's own settings say the rest.
        values |= {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost", "TPU_WORKER_ID": "0"}
        values |= {name: value for name, value in os.environ.items() if name.startswith("TPU_")}
    return values


def devices(target: str, files: Path = Path("/dev")) -> dict[str, Any]:
    """Returns Docker's options for reaching the accelerator, and no more (docs/how-to/containers.md says why)."""
    if target == "cuda":
        named = os.environ.get("CUDA_VISIBLE_DEVICES")
        which: dict[str, Any] = {"device_ids": named.split(",")} if named else {"count": 1}
        return {"device_requests": [DeviceRequest(driver="nvidia", capabilities=[["gpu"]], **which)]}
    if target == "tpu":
        paths = sorted([*files.glob("accel*"), *files.glob("vfio/*")])
        return {
            "devices": [f"{path}:{path}:rw" for path in paths],
            "group_add": sorted({str(path.stat().st_gid) for path in paths}),
            "ulimits": [Ulimit(name="memlock", soft=-1, hard=-1)],  # VFIO pins what the device reads
            "sysctls": {"net.ipv6.conf.all.disable_ipv6": "0"},  # libtpu talks to itself over [::]
        }
    return {}


def account(container: DockerContainer, request: ProcessRequest) -> Exit:
    """Returns how the worker ended: the supervisor's account, with Docker's evidence added. If the supervisor left no
    account, there is only Docker's evidence."""
    state = container.attrs["State"]
    if state["Running"]:
        return Exit.lost("the container outlived its supervisor's deadline and was killed", request.limits)
    killed = bool(state["OOMKilled"])
    try:
        end = Exit.of(request.folder, request.limits)
        return replace(end, memory_killed=end.memory_killed or killed)
    except (OSError, ValueError, TypeError):
        if not killed:
            words = container.logs(tail=5).decode("utf-8", "replace").strip() or state["Error"] or "it logged nothing"
            problem = f"the container exited {state['ExitCode']} and its supervisor left no {EXIT_FILE}: {words}"
            return Exit.lost(problem, request.limits)
    number = state["ExitCode"] - SIGNALS_FROM
    return Exit(
        signal=number if number > 0 else None,
        memory_killed=True,
        memory_limit_by="engine",
        oom_kills=1,
        limits=request.limits,
    )


def user_of(client: DockerClient) -> str:
    """Returns `uid:gid` of the user as whom workers run: the orchestrator's user, who owns the output, but never
    root."""
    if any("rootless" in option for option in client.info().get("SecurityOptions") or ()):
        return "0:0"  # root inside such a container is the engine's unprivileged owner outside
    return f"{os.getuid()}:{os.getgid()}" if os.getuid() else f"{USER_ID}:{USER_ID}"


def give(folder: Path, user: str | None) -> None:
    """Makes `user` the owner of a folder, if this process is root; None makes root the owner again."""
    if os.getuid() == 0:
        owner_id, _, group_id = (user or "0:0").partition(":")
        for path in (folder, *folder.rglob("*")):
            os.chown(path, int(owner_id), int(group_id), follow_symlinks=False)


def complaint(failed: Exception) -> str:
    if isinstance(failed, APIError):
        return f"Docker refused: {failed.explanation}"
    if isinstance(failed, Unreachable):
        return "Docker's daemon went away while the case ran"
    return f"Docker failed: {failed}"


def remove(container: DockerContainer | None) -> None:
    with suppress(DockerException, RequestException):
        if container is not None:
            container.remove(force=True, v=True)


def sweep(client: DockerClient) -> list[str]:
    """Removes containers whose orchestrator is gone. Returns the names of the cases that they ran."""
    swept = []
    for container in client.containers.list(all=True, filters={"label": OWNER}):
        if not alive(container.labels[OWNER]):
            with suppress(NotFound):  # somebody else has removed it meanwhile
                container.remove(force=True, v=True)
            swept.append(str(container.labels.get(CASE, container.name)))
    return swept


def owner(pid: int) -> str:
    """Returns a text that no other process shares: process id, start time and boot id."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{pid} {processes.stat(pid)[19]} {boot}"


def alive(label: str) -> bool:
    try:
        return owner(int(label.split(maxsplit=1)[0])) == label
    except (OSError, ValueError, IndexError):
        return False
