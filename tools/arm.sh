#!/usr/bin/env bash
# Tries the project on ARM without an ARM machine: Debian 12 for arm64 in a folder, whose programs qemu-user emulates.
#   sudo tools/arm.sh FOLDER     (Debian's packages: qemu-user-static binfmt-support debootstrap; a Python 3.11; 12 GB)
# It makes the orchestrator there, then runs `doctor`, `list`, and numpy, jax_jit and torch_eager on a tiny product.
# Nothing that it prints is a speed. What the emulator hasn't got is given to it: a core's numbers in /proc/cpuinfo,
# where it shows the host's processor, and in /sys, without which PyTorch's oneDNN ends the process (PyTorch 2.13).
set -euo pipefail
root=$(realpath -m "${1:?a folder for the system}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$here"
uv=.venv/bin/uv home=$root/home/stranger
clean() { while read -r _ point _; do [[ $point != "$root"/* ]] || umount --lazy "$point"; done < <(tac /proc/mounts); }
trap clean EXIT

mountpoint -q /proc/sys/fs/binfmt_misc || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
update-binfmts --enable qemu-aarch64
mirror=$(.venv/bin/python -c 'from tools.base_image import host_mirror; print(host_mirror())')
packages=ca-certificates,python3.11-venv,python3-distutils,libpython3.11,python3-dev,g++,make,git
debootstrap --variant=minbase --arch=arm64 --foreign --include="$packages" bookworm "$root" "$mirror"
# Unpacked by this machine: that takes a minute, where installing them by emulated programs takes half an hour.
for package in "$root"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
cp /etc/resolv.conf /etc/hosts "$root/etc/"

mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
for core in 0 1; do
    printf 'processor\t: %s\nFeatures\t: fp asimd atomics fphp asimdhp asimdrdm asimddp\nCPU implementer\t: 0x41\n' "$core"
    printf 'CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n'
    numbers=$root/sys/devices/system/cpu/cpu$core/regs/identification
    mkdir -p "$numbers"
    echo 0x00000000413fd0c1 >"$numbers/midr_el1"
done >"$root/cpuinfo"
echo 0-1 | tee "$root"/sys/devices/system/cpu/{online,possible,present} >/dev/null
mount --bind "$root/cpuinfo" "$root/proc/cpuinfo"

# qemu-user knows no PR_SET_CHILD_SUBREAPER (36), without which the supervisor of a case ends: it is told that it has it.
cat >"$root/shim.c" <<'C'
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
int prctl(int option, ...) {
    va_list given;
    unsigned long word[4];
    va_start(given, option);
    for (int i = 0; i < 4; i++) word[i] = va_arg(given, unsigned long);
    va_end(given);
    return option == 36 ? 0 : syscall(SYS_prctl, option, word[0], word[1], word[2], word[3]);
}
C
chroot "$root" gcc -shared -fPIC -o /usr/lib/shim.so /shim.c
echo /usr/lib/shim.so >"$root/etc/ld.so.preload"

git clone -q . "$home/stack-wars"
environment() { # $1: the lock, $2: its environment. Made by this machine's uv, for the reason above
    local sha folder
    sha=$(sha256sum "docker/locks/cpu/$1" | cut -d' ' -f1)
    folder=$home/stack-wars/.environments/cpu/$2-${sha:0:12}
    mkdir -p "$folder/bin"
    ln -s /usr/bin/python3.11 "$folder/bin/python"
    printf 'home = /usr/bin\nversion = 3.11.2\n' >"$folder/pyvenv.cfg"
    "$uv" pip install -q --no-deps --require-hashes --only-binary :all: --python-platform aarch64-manylinux_2_28 \
        --python-version 3.11 --target "$folder/lib/python3.11/site-packages" -r "docker/locks/cpu/$1"
    python3.11 -m compileall -q "$folder/lib/python3.11/site-packages" >/dev/null || true # some packages have templates
    echo "$sha" >"$folder/.lock-sha256"
}
environment numpy.txt numpy
environment jax-py3.11.txt jax
environment aarch64/torch-py3.11.txt torch

inside() { # $1: a command in the clone, with the time that it takes
    echo "== $1"
    time chroot "$root" env -i HOME=/home/stranger LANG=C.UTF-8 PATH=/usr/bin:/bin:/usr/sbin:/sbin \
        SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt /bin/bash -c "cd ~/stack-wars && $1"
}
inside "git config --global safe.directory '*' && python3 -m suite.environments orchestrator"
inside ".venv/bin/python -m suite.cli doctor" || true # it names what is missing: the other environments
inside ".venv/bin/python -m suite.cli list"
inside ".venv/bin/python -m suite.cli run --preset=tiny --workload=gemm --pass=forward --stack=numpy --stack=jax_jit \
    --stack=torch_eager --engine=local --timeout=10min"
ls "$home"/stack-wars/results/*/report.html
