#!/bin/sh
# The steps that the three Dockerfiles share: make an environment from its lock, and add the programs that it needs.
# $PYTHON is the command of the lock's Python.
set -eu

make_environment() { # $@: uv's options that say where wheels come from
    # The uv that the orchestrator's lock pins. It stays in this stage, as do the caches.
    awk '/^[^ ]/ { wanted = /^uv==/ } wanted' /build/orchestrator.txt >/build/uv.txt
    "$PYTHON" -m venv /build/tools
    /build/tools/bin/pip install --quiet --no-cache-dir --no-deps --require-hashes -r /build/uv.txt
    /build/tools/bin/uv venv --no-project --python "$(command -v "$PYTHON")" /opt/environment
    /build/tools/bin/uv pip sync --no-cache --python /opt/environment/bin/python \
        --require-hashes --compile-bytecode --only-binary :all: "$@" /build/lock.txt
}

add_programs() { # $1: the environment
    useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin stackwars
    case $1 in
    torch | torch@*) # PyTorch's Inductor compiles C++, and Triton a launcher in C, when a step first runs
        headers=$PYTHON-dev
        test -f "$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" && headers=
        apt-get update -q
        # shellcheck disable=SC2086  # $headers is no argument at all if the headers exist
        DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends g++ $headers
        rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log
        ;;
    esac
}

"$@"
