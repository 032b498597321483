#!/usr/bin/env bash
# Measures question files of the repository in this folder on the revision COMMIT and as they are now, and writes
# comparison.md, a page for each file and the result sets into $OUT. action.yml runs it; so can a person, from any checkout:
#
#   path/to/stack-wars/docs/ci/compare.sh COMMIT FILE... [options of ./stackwars ask]
#
# OUT: the folder (default: ci-results). THRESHOLD: a ratio of times (default: 1.05). PYTHON: a Python 3.11, 3.12 or 3.13
# (default: python3.11). Exit codes: 0; 2 a mistake; 4 nothing was measured; 5 a file is slower by more than the
# threshold, gives another result, or no longer runs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=${OUT:-ci-results} threshold=${THRESHOLD:-1.05} python=${PYTHON:-python3.11}
usage() { sed -n '5s/^# *//p' "$0" >&2; exit 2; }

(($# >= 2)) || usage
before=$1 files=()
[[ $before ]] || { echo "COMMIT is empty: outside a pull request the action needs an input \`before\`." >&2; exit 2; }
shift
while (($#)) && [[ $1 != -* ]]; do files+=("$1") && shift; done
((${#files[@]})) || usage

(cd "$root" && "$python" -Es -m suite.environments orchestrator) >&2
mkdir -p "$out"
printf '<!-- stackwars -->\n' > "$out/comparison.md" # by which the comment is found again
worst=0
for file in "${files[@]}"; do
    name=${file#./} code=0
    name=${name%.py} name=${name//\//-} # two folders may have a file of the same name
    "$root/.venv/bin/stackwars" ask "$file" --before="$before" --results="$out/$name" "$@" >&2 || code=$?
    ((code == 0 || code == 3)) || exit "$code" # 3: a case that failed is a result, which the comparison tells
    set=$out/$name/latest code=0
    printf '# %s, against %s\n\n' "$file" "$before" >> "$out/comparison.md"
    "$root/.venv/bin/stackwars" compare "$set" --by=variant --threshold="$threshold" --format=md >> "$out/comparison.md" ||
        code=$?
    ((code == 0 || code == 5)) || exit "$code"
    cp "$set/report.html" "$out/$name.html"
    ((code == 0)) || worst=$code
done
exit "$worst"
