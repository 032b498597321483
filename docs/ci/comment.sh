#!/usr/bin/env bash
# Makes or changes the one comment of Stack Wars on a change, by the forge's command line gh. No code of the change runs.
#
#   comment.sh REPOSITORY NUMBER FILE
set -euo pipefail
(($# == 3)) || { sed -n '4s/^# *//p' "$0" >&2; exit 2; }
mark='<!-- stackwars -->' body=$(mktemp)
trap 'rm -f "$body"' EXIT
{ printf '%s\n' "$mark" && head -c 60000 <(grep -vF "$mark" "$3"); } > "$body" # a comment has 65,536 characters at most
mine=".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$mark\"))) | .id"
id=$(gh api --paginate "repos/$1/issues/$2/comments" --jq "$mine" | head -n 1)
if [[ -n $id ]]; then
    gh api --method PATCH "repos/$1/issues/comments/$id" --field "body=@$body" > /dev/null
else
    gh api --method POST "repos/$1/issues/$2/comments" --field "body=@$body" > /dev/null
fi
