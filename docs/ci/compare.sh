#!/usr/bin/env bash
# What benchmark.yml runs, and what a person can: measure this checkout, hold it against another revision or against an
# archived set, and write comparison.md and compare.html into $OUT. Exit codes are those of `./stackwars compare`: 5 for a
# regression.
#
#   docs/ci/compare.sh revision COMMIT [options of ./stackwars run]    both are measured here, one after the other
#   docs/ci/compare.sh stored NAME ARCHIVE [options of ./stackwars run]    only this checkout is; needs the machine of NAME
#
# OUT: where results and both files go (default: ci-results). THRESHOLD: a ratio of times (default: 1.05). PYTHON: a
# Python 3.11, 3.12 or 3.13 (default: python3.11).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$(mkdir -p "${OUT:-ci-results}" && cd "${OUT:-ci-results}" && pwd)
threshold=${THRESHOLD:-1.05} python=${PYTHON:-python3.11}
usage() { sed -n '5,7s/^# *//p' "$0" >&2; exit 2; }

measure() { # FOLDER NAME OPTIONS...: the checkout in FOLDER, with its own environments, as the set $out/NAME/latest
    local folder=$1 name=$2
    shift 2
    (cd "$folder" && "$python" -Es -m suite.environments orchestrator && .venv/bin/stackwars run --results="$out/$name" "$@") >&2 ||
        (($? == 3)) || exit "$?" # a case that failed is a result: the comparison says whether it did before
}

(($# >= 2)) || usage
kind=$1
case $kind in
revision)
    commit=$2
    shift 2
    git -C "$root" worktree add --quiet --detach "$out/checkout" "$commit"
    trap 'git -C "$root" worktree remove --force "$out/checkout"' EXIT
    measure "$out/checkout" before "$@"
    before=$out/before/latest
    ;;
stored)
    (($# >= 3)) || usage
    name=$2 archive=$3
    shift 3
    (cd "$root" && "$python" -Es -m suite.environments orchestrator) >&2
    "$root/.venv/bin/stackwars" fetch --set="$name" --from="$archive" --results="$out/before" >&2
    before=$out/before/$name
    ;;
*) usage ;;
esac
measure "$root" after "$@"

compare=("$root/.venv/bin/stackwars" compare "$before" "$out/after/latest" --threshold="$threshold")
code=0
"${compare[@]}" --format=md --out="$out/comparison.md" || code=$?
((code == 0 || code == 5)) || exit "$code" # sets that don't compare: said on standard error
"${compare[@]}" --format=html --out="$out/compare.html" || true
exit "$code"
