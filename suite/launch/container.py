"""The docker engine: a container per worker, in which the same supervisor is the first process.

So deadlines, memory kills, logs and the end of stray processes are told by the same code as
locally, and the engine's own evidence (OOMKilled) comes on top. Paths are the same inside and
outside, which keeps tracebacks true.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from docker import DockerClient
from docker.errors import APIError, DockerException, NotFound
from docker.models.containers import Container as DockerContainer
from docker.types import DeviceRequest, LogConfig, Mount, Ulimit
from requests.exceptions import ConnectionError as Unreachable
from requests.exceptions import RequestException

from suite.guard import plain_files
from suite.launch.engine import COMMON, ROOT, Engine, Job, supervisor_spec
from suite.launch.process import EXIT_BYTES_MAX, EXIT_FILE, Exit

PYTHON = "/opt/environment/bin/python"
PATH = "/opt/environment/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SPEC_FILE = "supervisor.json"
USER_ID = 10001  # the images' own user, for an orchestrator that is root
PIDS_MAX = 4096  # threads count: a framework on a large machine has hundreds
SCRATCH_BYTES = 4 * 2**30  # at most, of the tmpfs for caches and temporary files
GRACE_SECONDS = 60.0  # for the engine, beyond the supervisor's own deadline
SIGNALS_FROM = 128  # a shell's and the engine's way to tell a signal by an exit code
OWNER, SET, CASE = "stackwars.owner", "stackwars.set", "stackwars.case"


class Container(Engine):
    """Workers of one image."""

    def __init__(self, client: DockerClient, image_id: str, lock_sha256: str | None, target: str, set_id: str) -> None:
        self.client = client
        self.image_id = image_id
        self.target = target
        self.labels = {OWNER: owner(os.getpid()), SET: set_id}
        version = str(client.version()["Version"])
        self.columns = {
            "engine": "docker",
            "engine_version": version,
            "image_digest": image_id,
            "lock_sha256": lock_sha256,
        }

    def warm_up(self, code: str) -> None:
        """If it fails, so will the measured container, and that failure gets a row."""
        with suppress(DockerException, RequestException):
            self.client.containers.run(
                self.image_id, [PYTHON, "-c", code], remove=True, network_mode="none", labels=self.labels
            )

    def launch(self, job: Job) -> Exit:
        """Run one worker in a container of its own; the wait is blocking and costs nothing."""
        plain_files.clear(job.folder / EXIT_FILE)
        user = user_of(self.client)
        spec = supervisor_spec(
            [PYTHON, *job.arguments],
            variables(job, self.target),
            job.folder,
            job.limits,
            in_container=True,
            parent_pid=0,
        )
        plain_files.write(job.folder / SPEC_FILE, json.dumps(spec))
        container = None
        try:
            give(job.folder, user)
            container = self.client.containers.create(self.image_id, **self.options(job, user))
            container.start()
            with suppress(RequestException):  # a timeout: what the state says then is judged below
                container.wait(timeout=job.limits.timeout_seconds + GRACE_SECONDS)
            container.reload()
            return account(container, job)
        except (DockerException, RequestException) as failed:
            return Exit.lost(complaint(failed), job.limits)
        finally:
            # Also at Ctrl-C: nothing of a case outlives it.
            if container is not None:
                remove(container)
            give(job.folder, None)

    def options(self, job: Job, user: str) -> dict[str, Any]:
        """The container: what it may see, use and do; everything else is closed."""
        limit = job.limits.memory_bytes
        scratch = str(job.cache_directory)
        suite = ROOT / "suite"
        reads = [suite, *(path for path in job.reads if not path.is_relative_to(suite))]
        mounts = [Mount(str(path), str(path), type="bind", read_only=True) for path in reads]
        mounts.append(Mount(str(job.folder), str(job.folder), type="bind"))
        tmpfs = {"/tmp": "rw,exec,nosuid,nodev,mode=1777"}
        if job.keep_cache:
            give(job.cache_directory, user)
            mounts.append(Mount(scratch, scratch, type="bind"))
        else:
            tmpfs[scratch] = f"rw,exec,nosuid,nodev,mode=1777,size={SCRATCH_BYTES}"
        return {
            "entrypoint": [PYTHON, "-S", "-m", "suite.launch.supervise"],
            "command": [str(job.folder / SPEC_FILE)],
            "environment": COMMON | {"PATH": PATH},
            "working_dir": str(job.folder),
            "user": user,
            "labels": self.labels | {CASE: job.name},
            "mounts": mounts,
            "tmpfs": tmpfs,
            "read_only": True,
            "network_mode": "none",
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "pids_limit": PIDS_MAX,
            "cpuset_cpus": ",".join(map(str, job.cpus)),
            "mem_limit": limit,
            "memswap_limit": limit,  # memory and swap together: no swap
            "log_config": LogConfig(type="json-file", config={"max-size": "1m"}),  # the supervisor's own words
            **devices(self.target),
        }


def variables(job: Job, target: str) -> dict[str, str]:
    """The worker's environment: the image's paths, and a home that vanishes."""
    scratch = str(job.cache_directory)
    own = COMMON | {"PATH": PATH, "HOME": scratch, "TMPDIR": scratch, "USER": "stackwars", "LOGNAME": "stackwars"}
    own |= job.variables
    if target == "tpu":
        # Without a network there is no metadata server to ask; the machine's own settings say the rest.
        own |= {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost", "TPU_WORKER_ID": "0"}
        own |= {name: value for name, value in os.environ.items() if name.startswith("TPU_")}
    return own


def devices(target: str, files: Path = Path("/dev")) -> dict[str, Any]:
    """What a container needs to reach the accelerator, and no more (docs/images.md says why)."""
    if target == "cuda":
        named = os.environ.get("CUDA_VISIBLE_DEVICES")
        which: dict[str, Any] = {"device_ids": named.split(",")} if named else {"count": 1}
        return {"device_requests": [DeviceRequest(driver="nvidia", capabilities=[["gpu"]], **which)]}
    if target == "tpu":
        found = sorted([*files.glob("accel*"), *files.glob("vfio/*")])
        return {
            "devices": [f"{path}:{path}:rw" for path in found],
            "group_add": sorted({str(path.stat().st_gid) for path in found}),
            "ulimits": [Ulimit(name="memlock", soft=-1, hard=-1)],  # VFIO pins what the device reads
            "sysctls": {"net.ipv6.conf.all.disable_ipv6": "0"},  # libtpu talks to itself over [::]
        }
    return {}


def account(container: DockerContainer, job: Job) -> Exit:
    """How it ended: the supervisor's account, with the engine's evidence; or what the engine alone knows."""
    state = container.attrs["State"]
    if state["Running"]:
        return Exit.lost("the container outlived its supervisor's deadline and was killed", job.limits)
    killed = bool(state["OOMKilled"])
    try:
        told = json.loads(plain_files.read(job.folder / EXIT_FILE, EXIT_BYTES_MAX))
        return Exit.from_json(told | {"memory_killed": told["memory_killed"] or killed}, job.limits)
    except (OSError, ValueError, TypeError):
        if not killed:
            words = container.logs(tail=5).decode("utf-8", "replace").strip() or state["Error"] or "no word"
            problem = f"the container ended with code {state['ExitCode']}, without an account: {words}"
            return Exit.lost(problem, job.limits)
    number = state["ExitCode"] - SIGNALS_FROM
    return Exit.out_of_memory(number if number > 0 else None, job.limits)


def user_of(client: DockerClient) -> str:
    """Whose processes: the orchestrator's own user, who owns the output; never the machine's root."""
    if any("rootless" in option for option in client.info().get("SecurityOptions") or ()):
        return "0:0"  # which is the engine's unprivileged owner outside
    return f"{os.getuid()}:{os.getgid()}" if os.getuid() else f"{USER_ID}:{USER_ID}"


def give(folder: Path, user: str | None) -> None:
    """Let the container's user write here, if we are root; None takes it back."""
    if os.getuid() == 0:
        owner_id, _, group_id = (user or "0:0").partition(":")
        for path in (folder, *folder.rglob("*")):
            os.chown(path, int(owner_id), int(group_id), follow_symlinks=False)


