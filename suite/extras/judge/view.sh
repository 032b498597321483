# Makes the file system that judged code sees, and starts a command in it. It runs in new namespaces.
# $1: an empty folder; then what can be read, by the same names; after `--`, the command.
set -eu
root=$1
shift
mount --make-rprivate /
mount -t tmpfs -o mode=755,size=16m view "$root"
mkdir -p "$root/proc" "$root/tmp" "$root/dev/shm"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t tmpfs -o mode=1777,size=1g,nosuid,nodev tmp "$root/tmp"
mount -t tmpfs -o mode=1777,size=1g,nosuid,nodev shm "$root/dev/shm"
while [ "$1" != -- ]; do
    if [ -d "$1" ]; then
        mkdir -p "$root$1"
    elif [ ! -e "$root$1" ]; then
        mkdir -p "$root$(dirname "$1")"
        : > "$root$1"
    fi
    case $1 in
        /dev/*) mount --bind "$1" "$root$1" ;;
        *) mount --bind -o ro,nosuid,nodev "$1" "$root$1" ;;
    esac
    shift
done
shift
mount -o remount,bind,ro "$root"
cd "$root"
exec chroot . "$@"
