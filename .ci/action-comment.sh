#!/bin/bash
# Replaces the newest comment that begins with our marker, or posts one. A pull request from a fork
# has no right to; it keeps the step summary.
set -uo pipefail
body="$RUNNER_TEMP/dynamometer-comment"
[ -s "$body" ] || { echo "there is nothing to post"; exit 0; }
comments="repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments"
marker="<!-- dynamometer:diff:$TAG -->"
id=$(gh api --paginate "$comments" --jq ".[] | select(.body | startswith(\"$marker\")) | .id" | tail -1) || id=
if [ -n "$id" ]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" -F "body=@$body"
else
  gh api --silent --method POST "$comments" -F "body=@$body"
fi || echo "::notice::the comment could not be posted; the step summary has it"