def complaint(failed: Exception) -> str:
    """What the engine, or its absence, says."""
    if isinstance(failed, APIError):
        return f"Docker refused: {failed.explanation}"
    if isinstance(failed, Unreachable):
        return "Docker's daemon went away while the case ran"
    return f"Docker failed: {failed}"


def remove(container: DockerContainer) -> None:
    """Kill and remove; one that can't be reached any more is left to the next start's sweep."""
    while True:
        try:
            with suppress(DockerException, RequestException):
                container.remove(force=True, v=True)
        except KeyboardInterrupt:
            continue
        return


def sweep(client: DockerClient) -> list[str]:
    """Remove containers whose orchestrator is gone; the cases that they ran."""
    swept = []
    for container in client.containers.list(all=True, filters={"label": OWNER}):
        if not alive(container.labels[OWNER]):
            with suppress(NotFound):  # it was being removed already
                container.remove(force=True, v=True)
            swept.append(str(container.labels.get(CASE, container.name)))
    return swept


def owner(pid: int) -> str:
    """A process as no later one can be mistaken for it: its id, when it started, and since which boot."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{pid} {stat.rpartition(')')[2].split()[19]} {boot}"


def alive(label: str) -> bool:
    """Whether the process of an owner's label still runs."""
    try:
        return owner(int(label.split(maxsplit=1)[0])) == label
    except (OSError, ValueError, IndexError):
        return False
